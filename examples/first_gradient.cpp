// The smallest program: a function, its gradient, and the tape behind it.
//
//     ./run example first_gradient
//
// Expected output: f(w) = 4.667 and df/dw = (-13.33, -17.33) for f(w) = mean((x w - y)^2) at w = (1, -1), and the tape,
// one line a node.
#include "common/example.hpp"
#include "common/table.hpp"

#include <pollen/autograd/ops.hpp>

#include <iostream>

using namespace pollen;

int main(int argc, char** argv) {
    Example example("A function, its gradient, and the tape behind it.", "less than a second");
    return example.run(argc, argv, [&] {
        const Tensor<double> x{{1, 2}, {3, 4}, {5, 6}};
        const Tensor<double> y{1, 0, 2};

        Tape<double> tape;
        const auto w = tape.variable({1, -1});
        const auto loss = mean(square(matmul(x, w) - y));
        tape.backward(loss);

        std::cout << tape.to_string() << "\nThe same as a drawing, for `dot -Tsvg`:\n\n" << tape.to_dot();
        ResultTable table({"", "found", "by hand"});
        table.row({"loss", {loss.item(), 4}, "14 / 3"});
        table.row({"d loss / d w[1]", {w.grad()(0), 4}, "-40 / 3"});
        table.row({"d loss / d w[2]", {w.grad()(1), 4}, "-52 / 3"});
        table.show();
        table.save(example.path("first_gradient"));
    });
}
