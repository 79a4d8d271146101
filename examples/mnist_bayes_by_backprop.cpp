// Bayes by Backprop on handwritten digits (Blundell et al. 2015): point estimates beside posteriors over the weights,
// and how much of a network can be removed.
//
//     ./run example mnist_bayes_by_backprop [WIDTH [EPOCHS]]     two hidden layers of WIDTH units: 400 unless given
//
// Uses the 5,000 digits that come with pollen, or all of MNIST after `./run data mnist` (50,000 to learn from, as in
// the paper). Ctrl-C stops a method; the same command goes on from there (--new starts again).
//
// Expected output: a table of test error, -log p and calibration error for SGD, dropout and two priors, likelihood and
// complexity costs apart; a table of what is left after pruning by signal-to-noise; the figure bbb_signal_to_noise.
#include "example.hpp"
#include "figure.hpp"

#include <pollen/pollen.hpp>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <string>

using namespace pollen;

constexpr std::int64_t default_width = 400;
constexpr std::int64_t default_epochs = 20;
constexpr std::int64_t batch = 128;
constexpr double learning_rate = 1e-3;
constexpr double initial_sd = 0.02;
constexpr std::int64_t samples = 20;  // of the weights, for predictions
constexpr std::uint64_t seed = 1;
const Prior gaussian = GaussianPrior{.sd = 0.1};
const Prior mixture = ScaleMixturePrior{.pi = 0.25, .sd1 = 1, .sd2 = std::exp(-6.0)};

struct Setting {
    Dataset<float> train_data, test_data;
    std::int64_t width, epochs;
    bool quick, fresh;
};

Sequential<float> network(std::int64_t width, double dropout_rate = 0) {
    return Sequential{Flatten(), Dense(784, width),     Relu(),          Dropout(dropout_rate), Dense(width, width),
                      Relu(),    Dropout(dropout_rate), Dense(width, 10)};
}

// Trains a network, and prints its line of the table. False after Ctrl-C.
bool fit(const char* name, Sequential<float>& net, const Optimiser& optimiser, const Setting& s, bool sampled) {
    Categorical likelihood;
    std::string file = std::string("bbb_") + name + "_" + std::to_string(s.width) + ".safetensors";
    for (char& c : file) c = c == ' ' || c == ',' ? '_' : c;
    if (s.fresh) std::filesystem::remove(file);
    const TrainResult result = train(net, likelihood, s.train_data,
                                     {.epochs = s.epochs,
                                      .batch = batch,
                                      .optimiser = optimiser,
                                      .seed = seed,
                                      .checkpoint = s.quick ? "" : file,
                                      .resume = !s.quick && !s.fresh});
    if (result.end == TrainResult::End::interrupted) return false;
    const Predictive<float> predicted =
        predict_samples<float>(net, s.test_data.inputs, {.samples = sampled ? samples : 1, .seed = seed});
    const Tensor<float> plain = Categorical<float>::probabilities(predict(net, s.test_data.inputs));
    const Tensor<float> p = sampled ? predicted.probabilities() : plain;
    const EpochRecord& last = result.history.back();
    std::printf("%-22s %7.2f %7.2f %8.4f %7.4f %11.0f %11.0f %7.2f\n", name,
                100 - 100 * accuracy(p, s.test_data.labels), 100 - 100 * accuracy(plain, s.test_data.labels),
                nll(p, s.test_data.labels), ece(p, s.test_data.labels),
                last.loss * static_cast<double>(s.train_data.size()), last.complexity,
                last.bits_per_weight(parameter_count<float>(net) / 2));
    std::fflush(stdout);
    return true;
}

double seconds(const std::function<void()>& work) {
    double best = 1e9;
    for (int k = 0; k < 20; ++k) {
        const auto start = std::chrono::steady_clock::now();
        work();
        best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    }
    return best;
}

