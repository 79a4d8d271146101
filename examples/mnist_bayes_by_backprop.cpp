// Bayes by Backprop on handwritten digits (Blundell et al. 2015): point estimates beside posteriors over the weights,
// and how much of a network can be removed.
//
//     ./run example mnist_bayes_by_backprop          5,000 digits that come with pollen, two layers of 400 units
//
// The full size has 50,000 digits to learn from, 10,000 to be tested on, and two layers of 1,200 units:
//
//     ./run data mnist
//     ./run example mnist_bayes_by_backprop --hidden 1200 --seeds 3 --methods mixture,weak_kl --out results/bbb_full
//
// It takes less than an hour on two cores. Ctrl-C stops it; the same command goes on from there (--new starts again).
// Both networks are pruned then, the tables have the published errors, and their names and those of figures end with
// _full. --methods takes some of sgd, dropout, gaussian, mixture and weak_kl; without it all of them run.
//
// Smaller than in the original, also at full size: there are 20 epochs, not 600, and one setting of rates and priors,
// not a search on validation digits. Pixels go from 0 to 1; the original divides them by 126. The optimiser of the
// posteriors is Adam with a rate that falls; the original has plain SGD.
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
#include "common/seeds.hpp"
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
#include <map>
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
    std::int64_t hidden, epochs, seeds;

    // All of MNIST, and the largest network of the paper.
    bool full() const { return train_data.size() == 50000 && hidden == 1200; }
    // Of a table or a figure. Those of the full size have names of their own.
    std::filesystem::path path(const std::string& name) const { return example.path(name + (full() ? "_full" : "")); }
};

Sequential<float> network(std::int64_t hidden, double dropout_rate = 0) {
    return Sequential{Flatten(), Dense(784, hidden),    Relu(),           Dropout(dropout_rate), Dense(hidden, hidden),
                      Relu(),    Dropout(dropout_rate), Dense(hidden, 10)};
}

struct Method {
    std::string key, name;
    Sequential<float> net;
    Optimiser optimiser;
    KlWeight kl = KlWeight::uniform();
    Scores scores = {};               // one a seed
    std::vector<Scores> pruned = {};  // the same for each fraction that is removed
};

std::vector<Method> methods_of(const Setting& s) {
    const std::int64_t steps = s.epochs * ((s.train_data.size() + batch - 1) / batch);
    const Optimiser adam = Adam{.rate = Schedule::cosine(learning_rate, steps)};
    const Optimiser momentum = Momentum{.rate = Schedule::cosine(0.05, steps)};
    const auto bayes = [&](const Prior& prior) {
        return bayesian(network(s.hidden), {.prior = prior, .posterior = mean_field<float>(initial_sd)});
    };
    return {{"sgd", "SGD", network(s.hidden), momentum},
            {"dropout", "SGD, dropout", network(s.hidden, 0.5), momentum},
            {"gaussian", "BBB, Gaussian prior", bayes(gaussian), adam},
            {"mixture", "BBB, scale mixture", bayes(mixture), adam},
            {"weak_kl", "BBB, scale mixture, weak KL", bayes(mixture), adam, KlWeight::beta(weak_kl)}};
}

// Trains a network of the method, and adds what it scores. Predictions are those of draws of the weights where they are
// random.
Sequential<float> fit(const Setting& s, Method& method, std::uint64_t seed) {
    Categorical likelihood;
    Sequential<float> net = method.net;
    std::printf("%s, seed %llu\n", method.name.c_str(), static_cast<unsigned long long>(seed));
    const std::string file = method.key + "_" + std::to_string(seed) + ".safetensors";
    const TrainResult result = unless_stopped(train(net, likelihood, s.train_data,
                                                    {.epochs = s.epochs,
                                                     .batch = batch,
                                                     .optimiser = method.optimiser,
                                                     .seed = seed,
                                                     .kl = method.kl,
                                                     .checkpoint = s.example.kept("runs") / file,
                                                     .resume = true}));
    const EpochRecord& last = result.history.back();
    const bool sampled = last.complexity != 0;
    const Tensor<float> plain = Categorical<float>::probabilities(predict(net, s.test_data.inputs));
    const Tensor<float> p =
        sampled ? predict_samples<float>(net, s.test_data.inputs, {.samples = samples, .seed = seed}).probabilities()
                : plain;
    const Indices& labels = s.test_data.labels;
    Scores& scores = method.scores;
    scores.add("error", 100 * (1 - accuracy(p, labels)));
    scores.add("of the means", 100 - 100 * accuracy(plain, labels));
    scores.add("nll", nll(p, labels));
    scores.add("ece", ece(p, labels));
    scores.add("likelihood", last.loss * static_cast<double>(s.train_data.size()));
    if (sampled) {
        scores.add("complexity", last.complexity);
        scores.add("bits", last.bits_per_weight(parameter_count<float>(net) / 2));
    }
    return net;
}

