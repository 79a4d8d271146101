// Bayes by Backprop on handwritten digits (Blundell et al. 2015): point estimates beside posteriors over the weights,
// and how much of a network can be removed.
//
//     ./run example mnist_bayes_by_backprop [WIDTH [EPOCHS [SEED]]] [METHOD...]
//
// Two hidden layers of WIDTH units (400 unless given); the methods are sgd, dropout, gaussian, mixture and weak_kl, all
// of them unless some are named. Uses the 5,000 digits that come with pollen, or all of MNIST after `./run data mnist`
// (50,000 to learn from, as in the paper). Ctrl-C stops a method; the same command goes on from there (--new starts
// again).
//
// The KL weights of an epoch add up to 1, so that likelihood and complexity are those of the variational bound. The
// last method gives the KL 3 % of its weight; its errors come near the published ones. (The paper's own weights
// 2^(M-i) / (2^M - 1), KlWeight::blundell(), also add up to 1, but nearly all of it falls on the first batches of an
// epoch, and what comes of it depends on the optimiser.)
//
// Expected output: a table of test error, -log p and calibration error, likelihood and complexity costs apart; a table
// of what is left after pruning by signal-to-noise; the figure bbb_signal_to_noise.
#include "example.hpp"
#include "figure.hpp"

#include <pollen/pollen.hpp>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

using namespace pollen;

constexpr std::int64_t default_width = 400;
constexpr std::int64_t default_epochs = 20;
constexpr std::int64_t batch = 128;
constexpr double learning_rate = 2e-3;
constexpr double initial_sd = 0.02;
constexpr double weak_kl = 0.03;
constexpr std::int64_t samples = 20;  // of the weights, for predictions
const Prior gaussian = GaussianPrior{.sd = 0.1};
const Prior mixture = ScaleMixturePrior{.pi = 0.25, .sd1 = 1, .sd2 = std::exp(-6.0)};

struct Setting {
    Dataset<float> train_data, test_data;
    std::int64_t width = default_width, epochs = default_epochs;
    std::uint64_t seed = 1;
    std::vector<std::string> methods;
    bool quick = false, fresh = false;

    bool wants(const std::string& method) const {
        return methods.empty() || std::find(methods.begin(), methods.end(), method) != methods.end();
    }
};

Sequential<float> network(std::int64_t width, double dropout_rate = 0) {
    return Sequential{Flatten(), Dense(784, width),     Relu(),          Dropout(dropout_rate), Dense(width, width),
                      Relu(),    Dropout(dropout_rate), Dense(width, 10)};
}