void prune_table(const Sequential<float>& net, const Setting& s) {
    std::printf("\nPruned by signal-to-noise, posterior means, %s:\n", mixture.describe().c_str());
    std::printf("%8s %9s %8s %8s %8s %10s %12s %14s\n", "removed", "weights", "error %", "-log p", "ECE", "bytes",
                "us, 1 image", "ms, 1,000");
    const Tensor<float> one = s.test_data.slice(0, 1).inputs, many = s.test_data.slice(0, 1000).inputs;
    for (const double fraction : {0.0, 0.5, 0.75, 0.95, 0.98, 0.99}) {
        Sequential<float> pruned = net;
        set_means<float>(pruned, prune(weight_posteriors<float>(net), {.fraction = fraction}));
        const Part<float> small(compress<float>(*mean_network<float>(pruned)));
        const Tensor<float> p = Categorical<float>::probabilities(predict(*small, s.test_data.inputs));
        const double micro = 1e6 * seconds([&] { predict(*small, one); });
        const double milli = 1e3 * seconds([&] { predict(*small, many); });
        std::printf("%6.0f %% %9zu %8.2f %8.4f %8.4f %10zu %12.0f %14.2f\n", 100 * fraction, nonzero_count(*small),
                    100 - 100 * accuracy(p, s.test_data.labels), nll(p, s.test_data.labels), ece(p, s.test_data.labels),
                    stored_bytes(*small), micro, milli);
    }
}

void draw_signal_to_noise(const Sequential<float>& net) {
    const Histogram all = histogram(signal_to_noise(weight_posteriors<float>(net)), -40, 20, 120);
    std::vector<double> centre, density = all.density(), share = all.cumulative();
    double highest = 0;
    for (std::size_t k = 0; k < density.size(); ++k) {
        centre.push_back(0.5 * (all.edges[k] + all.edges[k + 1]));
        highest = std::max(highest, density[k]);
    }
    for (double& d : density) d /= highest;
    Figure figure("bbb_signal_to_noise", "Signal-to-noise of the weights", "10 log10(|mu| / sigma), dB",
                  "density (highest = 1), and share below");
    figure.steps("density", centre, density);
    figure.line("share of the weights below", all.edges, share);
    figure.save();
}

int run(const Arguments& arguments) {
    const std::vector<std::string>& given = arguments.values;
    const auto number = [&](std::size_t k, std::int64_t otherwise) {
        return given.size() > k ? std::stoll(given[k]) : otherwise;
    };
    const bool quick = arguments.quick;
    const std::string directory = quick ? embedded_data("mnist") : data_directory("mnist");
    Setting s{read_image_set<float>(directory, "train"),
              read_image_set<float>(directory, "test"),
              quick ? 50 : number(0, default_width),
              quick ? 1 : number(1, default_epochs),
              quick,
              arguments.fresh};
    if (s.train_data.size() == 60000) s.train_data = split_last(s.train_data, 10000).first;
    const std::int64_t steps = s.epochs * ((s.train_data.size() + batch - 1) / batch);
    std::printf("%lld digits to learn from, %lld to be tested on; 784-%lld-%lld-10, %lld epochs\n\n",
                static_cast<long long>(s.train_data.size()), static_cast<long long>(s.test_data.size()),
                static_cast<long long>(s.width), static_cast<long long>(s.width), static_cast<long long>(s.epochs));
    std::printf("%-22s %7s %7s %8s %7s %11s %11s %7s\n", "", "error %", "(means)", "-log p", "ECE", "likelihood",
                "complexity", "bits");

    const Optimiser adam = Adam{.rate = Schedule::cosine(learning_rate, steps)};
    Sequential point = network(s.width), dropped = network(s.width, 0.5);
    Sequential normal = bayesian(network(s.width), {.prior = gaussian, .posterior = mean_field<float>(initial_sd)});
    Sequential mixed = bayesian(network(s.width), {.prior = mixture, .posterior = mean_field<float>(initial_sd)});
    if (!fit("SGD", point, Momentum{.rate = Schedule::cosine(0.05, steps)}, s, false)) return 1;
    if (!fit("SGD, dropout", dropped, Momentum{.rate = Schedule::cosine(0.05, steps)}, s, false)) return 1;
    if (!fit("BBB, Gaussian prior", normal, adam, s, true)) return 1;
    if (!fit("BBB, scale mixture", mixed, adam, s, true)) return 1;
    std::printf("(likelihood and complexity costs in nats over the training data, bits of complexity a weight)\n");
    prune_table(mixed, s);
    draw_signal_to_noise(mixed);
    return 0;
}

int main(int argc, char** argv) { return run_example(argc, argv, run); }