// One run has the standard error of a share of the test digits, several have that of their mean.
Cell error_cell(const Setting& s, const std::vector<double>& errors) {
    const Cell mean = mean_cell(errors, 2);
    const double p = mean.value / 100, items = static_cast<double>(s.test_data.size());
    return errors.size() > 1 ? mean : Cell(mean.value, 100 * std::sqrt(p * (1 - p) / items), 2);
}

void show_scores(const Setting& s, const std::vector<Method>& methods) {
    ResultTable table(
        {"", "error %", "error % of the means", "-log p", "ECE", "likelihood", "complexity", "bits a weight"});
    for (const Method& m : methods) {
        const auto cell = [&](const char* name, int digits) {
            return m.scores.of.contains(name) ? mean_cell(m.scores.of.at(name), digits) : Cell("-");
        };
        table.row({m.name, error_cell(s, m.scores.of.at("error")), cell("of the means", 2), cell("nll", 4),
                   cell("ece", 4), cell("likelihood", 0), cell("complexity", 0), cell("bits", 2)});
    }
    table.show();
    table.save(s.path("bbb"));
    std::printf("(likelihood and complexity costs in nats over the training data, bits of complexity a weight%s)\n\n",
                s.seeds > 1 ? "; means over the seeds and their standard errors" : "");
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

// What is removed, and the published errors of 784-1200-1200-10 after it, in %.
struct Removal {
    double fraction;
    Cell published;
};
const std::vector<Removal> removals{{0, {1.24, 2}},    {0.5, {1.24, 2}},  {0.75, {1.24, 2}},
                                    {0.95, {1.29, 2}}, {0.98, {1.39, 2}}, {0.99, ""}};

// Adds what a network scores without some of its weights.
void prune_and_score(const Setting& s, const Sequential<float>& net, Method& method) {
    const Tensor<float> one = s.test_data.slice(0, 1).inputs, many = s.test_data.slice(0, 1000).inputs;
    method.pruned.resize(removals.size());
    for (std::size_t k = 0; k < removals.size(); ++k) {
        Sequential<float> pruned = net;
        set_means<float>(pruned, prune(weight_posteriors<float>(net), {.fraction = removals[k].fraction}));
        const Part<float> small(compress<float>(*mean_network<float>(pruned)));
        const Tensor<float> p = Categorical<float>::probabilities(predict(*small, s.test_data.inputs));
        // A program that predicts again and again keeps its tape, and with it the memory.
        const Parameters<float> parameters(*small);
        Tape<float> tape(Recording::off);
        const auto time = [&](const Tensor<float>& x) {
            return seconds([&] { predict<float>(tape, *small, parameters, {}, x); });
        };
        Scores& scores = method.pruned[k];
        scores.add("weights", static_cast<double>(nonzero_count(*small)));
        scores.add("error", 100 - 100 * accuracy(p, s.test_data.labels));
        scores.add("nll", nll(p, s.test_data.labels));
        scores.add("ece", ece(p, s.test_data.labels));
        scores.add("bytes", static_cast<double>(stored_bytes(*small)));
        scores.add("one", 1e6 * time(one));
        scores.add("many", 1e3 * time(many));
    }
}

void show_pruned(const Setting& s, const Method& method, const std::string& file) {
    std::printf("%s, pruned by signal-to-noise, posterior means:\n", method.name.c_str());
    std::vector<std::string> columns{"removed, %", "weights", "error %"};
    if (s.full()) columns.push_back("published");
    for (const char* name : {"-log p", "ECE", "bytes", "us, 1 image", "ms, 1,000"}) columns.push_back(name);
    ResultTable table(columns);
    for (std::size_t k = 0; k < removals.size(); ++k) {
        const std::map<std::string, std::vector<double>>& of = method.pruned[k].of;
        const auto scored = [&](const char* name, int digits) { return mean_cell(of.at(name), digits); };
        const auto mean = [&](const char* name, int digits) { return Cell(mean_of(of.at(name)), digits); };
        std::vector<Cell> row{{100 * removals[k].fraction, 0}, mean("weights", 0), scored("error", 2)};
        if (s.full()) row.push_back(removals[k].published);
        for (const Cell& c : {scored("nll", 4), scored("ece", 4), mean("bytes", 0), mean("one", 0), mean("many", 2)})
            row.push_back(c);
        table.row(row);
    }
    table.show();
    table.save(s.path(file));
}

void draw_signal_to_noise(const Sequential<float>& net, const std::filesystem::path& path) {
    const pollen::Histogram all = histogram(signal_to_noise(weight_posteriors<float>(net)), -40, 20, 120);
    std::vector<double> begin(all.edges.begin(), all.edges.end() - 1), density = all.density();
    const double highest = *std::ranges::max_element(density);
    for (double& d : density) d /= highest;
    Figure figure(path);
    Panel& panel = figure.panel("Signal-to-noise of the weights", "10 log10(|mu| / sigma), dB",
                                "density (highest = 1), and share below");
    panel.colour_of("BBB");
    panel.steps("density", begin, density);
    panel.line("share of the weights below", all.edges, all.cumulative());
    panel.set("set yrange [0:1.05]");
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

void compare(const Setting& s, const std::vector<std::string>& wanted) {
    std::vector<Method> methods = methods_of(s);
    std::erase_if(methods, [&](const Method& m) { return std::ranges::find(wanted, m.key) == wanted.end(); });
    for (std::int64_t k = 0; k < s.seeds; ++k)
        for (Method& m : methods) {
            const Sequential<float> net = fit(s, m, s.example.seed + static_cast<std::uint64_t>(k));
            if (m.key != "mixture" && !(m.key == "weak_kl" && s.full())) continue;
            prune_and_score(s, net, m);
            if (m.key == "mixture" && k == 0) draw_signal_to_noise(net, s.path("bbb_signal_to_noise"));
        }
    show_scores(s, methods);
    for (const Method& m : methods)
        if (!m.pruned.empty()) show_pruned(s, m, m.key == "mixture" ? "bbb_pruned" : "bbb_pruned_weak_kl");
}

int main(int argc, char** argv) {
    Example example("Bayes by Backprop on handwritten digits, and how much of a network can be removed.",
                    has_data("mnist") ? "5 minutes" : "30 seconds");
    std::int64_t hidden = 400, epochs = 20, seeds = 1;
    std::string methods = "sgd,dropout,gaussian,mixture,weak_kl";
    example.option("--hidden", hidden, 100, "units in each of two hidden layers", 1);
    example.option("--epochs", epochs, 4, "passes through the digits", 1);
    example.option("--seeds", seeds, 1, "how often every method runs", 1);
    example.option("--methods", methods, "which, separated by commas");
    return example.run(argc, argv, [&] {
        const std::vector<std::string> wanted = read_methods(methods);
        const std::string directory = example.quick ? embedded_data("mnist") : data_directory("mnist");
        Setting s{.example = example,
                  .train_data = read_image_set<float>(directory, "train"),
                  .test_data = read_image_set<float>(directory, "test"),
                  .hidden = hidden,
                  .epochs = epochs,
                  .seeds = seeds};
        example.data(directory, s.train_data.size());
        if (s.train_data.size() == 60000) s.train_data = split_last(s.train_data, 10000).first;
        std::printf("%lld digits to learn from, %lld to be tested on; 784-%lld-%lld-10\n\n",
                    static_cast<long long>(s.train_data.size()), static_cast<long long>(s.test_data.size()),
                    static_cast<long long>(hidden), static_cast<long long>(hidden));
        compare(s, wanted);
    });
}
