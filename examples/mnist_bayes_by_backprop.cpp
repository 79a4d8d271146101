// Bayes by Backprop on handwritten digits (Blundell et al. 2015): point estimates beside posteriors over the weights,
// and how much of a network can be removed.
//
//     ./run example mnist_bayes_by_backprop --hidden 1200 --epochs 20 --methods mixture,weak_kl
//
// The methods are sgd, dropout, gaussian, mixture and weak_kl, all of them unless some are named. Uses the 5,000 digits
// that come with pollen, or all of MNIST after `./run data mnist` (50,000 to learn from, as in the paper). Ctrl-C stops
// a method; the same command goes on from there (--new starts again).
//
// The KL weights of an epoch add up to 1, so that likelihood and complexity are those of the variational bound. The
// last method gives the KL 3 % of its weight; its errors come near the published ones. (The paper's own weights
// 2^(M-i) / (2^M - 1), KlWeight::blundell(), also add up to 1, but nearly all of it falls on the first batches of an
// epoch, and what comes of it depends on the optimiser.)
//
// Expected output: a table of test error, -log p and calibration error, likelihood and complexity costs apart; a table
// of what is left after pruning by signal-to-noise; the figure bbb_signal_to_noise.
#include "common/example.hpp"
#include "common/figure.hpp"
#include "common/table.hpp"

#include <pollen/autograd/math.hpp>
#include <pollen/data/sets/embedded.hpp>
#include <pollen/data/sets/image_set.hpp>
#include <pollen/nn/layers.hpp>
#include <pollen/nn/likelihoods.hpp>
#include <pollen/nn/prediction/metrics.hpp>
#include <pollen/nn/prediction/predictive.hpp>
#include <pollen/nn/priors.hpp>
#include <pollen/nn/pruning/compress.hpp>
#include <pollen/nn/pruning/prune.hpp>
#include <pollen/nn/pruning/weight_posteriors.hpp>
#include <pollen/nn/training/train.hpp>
#include <pollen/nn/variational/bayes.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <sstream>
#include <string>
#include <vector>

using namespace pollen;

constexpr std::int64_t batch = 128;
constexpr double learning_rate = 2e-3;
constexpr double initial_sd = 0.02;
constexpr double weak_kl = 0.03;
constexpr std::int64_t samples = 20;  // of the weights, for predictions
const Prior gaussian = GaussianPrior{.sd = 0.1};
const Prior mixture = ScaleMixturePrior{.pi = 0.25, .sd1 = 1, .sd2 = math::exp(-6.0)};

struct Setting {
    const Example& example;
    Dataset<float> train_data, test_data;
    std::int64_t hidden, epochs;
    ResultTable table{
        {"", "error %", "error % of the means", "-log p", "ECE", "likelihood", "complexity", "bits a weight"}};
};

Sequential<float> network(std::int64_t hidden, double dropout_rate = 0) {
    return Sequential{Flatten(), Dense(784, hidden),    Relu(),           Dropout(dropout_rate), Dense(hidden, hidden),
                      Relu(),    Dropout(dropout_rate), Dense(hidden, 10)};
}

// Trains a network, and adds its line to the table. Predictions are those of draws of the weights where they are
// random.
void fit(Setting& s, const std::string& method, const char* name, Sequential<float>& net, const Optimiser& optimiser,
         const KlWeight& kl = KlWeight::uniform()) {
    Categorical likelihood;
    std::printf("%s\n", name);
    const TrainResult result = unless_stopped(train(net, likelihood, s.train_data,
                                                    {.epochs = s.epochs,
                                                     .batch = batch,
                                                     .optimiser = optimiser,
                                                     .seed = s.example.seed,
                                                     .kl = kl,
                                                     .checkpoint = s.example.kept("runs") / (method + ".safetensors"),
                                                     .resume = true}));
    const EpochRecord& last = result.history.back();
    const bool sampled = last.complexity != 0;
    const Tensor<float> plain = Categorical<float>::probabilities(predict(net, s.test_data.inputs));
    const Tensor<float> p =
        sampled ? predict_samples<float>(net, s.test_data.inputs, {.samples = samples, .seed = s.example.seed})
                      .probabilities()
                : plain;
    const Indices& labels = s.test_data.labels;
    const double share = 1 - accuracy(p, labels), items = static_cast<double>(s.test_data.size());
    s.table.row({name,
                 {100 * share, 100 * std::sqrt(share * (1 - share) / items), 2},
                 {100 - 100 * accuracy(plain, labels), 2},
                 {nll(p, labels), 4},
                 {ece(p, labels), 4},
                 {last.loss * static_cast<double>(s.train_data.size()), 0},
                 sampled ? Cell(last.complexity, 0) : Cell("-"),
                 sampled ? Cell(last.bits_per_weight(parameter_count<float>(net) / 2), 2) : Cell("-")});
}

double seconds(const std::function<void()>& work) {
    double best = 1e9;
    for (int k = 0; k < 100; ++k) {
        const auto start = std::chrono::steady_clock::now();
        work();
        best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    }
    return best;
}

