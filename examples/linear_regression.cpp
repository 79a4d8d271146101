// A line through points, three ways: by the normal equations, by gradient descent, and with the noise learned too.
//
//     ./run example linear_regression
//
// Expected output: a table in which the three agree on slope and intercept to four digits, and the learned noise is
// close to the true one, 0.5.
#include "common/example.hpp"
#include "common/figure.hpp"
#include "common/table.hpp"

#include <pollen/autograd/math.hpp>
#include <pollen/nn/layers/dense.hpp>
#include <pollen/nn/likelihoods.hpp>
#include <pollen/nn/training/train.hpp>

#include <cmath>

using namespace pollen;

constexpr double slope = 2, intercept = -1, noise = 0.5;
constexpr double learning_rate = 0.1;

int main(int argc, char** argv) {
    Example example("A line through points: normal equations, gradient descent, and with the noise learned.",
                    "one second");
    std::int64_t points = 200, epochs = 400;
    example.option("--points", points, 200, "points that the line goes through", 3);
    example.option("--epochs", epochs, 400, "steps of gradient descent, each on all points", 1);
    return example.run(argc, argv, [&] {
        Random random(example.seed);
        Dataset<double> data{Tensor<double>::zeros({points, 1}), Tensor<double>::zeros({points})};
        double sx = 0, sy = 0, sxx = 0, sxy = 0, syy = 0;
        std::vector<double> xs, ys;
        for (std::int64_t i = 0; i < points; ++i) {
            const double x = random.uniform(-2.0, 2.0), y = slope * x + intercept + noise * random.normal();
            xs.push_back(data.inputs.mutable_at(i, 0) = x);
            ys.push_back(data.targets.mutable_at(i) = y);
            sx += x;
            sy += y;
            sxx += x * x;
            sxy += x * y;
            syy += y * y;
        }
        // a = cov(x, y) / var(x),    b = mean(y) - a mean(x),    s^2 = mean((y - a x - b)^2), the most likely one
        const double n = static_cast<double>(points), a = (n * sxy - sx * sy) / (n * sxx - sx * sx),
                     b = (sy - a * sx) / n, s = std::sqrt((syy - a * sxy - b * sy) / n);
        ResultTable table({"", "slope", "intercept", "noise"});
        table.row({"the truth", {slope, 4}, {intercept, 4}, {noise, 4}});
        table.row({"normal equations", {a, 4}, {b, 4}, {s, 4}});
        const auto fit = [&](const char* name, Gaussian<double> likelihood) {
            Dense<double> line(1, 1);
            unless_stopped(train(line, likelihood, data,
                                 {.epochs = epochs,
                                  .batch = points,
                                  .optimiser = Sgd{.rate = learning_rate},
                                  .seed = example.seed,
                                  .show = Show::nothing}));
            const bool learned = likelihood.log_sd.has_value();
            table.row({name,
                       {line.weight.value.item(), 4},
                       {line.bias.value.item(), 4},
                       learned ? Cell(math::exp(likelihood.log_sd.value.item()), 4) : Cell("")});
        };
        fit("gradient descent", Gaussian<double>::known(1));
        fit("... with the noise learned", Gaussian<double>::learned(1));
        table.show();
        table.save(example.path("linear_regression"));

        Figure figure(example.path("linear_regression"));
        Panel& panel = figure.panel("A line through points", "x", "y");
        panel.points("data", xs, ys);
        panel.line("normal equations", {-2, 2}, {b - 2 * a, b + 2 * a});
        panel.dashed("truth", {-2, 2}, {intercept - 2 * slope, intercept + 2 * slope});
        figure.save();
    });
}
