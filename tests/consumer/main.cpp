// A program as a user would write it: a linear model, trained by gradient descent.
#include <pollen/pollen.hpp>

#include <cmath>
#include <iostream>

using namespace pollen;

int main() {
    const Tensor<double> x{{1, 2}, {3, 4}, {5, 6}};
    const Tensor<double> y{1, 0, 2};

    Tensor<double> w{0, 0};
    Tape<double> tape;
    for (int step = 0; step < 200; ++step) {
        const auto v = tape.variable(w);
        const auto loss = mean(square(matmul(x, v) - y));
        tape.backward(loss);
        const Tensor<double> gradient = v.grad();
        if (step % 50 == 0) std::cout << "loss " << loss.item() << ", gradient " << gradient << "\n";
        tape.clear();
        for (int i = 0; i < 2; ++i) w.mutable_at(i) -= 0.02 * gradient(i);
    }
    std::cout << "w = " << w << "\n";

    // The numbers NumPy gets for the same 200 steps.
    const bool right = std::abs(w(0) - 0.05998099) < 1e-7 && std::abs(w(1) - 0.20264842) < 1e-7;
    return right ? 0 : 1;
}
