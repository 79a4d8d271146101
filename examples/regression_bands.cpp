// A curve with its uncertainty: Bayes by Backprop beside a point estimate (Blundell et al. 2015, Figure 5).
//
//     ./run example regression_bands
//
// The data are y = x + 0.3 sin(2 pi (x + e)) + 0.3 sin(4 pi (x + e)) + e with e ~ N(0, 0.02^2), for x from 0 to 0.5.
// Both networks see the same points. Where there are none the point estimate goes on as if it knew; the posterior
// spreads.
//
// Expected output: a table of the spread at a few points (small among the data, many times as large at x = -0.2 and
// 1.2), and the figure regression_bands.
#include "example.hpp"
#include "figure.hpp"

#include <pollen/pollen.hpp>

#include <cmath>
#include <cstdio>
#include <numbers>

using namespace pollen;

constexpr std::int64_t points = 100;
constexpr std::int64_t hidden = 50;
constexpr std::int64_t epochs = 4000;
constexpr double learning_rate = 0.01;
constexpr double noise = 0.02;       // of e
constexpr double noise_of_y = 0.05;  // about what e makes of it
constexpr std::int64_t draws = 200;
constexpr std::uint64_t seed = 1;

double curve(double x, double e) {
    const double pi = std::numbers::pi;
    return x + 0.3 * std::sin(2 * pi * (x + e)) + 0.3 * std::sin(4 * pi * (x + e)) + e;
}

int run(const Arguments& arguments) {
    Random random(seed);
    Dataset<float> data{Tensor<float>::zeros({points, 1}), Tensor<float>::zeros({points, 1})};
    for (std::int64_t i = 0; i < points; ++i) {
        const double x = random.uniform(0.0, 0.5);
        data.inputs(i, 0) = static_cast<float>(x);
        data.targets(i, 0) = static_cast<float>(curve(x, noise * random.normal()));
    }
    const std::int64_t steps = arguments.quick ? 50 : epochs;
    const TrainOptions options{.epochs = steps,
                               .batch = points,
                               .optimiser = Adam{.rate = Schedule::cosine(learning_rate, steps)},
                               .seed = seed};
    // The inputs are stretched to about -2 to 2 so that units with weights of size 1 can bend within the data.
    const Sequential net{Activation<float>("stretch", [](Var<float> x) { return (x - 0.25) * 8; }), Dense(1, hidden),
                         Relu(), Dense(hidden, 1)};

    std::printf("A point estimate ...\n");
    Sequential point = net;
    auto likelihood = Gaussian<float>::known(noise_of_y);
    if (train(point, likelihood, data, options).end == TrainResult::End::interrupted) return 1;

    std::printf("... and a posterior over the weights.\n");
    Sequential bayes = bayesian(net, {.prior = GaussianPrior{.sd = 1},
                                      .posterior = mean_field<float>(0.1),
                                      .estimator = Estimator::local,
                                      .complexity = Complexity::closed});
    const TrainResult result = train(bayes, likelihood, data, options);
    if (result.end == TrainResult::End::interrupted) return 1;
    const std::int64_t weights = parameter_count<float>(net);
    std::printf("likelihood cost %.1f nats, complexity cost %.1f nats (%.2f bits a weight)\n\n",
                result.history.back().loss * static_cast<double>(points), result.history.back().complexity,
                result.history.back().bits_per_weight(weights));

    const Tensor<float> grid = Tensor<float>::linspace(-0.2f, 1.2f, 281).reshaped({281, 1});
    PredictiveNumbers<float> predictive;
    each_sample<float>(bayes, grid, {.samples = arguments.quick ? 5 : draws, .seed = seed},
                       [&](const Tensor<float>& y) { predictive.add(y); });
    const Tensor<float> one = predict(point, grid), mean = predictive.mean(), variance = predictive.epistemic();
    std::vector<double> x, best, middle, low, high, low2, high2, truth;
    for (std::int64_t i = 0; i < grid.size(); ++i) {
        const double sd = std::sqrt(static_cast<double>(variance.data()[i])), m = static_cast<double>(mean.data()[i]);
        x.push_back(static_cast<double>(grid.data()[i]));
        best.push_back(static_cast<double>(one.data()[i]));
        middle.push_back(m);
        low.push_back(m - sd);
        high.push_back(m + sd);
        low2.push_back(m - 2 * sd);
        high2.push_back(m + 2 * sd);
        truth.push_back(curve(x.back(), 0));
    }
    std::printf("%6s %9s %15s %15s %8s\n", "x", "truth", "point estimate", "posterior mean", "its sd");
    for (const std::size_t i : {0u, 40u, 90u, 140u, 200u, 280u})
        std::printf("%6.2f %9.3f %15.3f %15.3f %8.3f\n", x[i], truth[i], best[i], middle[i], high[i] - middle[i]);

    std::vector<double> data_x, data_y;
    for (std::int64_t i = 0; i < points; ++i) {
        data_x.push_back(static_cast<double>(data.inputs.data()[i]));
        data_y.push_back(static_cast<double>(data.targets.data()[i]));
    }
    Figure figure("regression_bands", "Bayes by Backprop beside a point estimate", "x", "y");
    figure.band("posterior, two sd", x, low2, high2);
    figure.band("one sd", x, low, high);
    figure.line("posterior mean", x, middle);
    figure.dashed("point estimate", x, best);
    figure.dashed("truth", x, truth);
    figure.points("data", data_x, data_y);
    figure.set("set xrange [-0.2:1.2]");
    figure.set("set yrange [-1.2:2.2]");
    figure.save();
    return 0;
}

int main(int argc, char** argv) { return run_example(argc, argv, run); }
