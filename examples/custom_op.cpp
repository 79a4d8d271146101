// An op of your own, outside the library: a function for its value, and one that passes the gradient on.
//
//     ./run example custom_op
//
// Expected output: huber(x) = 0.125, 2.5, 0 with the slopes 0.5, -1, 0, and `gradcheck: ok`.
#include "common/example.hpp"
#include "common/table.hpp"

#include <pollen/autograd/gradcheck.hpp>
#include <pollen/autograd/ops.hpp>

#include <cmath>
#include <cstdio>

using namespace pollen;

// huber(x) = x^2 / 2 where |x| <= 1, else |x| - 1/2        dL/dx += dL/dy clamp(x, -1, 1)
template <Real T>
Var<T> huber(Var<T> x) {
    return record(
        "huber", {x}, x.shape(),
        // The forward reads the op's inputs and writes its value. It is called now, and again if the tape is replayed.
        [](Forward<T>& node) {
            const Tensor<T>& at = node.input(0);
            for (std::int64_t i = 0; i < at.size(); ++i) {
                const T a = std::abs(at.data()[i]);
                node.value()[i] = a <= 1 ? a * a / 2 : a - T(0.5);
            }
        },
        // The backward sees the inputs, the value and dL/dy, and adds to dL/dx. It is not called, and not even kept,
        // where no gradient is needed.
        [](Backward<T>& node) {
            const Tensor<T>& at = node.input(0);
            T* dx = node.accumulate(0);
            for (std::int64_t i = 0; i < at.size(); ++i)
                dx[i] += node.grad()[i] * std::fmax(T(-1), std::fmin(T(1), at.data()[i]));
        });
}

int main(int argc, char** argv) {
    Example example("An op of your own, outside the library, and its gradient held against differences.",
                    "less than a second");
    return example.run(argc, argv, [&] {
        Tape<double> tape;
        const auto x = tape.variable({0.5, -3, 0});
        const auto y = huber(x);
        tape.backward(sum(y));
        ResultTable table({"x", "huber(x)", "its slope"});
        for (const std::int64_t i : {0, 1, 2}) table.row({{x.value()(i), 1}, {y.value()(i), 3}, {x.grad()(i), 1}});
        table.show();
        table.save(example.path("custom_op"));

        // Every op, one's own too, is held against central differences.
        const auto f = [](std::span<const Var<double>> v) { return huber(v[0]); };
        const GradcheckResult check = gradcheck(f, {Tensor<double>{0.5, -3, 0.2, 7}});
        if (!check) throw Error("gradcheck: " + check.message);
        std::printf("gradcheck: ok\n");
    });
}