// Trains a network, and prints its line of the table. False after Ctrl-C.
bool fit(const std::string& method, const char* name, Sequential<float>& net, const Optimiser& optimiser,
         const Setting& s, bool sampled, const KlWeight& kl = KlWeight::uniform()) {
    Categorical likelihood;
    const std::string file =
        "bbb_" + method + "_" + std::to_string(s.width) + "_seed_" + std::to_string(s.seed) + ".safetensors";
    if (s.fresh) std::filesystem::remove(file);
    const TrainResult result = train(net, likelihood, s.train_data,
                                     {.epochs = s.epochs,
                                      .batch = batch,
                                      .optimiser = optimiser,
                                      .seed = s.seed,
                                      .kl = kl,
                                      .checkpoint = s.quick ? "" : file,
                                      .resume = !s.quick && !s.fresh});
    if (result.end == TrainResult::End::interrupted) return false;
    const Tensor<float> plain = Categorical<float>::probabilities(predict(net, s.test_data.inputs));
    const Tensor<float> p =
        sampled ? predict_samples<float>(net, s.test_data.inputs, {.samples = samples, .seed = s.seed}).probabilities()
                : plain;
    const EpochRecord& last = result.history.back();
    std::printf("%-30s %7.2f %7.2f %8.4f %7.4f %11.0f %11.0f %7.2f\n", name,
                100 - 100 * accuracy(p, s.test_data.labels), 100 - 100 * accuracy(plain, s.test_data.labels),
                nll(p, s.test_data.labels), ece(p, s.test_data.labels),
                last.loss * static_cast<double>(s.train_data.size()), last.complexity,
                last.bits_per_weight(parameter_count<float>(net) / 2));
    std::fflush(stdout);
    return true;
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
    std::printf("\nPruned by signal-to-noise, posterior means, %s:\n", mixture.describe().c_str());
    std::printf("%8s %9s %8s %8s %8s %10s %12s %14s\n", "removed", "weights", "error %", "-log p", "ECE", "bytes",
                "us, 1 image", "ms, 1,000");
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

// A whole number from 1 up, or nothing.
std::optional<std::int64_t> number(const std::string& text) {
    std::int64_t n = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
    if (error != std::errc() || end != text.data() + text.size() || n < 1) return {};
    return n;
}

// False where an argument is not understood.
bool read_arguments(const Arguments& arguments, Setting& s) {
    const std::vector<std::string> known{"sgd", "dropout", "gaussian", "mixture", "weak_kl"};
    std::size_t numbers = 0;
    for (const std::string& argument : arguments.values) {
        const auto n = number(argument);
        if (n && numbers == 0)
            s.width = *n;
        else if (n && numbers == 1)
            s.epochs = *n;
        else if (n && numbers == 2)
            s.seed = static_cast<std::uint64_t>(*n);
        else if (std::find(known.begin(), known.end(), argument) != known.end())
            s.methods.push_back(argument);
        else {
            std::fprintf(stderr,
                         "mnist_bayes_by_backprop: cannot use \"%s\"; [WIDTH [EPOCHS [SEED]]] are whole numbers from 1 "
                         "up, the methods sgd, dropout, gaussian, mixture, weak_kl\n",
                         argument.c_str());
            return false;
        }
        numbers += n ? 1 : 0;
    }
    return true;
}

int run(const Arguments& arguments) {
    Setting s;
    s.quick = arguments.quick;
    s.fresh = arguments.fresh;
    if (!read_arguments(arguments, s)) return 1;
    if (s.quick) s.width = 50, s.epochs = 1;
    const std::string directory = s.quick ? embedded_data("mnist") : data_directory("mnist");
    s.train_data = read_image_set<float>(directory, "train");
    s.test_data = read_image_set<float>(directory, "test");
    if (s.train_data.size() == 60000) s.train_data = split_last(s.train_data, 10000).first;
    const std::int64_t steps = s.epochs * ((s.train_data.size() + batch - 1) / batch);
    std::printf("%lld digits to learn from, %lld to be tested on; 784-%lld-%lld-10, %lld epochs, seed %llu\n\n",
                static_cast<long long>(s.train_data.size()), static_cast<long long>(s.test_data.size()),
                static_cast<long long>(s.width), static_cast<long long>(s.width), static_cast<long long>(s.epochs),
                static_cast<unsigned long long>(s.seed));
    std::printf("%-30s %7s %7s %8s %7s %11s %11s %7s\n", "", "error %", "(means)", "-log p", "ECE", "likelihood",
                "complexity", "bits");

    const Optimiser adam = Adam{.rate = Schedule::cosine(learning_rate, steps)};
    const Optimiser momentum = Momentum{.rate = Schedule::cosine(0.05, steps)};
    const auto bayes = [&](const Prior& prior) {
        return bayesian(network(s.width), {.prior = prior, .posterior = mean_field<float>(initial_sd)});
    };
    Sequential point = network(s.width), dropped = network(s.width, 0.5);
    Sequential normal = bayes(gaussian), mixed = bayes(mixture), weak = bayes(mixture);
    if (s.wants("sgd") && !fit("sgd", "SGD", point, momentum, s, false)) return 1;
    if (s.wants("dropout") && !fit("dropout", "SGD, dropout", dropped, momentum, s, false)) return 1;
    if (s.wants("gaussian") && !fit("gaussian", "BBB, Gaussian prior", normal, adam, s, true)) return 1;
    if (s.wants("mixture") && !fit("mixture", "BBB, scale mixture", mixed, adam, s, true)) return 1;
    if (s.wants("weak_kl") &&
        !fit("weak_kl", "BBB, scale mixture, weak KL", weak, adam, s, true, KlWeight::beta(weak_kl)))
        return 1;
    std::printf("(likelihood and complexity costs in nats over the training data, bits of complexity a weight)\n");
    if (!s.wants("mixture")) return 0;
    prune_table(mixed, s);
    draw_signal_to_noise(mixed);
    return 0;
}

int main(int argc, char** argv) { return run_example(argc, argv, run); }
