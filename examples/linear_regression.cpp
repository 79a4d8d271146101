// A line through points, three ways: by the normal equations, by gradient descent, and with the noise learned too.
//
//     ./run example linear_regression
//
// Expected output: a table in which the three agree on slope and intercept to four digits, and the learned noise is
// close to the true one, 0.5.
#include <pollen/pollen.hpp>

#include <cmath>
#include <cstdio>

using namespace pollen;

constexpr std::int64_t points = 200;
constexpr double slope = 2, intercept = -1, noise = 0.5;
constexpr std::int64_t epochs = 400;
constexpr double learning_rate = 0.1;
constexpr std::uint64_t seed = 1;

int main() {
    Random random(seed);
    Dataset<double> data{Tensor<double>::zeros({points, 1}), Tensor<double>::zeros({points})};
    double sx = 0, sy = 0, sxx = 0, sxy = 0;
    for (std::int64_t i = 0; i < points; ++i) {
        const double x = random.uniform(-2.0, 2.0), y = slope * x + intercept + noise * random.normal();
        data.inputs(i, 0) = x;
        data.targets(i) = y;
        sx += x;
        sy += y;
        sxx += x * x;
        sxy += x * y;
    }
    const double n = points, exact_slope = (n * sxy - sx * sy) / (n * sxx - sx * sx);
    std::printf("%-28s %9s %9s %9s\n", "", "slope", "intercept", "noise");
    std::printf("%-28s %9.4f %9.4f %9.4f\n", "the truth", slope, intercept, noise);
    std::printf("%-28s %9.4f %9.4f %9s\n", "normal equations", exact_slope, (sy - exact_slope * sx) / n, "");

    const auto fit = [&](const char* name, Gaussian<double> likelihood) {
        Dense<double> line(1, 1);
        train(line, likelihood, data,
              {.epochs = epochs,
               .batch = points,
               .optimiser = Sgd{.rate = learning_rate},
               .seed = seed,
               .show = Show::nothing});
        std::printf("%-28s %9.4f %9.4f", name, line.weight.value.item(), line.bias.value.item());
        if (likelihood.log_sd.has_value()) std::printf(" %9.4f", std::exp(likelihood.log_sd.value.item()));
        std::printf("\n");
    };
    fit("gradient descent", Gaussian<double>::known(1));
    fit("... with the noise learned", Gaussian<double>::learned(1));
}
