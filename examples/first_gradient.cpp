// The smallest program: a function, its gradient, and the tape behind it.
//
// Expected output: f(w) and df/dw for f(w) = mean((x w - y)^2) at w = (1, -1), and the tape, one line a node.
#include <pollen/pollen.hpp>

#include <iostream>

using namespace pollen;

int main() {
    const Tensor<double> x{{1, 2}, {3, 4}, {5, 6}};
    const Tensor<double> y{1, 0, 2};

    Tape<double> tape;
    const auto w = tape.variable({1, -1});
    const auto loss = mean(square(matmul(x, w) - y));
    tape.backward(loss);

    std::cout << "loss = " << loss.item() << "\n"
              << "d loss / d w = " << w.grad() << "\n\n"
              << tape.to_string() << "\nThe same as a drawing, for `dot -Tsvg`:\n\n"
              << tape.to_dot();
}
