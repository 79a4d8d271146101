// An op of your own: a forward that computes its value, and a backward that passes the gradient on.
#include <pollen/autograd/gradcheck.hpp>
#include <pollen/autograd/ops.hpp>

#include <iostream>

using namespace pollen;

// y = x^3        dL/dx += dL/dy 3 x^2
template <Real T>
Var<T> cube(Var<T> x) {
    const auto forward = [](Forward<T>& node) {  // called now, and again by Tape::replay()
        const Tensor<T>& at = node.input(0);
        for (std::int64_t i = 0; i < at.size(); ++i) node.value()[i] = at.data()[i] * at.data()[i] * at.data()[i];
    };
    return record("cube", {x}, x.shape(), forward, [](Backward<T>& node) {
        const Tensor<T>& at = node.input(0);
        T* dx = node.accumulate(0);  // dL/dx so far: add to it
        for (std::int64_t i = 0; i < at.size(); ++i) dx[i] += node.grad()[i] * 3 * at.data()[i] * at.data()[i];
    });
}

int main() {
    Tape<double> tape;
    const auto x = tape.variable({1, -2});
    tape.backward(sum(cube(x)));
    std::cout << "the slopes of x^3 at 1 and -2 are " << x.grad() << "\n";

    // Compares the gradient with differences of the value.
    const GradcheckResult check = gradcheck([](auto inputs) { return cube(inputs[0]); }, {Tensor<double>{0.5, -3, 2}});
    std::cout << (check ? "gradcheck: ok" : check.message) << "\n";
    return check && x.grad() == Tensor<double>{3, 12} ? 0 : 1;
}
