// A curve with its uncertainty: Bayes by Backprop beside a point estimate (Blundell et al. 2015, Figure 5).
//
//     ./run example regression_bands
//
// The data are y = x + 0.3 sin(2 pi (x + e)) + 0.3 sin(4 pi (x + e)) + e with e ~ N(0, 0.02^2), for x from 0 to 0.5.
// Both networks see the same points. Where there are none the point estimate goes on as if it knew; the posterior
// spreads.
//
// Expected output: a table of the spread at a few points, 0.01 among the data (x = 0.25), 0.5 at x = -0.2 and 2.6 at
// x = 1.2, and the figure regression_bands, in which the truth stays within two sds but for a short way around x =
// 0.31.
#include "common/example.hpp"
#include "common/figure.hpp"
#include "common/table.hpp"

#include <pollen/autograd/math.hpp>
#include <pollen/nn/layers.hpp>
#include <pollen/nn/likelihoods.hpp>
#include <pollen/nn/prediction/predictive.hpp>
#include <pollen/nn/training/train.hpp>
#include <pollen/nn/variational/bayes.hpp>

#include <cmath>
#include <cstdio>
#include <numbers>

using namespace pollen;

constexpr std::int64_t points = 100;
constexpr std::int64_t hidden = 50;
constexpr double learning_rate = 0.01;
constexpr double noise = 0.02;       // of e
constexpr double noise_of_y = 0.05;  // about what e makes of it

double curve(double x, double e) {
    const double pi = std::numbers::pi;
    return x + 0.3 * math::sin(2 * pi * (x + e)) + 0.3 * math::sin(4 * pi * (x + e)) + e;
}

Dataset<float> make_data(std::uint64_t seed) {
    Random random(seed);
    Dataset<float> data{Tensor<float>::zeros({points, 1}), Tensor<float>::zeros({points, 1})};
    for (std::int64_t i = 0; i < points; ++i) {
        const double x = random.uniform(0.0, 0.5);
        data.inputs.mutable_at(i, 0) = static_cast<float>(x);
        data.targets.mutable_at(i, 0) = static_cast<float>(curve(x, noise * random.normal()));
    }
    return data;
}

std::vector<double> numbers(const Tensor<float>& x) { return {x.begin(), x.end()}; }

int main(int argc, char** argv) {
    Example example("A curve with its uncertainty: Bayes by Backprop beside a point estimate.", "2 seconds");
    std::int64_t epochs = 20000, draws = 200;
    example.option("--epochs", epochs, 4000, "steps of Adam, each on all points", 1);
    example.option("--draws", draws, 100, "draws of the weights for the bands", 2);
    return example.run(argc, argv, [&] {
        const Dataset<float> data = make_data(example.seed);
        const auto options = [&](const char* name) {
            return TrainOptions{.epochs = epochs,
                                .batch = points,
                                .optimiser = Adam{.rate = Schedule::cosine(learning_rate, epochs)},
                                .seed = example.seed,
                                .checkpoint = example.kept(name) / "checkpoint.safetensors",
                                .checkpoint_every = 1000,
                                .resume = true};
        };
        // The inputs are stretched to about -2 to 2 so that units with weights of size 1 can bend within the data.
        const Sequential net{Activation<float>("stretch", [](Var<float> x) { return (x - 0.25) * 8; }),
                             Dense(1, hidden), Relu(), Dense(hidden, 1)};

        std::printf("A point estimate ...\n");
        Sequential point = net;
        auto likelihood = Gaussian<float>::known(noise_of_y);
        unless_stopped(train(point, likelihood, data, options("point")));

        std::printf("... and a posterior over the weights.\n");
        Sequential bayes = bayesian(net, {.prior = GaussianPrior{.sd = 1},
                                          .posterior = mean_field<float>(0.1),
                                          .estimator = Estimator::local,
                                          .complexity = Complexity::closed});
        const EpochRecord last = unless_stopped(train(bayes, likelihood, data, options("bayes"))).history.back();
        std::printf("likelihood cost %.1f nats, complexity cost %.1f nats (%.2f bits a weight)\n",
                    last.loss * static_cast<double>(points), last.complexity,
                    last.bits_per_weight(parameter_count<float>(net)));

        const Tensor<float> grid = Tensor<float>::linspace(-0.2f, 1.2f, 281).reshaped({281, 1});
        PredictiveNumbers<float> predictive;
        each_sample<float>(bayes, grid, {.samples = draws, .seed = example.seed},
                           [&](const Tensor<float>& y) { predictive.add(y); });
        const std::vector<double> x = numbers(grid), best = numbers(predict(point, grid)),
                                  mean = numbers(predictive.mean()), variance = numbers(predictive.epistemic());
        std::vector<double> low, high, low2, high2, truth;
        for (std::size_t i = 0; i < x.size(); ++i) {
            const double sd = std::sqrt(variance[i]);
            low.push_back(mean[i] - sd);
            high.push_back(mean[i] + sd);
            low2.push_back(mean[i] - 2 * sd);
            high2.push_back(mean[i] + 2 * sd);
            truth.push_back(curve(x[i], 0));
        }
        ResultTable table({"x", "truth", "point estimate", "posterior mean", "its sd"});
        for (const std::size_t i : {0u, 40u, 90u, 140u, 200u, 280u})
            table.row(
                {{std::round(100 * x[i]) / 100, 2}, {truth[i], 3}, {best[i], 3}, {mean[i], 3}, {high[i] - mean[i], 3}});
        table.show();
        table.save(example.path("regression_bands"));

        Figure figure(example.path("regression_bands"));
        Panel& panel = figure.panel("A curve with its uncertainty", "x", "y");
        panel.band("BBB, one and two sd", x, low2, high2);
        panel.band("", x, low, high);
        panel.line("BBB, mean", x, mean);
        panel.dashed("point estimate", x, best);
        panel.dashed("truth", x, truth);
        panel.points("data", numbers(data.inputs), numbers(data.targets));
        panel.set("set xrange [-0.2:1.2]");
        panel.set("set yrange [-1.2:2.2]");
        figure.save();
        std::printf(
            "\nFrom 0 to 0.5, where there are data, both follow them and the band is narrow. Outside, the point\n"
            "estimate goes on in a straight line as if it knew; the band opens until it has the truth in it.\n");
    });
}