void prune_table(const Sequential<float>& net, const Setting& s) {
    std::printf("Pruned by signal-to-noise, posterior means, %s:\n", mixture.describe().c_str());
    ResultTable table({"removed, %", "weights", "error %", "-log p", "ECE", "bytes", "us, 1 image", "ms, 1,000"});
    const Tensor<float> one = s.test_data.slice(0, 1).inputs, many = s.test_data.slice(0, 1000).inputs;
    for (const double fraction : {0.0, 0.5, 0.75, 0.95, 0.98, 0.99}) {
        Sequential<float> pruned = net;
        set_means<float>(pruned, prune(weight_posteriors<float>(net), {.fraction = fraction}));
        const Part<float> small(compress<float>(*mean_network<float>(pruned)));
        const Tensor<float> p = Categorical<float>::probabilities(predict(*small, s.test_data.inputs));
        // A program that predicts again and again keeps its tape, and with it the memory.
        const Parameters<float> parameters(*small);
        Tape<float> tape(Recording::off);
        const auto time = [&](const Tensor<float>& x) {
            return seconds([&] { predict<float>(tape, *small, parameters, {}, x); });
        };
        const double micro = 1e6 * time(one), milli = 1e3 * time(many);
        table.row({{100 * fraction, 0},
                   {static_cast<double>(nonzero_count(*small)), 0},
                   {100 - 100 * accuracy(p, s.test_data.labels), 2},
                   {nll(p, s.test_data.labels), 4},
                   {ece(p, s.test_data.labels), 4},
                   {static_cast<double>(stored_bytes(*small)), 0},
                   {micro, 0},
                   {milli, 2}});
    }
    table.show();
    table.save(s.example.path("bbb_pruned"));
}

void draw_signal_to_noise(const Sequential<float>& net, const std::filesystem::path& path) {
    const pollen::Histogram all = histogram(signal_to_noise(weight_posteriors<float>(net)), -40, 20, 120);
    std::vector<double> begin(all.edges.begin(), all.edges.end() - 1), density = all.density();
    const double highest = *std::ranges::max_element(density);
    for (double& d : density) d /= highest;
    Figure figure(path);
    Panel& panel = figure.panel("Signal-to-noise of the weights", "10 log10(|mu| / sigma), dB",
                                "density (highest = 1), and share below");
    panel.steps("density", begin, density);
    panel.line("share of the weights below", all.edges, all.cumulative());
    panel.set("set yrange [0:1.25]");
    figure.save();
}

std::vector<std::string> read_methods(const std::string& text) {
    const std::vector<std::string> known{"sgd", "dropout", "gaussian", "mixture", "weak_kl"};
    std::vector<std::string> methods;
    std::istringstream in(text);
    for (std::string method; std::getline(in, method, ',');) {
        if (std::ranges::find(known, method) == known.end())
            throw ValueError("there is no method \"" + method + "\"; --methods takes some of sgd,dropout,gaussian," +
                             "mixture,weak_kl");
        methods.push_back(method);
    }
    return methods;
}

void compare(Setting& s, const std::vector<std::string>& methods) {
    const std::int64_t steps = s.epochs * ((s.train_data.size() + batch - 1) / batch);
    const Optimiser adam = Adam{.rate = Schedule::cosine(learning_rate, steps)};
    const Optimiser momentum = Momentum{.rate = Schedule::cosine(0.05, steps)};
    const auto wanted = [&](const char* method) { return std::ranges::find(methods, method) != methods.end(); };
    const auto bayes = [&](const Prior& prior) {
        return bayesian(network(s.hidden), {.prior = prior, .posterior = mean_field<float>(initial_sd)});
    };
    Sequential point = network(s.hidden), dropped = network(s.hidden, 0.5);
    Sequential normal = bayes(gaussian), mixed = bayes(mixture), weak = bayes(mixture);
    if (wanted("sgd")) fit(s, "sgd", "SGD", point, momentum);
    if (wanted("dropout")) fit(s, "dropout", "SGD, dropout", dropped, momentum);
    if (wanted("gaussian")) fit(s, "gaussian", "BBB, Gaussian prior", normal, adam);
    if (wanted("mixture")) fit(s, "mixture", "BBB, scale mixture", mixed, adam);
    if (wanted("weak_kl")) fit(s, "weak_kl", "BBB, scale mixture, weak KL", weak, adam, KlWeight::beta(weak_kl));
    s.table.show();
    s.table.save(s.example.path("bbb"));
    std::printf("(likelihood and complexity costs in nats over the training data, bits of complexity a weight)\n\n");
    if (!wanted("mixture")) return;
    prune_table(mixed, s);
    draw_signal_to_noise(mixed, s.example.path("bbb_signal_to_noise"));
}

int main(int argc, char** argv) {
    Example example("Bayes by Backprop on handwritten digits, and how much of a network can be removed.",
                    has_data("mnist") ? "5 minutes" : "30 seconds");
    std::int64_t hidden = 400, epochs = 20;
    std::string methods = "sgd,dropout,gaussian,mixture,weak_kl";
    example.option("--hidden", hidden, 100, "units in each of two hidden layers", 1);
    example.option("--epochs", epochs, 4, "passes through the digits", 1);
    example.option("--methods", methods, "which, separated by commas");
    return example.run(argc, argv, [&] {
        const std::vector<std::string> wanted = read_methods(methods);
        const std::string directory = example.quick ? embedded_data("mnist") : data_directory("mnist");
        Setting s{.example = example,
                  .train_data = read_image_set<float>(directory, "train"),
                  .test_data = read_image_set<float>(directory, "test"),
                  .hidden = hidden,
                  .epochs = epochs};
        example.data(directory, s.train_data.size());
        if (s.train_data.size() == 60000) s.train_data = split_last(s.train_data, 10000).first;
        std::printf("%lld digits to learn from, %lld to be tested on; 784-%lld-%lld-10\n\n",
                    static_cast<long long>(s.train_data.size()), static_cast<long long>(s.test_data.size()),
                    static_cast<long long>(hidden), static_cast<long long>(hidden));
        compare(s, wanted);
    });
}
