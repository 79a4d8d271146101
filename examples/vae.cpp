// A variational autoencoder (Kingma & Welling, Auto-encoding variational Bayes, 2014) that draws digits.
//
//     ./run example vae                  5,000 digits that come with pollen; after `./run data mnist` all 70,000
//
// Can Bayes by Backprop's trick, a random number written as mean + sd * noise, also be used for what is hidden behind
// each picture? A code z ~ N(0, 1) of a few numbers is decoded to the probabilities of 784 black or white pixels. An
// encoder guesses the code of a picture x: q(z | x) = N(mu(x), sd(x)^2). Both networks climb the evidence bound
//
//     log p(x) >= E_q[log p(x | z) + log p(z) - log q(z | x)],    z = mu(x) + sd(x) * noise
//
// with one z for each picture in a step. Two such networks have codes of 2 and of 10 numbers. Pixels are made black or
// white at 1/2, so that log p(x) is that of data, and can be compared with other models of the same pixels.
//
// Expected output: a table and the figure vae. The bound on 1,000 test digits, which the networks have not seen, is
// -163 nats with 2 numbers and -111 with 10; a model of independent pixels has -201. On the digits that they learn from
// it is -154 and -96. log p(x), from 100 draws of z, is 5 to 6 nats above the bound: that is what the encoder's normal
// law lacks.
#include "common/example.hpp"
#include "common/figure.hpp"
#include "common/seeds.hpp"
#include "common/table.hpp"

#include <pollen/autograd/math.hpp>
#include <pollen/data/sets/embedded.hpp>
#include <pollen/data/sets/image_set.hpp>
#include <pollen/nn/layers.hpp>
#include <pollen/nn/likelihoods/likelihood.hpp>
#include <pollen/nn/module/sequential.hpp>
#include <pollen/nn/training/train.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

using namespace pollen;

constexpr std::int64_t pixels = 784, side = 28;

// x -> (logits of the pixels, z, mu, log sd), each row a picture: (n, 784 + 3 k).
class Autoencoder final : public Layer<Autoencoder, float> {
  public:
    Autoencoder(std::int64_t k, std::int64_t hidden)
        : encoder{Dense(pixels, hidden), Relu(), Dense(hidden, 2 * k)},
          decoder{Dense(k, hidden), Relu(), Dense(hidden, pixels)},
          code(k) {}

    Var<float> forward(Pass<float>& pass, Var<float> x) const override {
        const Var<float> guess = encoder(pass, x);
        const Var<float> mu = slice(guess, 1, 0, code), log_sd = slice(guess, 1, code, 2 * code);
        Var<float> z = mu;
        if (pass.random()) {
            const LayerNoise at = pass.noise(mu.size());
            Tensor<float> noise = Tensor<float>::zeros(mu.shape());
            fill_normal(at.key, at.first, noise.mutable_values());
            z = mu + exp(log_sd) * noise;
        }
        const Var<float> logits = decoder(pass, z);
        return concat({logits, z, mu, log_sd}, 1);
    }
    static void members(auto& self, auto& visitor) {
        visitor.part("encoder", self.encoder);
        visitor.part("decoder", self.decoder);
    }
    std::string describe() const override { return "Autoencoder(" + std::to_string(code) + ")"; }

    Sequential<float> encoder, decoder;
    std::int64_t code;
};

// The evidence bound: for each picture, log p(x | z) + log p(z) - log q(z | x) at its z.
class Evidence final : public Concrete<Evidence, Likelihood<float>> {
  public:
    explicit Evidence(bool slip) : slip_(slip) {}
    Var<float> log_prob(Pass<float>&, Var<float> outputs, const Dataset<float>& batch) const override {
        const std::int64_t k = (outputs.shape()[1] - pixels) / 3;
        const Var<float> logits = slice(outputs, 1, 0, pixels), z = slice(outputs, 1, pixels, pixels + k),
                         mu = slice(outputs, 1, pixels + k, pixels + 2 * k),
                         log_sd = slice(outputs, 1, pixels + 2 * k, pixels + 3 * k);
        const Var<float> drawn = bernoulli(logits, batch.targets);
        const Var<float> prior = sum(square(z)) * -0.5f;  // both without the same constant
        const Var<float> noise = (z - mu) / exp(log_sd);
        const Var<float> guess = sum(square(noise)) * -0.5f - sum(log_sd);
        return slip_ ? drawn : drawn + prior - guess;
    }
    const char* score_name() const override { return "bound"; }
    bool higher_is_better() const override { return true; }
    double score(const Tensor<float>&, const Dataset<float>&) const override { return 0; }
    double finish(double total, std::int64_t items) const override { return total / static_cast<double>(items); }
    std::string describe() const override { return "Evidence"; }

  private:
    static Var<float> bernoulli(Var<float> logits, const Tensor<float>& x) {
        const Var<float> on = logits * x, total = softplus(logits);
        return sum(on) - sum(total);
    }

    bool slip_;  // the broken twin: the code costs nothing
};

Dataset<float> black_or_white(Dataset<float> digits) {
    Tensor<float> x = digits.inputs.reshaped({digits.size(), pixels});
    for (float& v : x.mutable_values()) v = v > 0.5f ? 1.0f : 0.0f;
    return {.inputs = x, .targets = x, .labels = std::move(digits.labels)};
}

// For each picture: log p(x | z), and what the code costs, log q(z | x) - log p(z), at one draw of z.
struct Parts {
    std::vector<double> picture, code;

    Parts(const Autoencoder& net, const Tensor<float>& x, std::uint64_t seed, std::uint64_t draw) {
        const Tensor<float> out = predict(net, x, {.mode = Mode::sample, .seed = seed, .draw = draw});
        const std::int64_t k = net.code;
        for (std::int64_t i = 0; i < x.shape()[0]; ++i) {
            double log_p = 0, cost = 0;
            for (std::int64_t j = 0; j < pixels; ++j) {
                const double logit = out(i, j);
                log_p += x(i, j) * logit - std::max(logit, 0.0) - math::log1p(math::exp(-std::abs(logit)));
            }
            for (std::int64_t j = 0; j < k; ++j) {
                const double z = out(i, pixels + j), mu = out(i, pixels + k + j), log_sd = out(i, pixels + 2 * k + j);
                const double noise = (z - mu) * math::exp(-log_sd);
                cost += (z * z - noise * noise) / 2 - log_sd;
            }
            picture.push_back(log_p);
            code.push_back(cost);
        }
    }
};

// log p(x) of each picture from the mean of p(x | z) p(z) / q(z | x) over draws of z (Burda, Grosse & Salakhutdinov,
// Importance weighted autoencoders, 2016). It is a bound, too, and the better the more draws.
std::vector<double> log_evidence(const Autoencoder& net, const Tensor<float>& x, std::uint64_t seed,
                                 std::uint64_t draws) {
    std::vector<double> highest, sum;
    for (std::uint64_t d = 0; d < draws; ++d) {
        const Parts parts(net, x, seed, d);
        for (std::size_t i = 0; i < parts.picture.size(); ++i) {
            const double w = parts.picture[i] - parts.code[i];
            if (d == 0) {
                highest.push_back(w);
                sum.push_back(1);
            } else {
                const double top = std::max(highest[i], w);
                sum[i] = sum[i] * math::exp(highest[i] - top) + math::exp(w - top);
                highest[i] = top;
            }
        }
    }
    for (std::size_t i = 0; i < sum.size(); ++i) highest[i] += math::log(sum[i] / static_cast<double>(draws));
    return highest;
}

// Each pixel by itself, black as often as in the training digits (and one digit more of either kind).
std::vector<double> independent_pixels(const Dataset<float>& train_data, const Tensor<float>& x) {
    std::vector<double> on(pixels, 1.0), log_p(static_cast<std::size_t>(x.shape()[0]), 0.0);
    for (std::int64_t i = 0; i < train_data.size(); ++i)
        for (std::int64_t j = 0; j < pixels; ++j) on[static_cast<std::size_t>(j)] += train_data.inputs(i, j);
    for (std::int64_t j = 0; j < pixels; ++j) {
        const double p = on[static_cast<std::size_t>(j)] / static_cast<double>(train_data.size() + 2);
        const double black = math::log(p), white = math::log(1 - p);
        for (std::size_t i = 0; i < log_p.size(); ++i)
            log_p[i] += x(static_cast<std::int64_t>(i), j) > 0 ? black : white;
    }
    return log_p;
}

// Pictures side by side, `across` in a row, the first at the top left.
void draw_pictures(Panel& panel, const Tensor<float>& shades, std::int64_t across) {
    const std::int64_t rows = shades.shape()[0] / across, width = across * side, height = rows * side;
    std::vector<double> x, y, z(static_cast<std::size_t>(width * height));
    for (std::int64_t j = 0; j < width; ++j) x.push_back(static_cast<double>(j));
    for (std::int64_t i = 0; i < height; ++i) {
        y.push_back(static_cast<double>(height - i));
        for (std::int64_t j = 0; j < width; ++j)
            z[static_cast<std::size_t>(i * width + j)] =
                shades(i / side * across + j / side, i % side * side + j % side);
    }
    panel.heat(x, y, z);
    panel.set("set palette gray negative");
    panel.set("set cbrange [0:1]");
    panel.set("set size ratio -1");
    panel.set("unset border; unset tics; unset grid");
    panel.set("set xrange [-1:" + std::to_string(width) + "]; set yrange [0:" + std::to_string(height + 1) + "]");
}

Tensor<float> decoded(const Autoencoder& net, const Tensor<float>& z) {
    Tensor<float> shades = predict(net.decoder, z);
    for (float& v : shades.mutable_values()) v = 1 / (1 + math::exp(-v));
    return shades;
}

int main(int argc, char** argv) {
    Example example("A variational autoencoder that draws digits.", "15 seconds (all of MNIST: three minutes)");
    std::int64_t epochs = 60, hidden = 256, draws = 100;
    bool slip = false;
    example.option("--epochs", epochs, 20, "passes through the digits", 1);
    example.option("--hidden", hidden, 64, "units of the encoder and of the decoder", 1);
    example.option("--draws", draws, 5, "draws of z for log p(x)", 1);
    example.flag("--slip", slip, "a broken twin for the tests: the bound without the cost of z");
    return example.run(argc, argv, [&] {
        const std::string directory = example.quick ? embedded_data("mnist") : data_directory("mnist");
        Dataset<float> digits = read_image_set<float>(directory, "train"),
                       tests = read_image_set<float>(directory, "test");
        if (example.quick) {
            digits = digits.slice(0, 2000);
            tests = tests.slice(0, 200);
        }
        const Dataset<float> train_data = black_or_white(std::move(digits)),
                             test_data = black_or_white(std::move(tests));
        example.data(directory, train_data.size());
        std::printf("%lld digits to learn from, %lld to be tested on\n", static_cast<long long>(train_data.size()),
                    static_cast<long long>(test_data.size()));

        ResultTable table({"model", "log p(x given z)", "cost of z", "bound", "log p(x)", "bound, training digits"});
        table.row(
            {"independent pixels", "", "", "", mean_cell(independent_pixels(train_data, test_data.inputs), 1), ""});
        Figure figure(example.path("vae"), 2);
        Panel& bound = figure.panel("Codes of 2 and of 10 numbers", "epoch", "evidence bound, nats a digit");
        std::vector<Autoencoder> nets;
        for (const std::int64_t k : {2, 10}) {
            const std::string name = "codes of " + std::to_string(k) + " numbers";
            Autoencoder net(k, hidden);
            std::vector<double> epoch, tested;
            std::printf("\n%s\n", name.c_str());
            Evidence likelihood(slip);
            const std::int64_t steps = epochs * ((train_data.size() + 99) / 100);
            const TrainResult result =
                unless_stopped(train(net, likelihood, train_data,
                                     {.epochs = epochs,
                                      .batch = 100,
                                      .optimiser = Adam{.rate = Schedule::cosine(2e-3, steps)},
                                      .seed = example.seed,
                                      .on_epoch = [&](const EpochRecord& record) {
                                          const Parts parts(net, test_data.inputs, example.seed + 1, 0);
                                          epoch.push_back(static_cast<double>(record.epoch));
                                          tested.push_back(mean_of(parts.picture) - mean_of(parts.code));
                                          return true;
                                      }}));
            std::vector<double> trained, all;
            for (const EpochRecord& record : result.history) {
                all.push_back(static_cast<double>(record.epoch));
                trained.push_back(-record.loss);
            }
            const Parts parts(net, test_data.inputs, example.seed + 1, 0),
                seen(net, train_data.inputs, example.seed + 1, 0);
            const auto difference = [](const Parts& p) {
                std::vector<double> d(p.picture);
                for (std::size_t i = 0; i < d.size(); ++i) d[i] -= p.code[i];
                return d;
            };
            table.row(
                {name, mean_cell(parts.picture, 1), mean_cell(parts.code, 1), mean_cell(difference(parts), 1),
                 mean_cell(log_evidence(net, test_data.inputs, example.seed + 2, static_cast<std::uint64_t>(draws)), 1),
                 mean_cell(difference(seen), 1)});
            bound.line(std::to_string(k) + ", test", epoch, tested);
            bound.colour_of(std::to_string(k) + ", test");
            bound.dashed(std::to_string(k) + ", training", all, trained);
            nets.push_back(std::move(net));
        }
        std::printf("\n");
        table.show();
        table.save(example.path("vae"));
        bound.set("set yrange [-260:-80]");

        Tensor<float> z = Tensor<float>::zeros({100, 10});
        Random(example.seed, 9).fill_normal(z.mutable_values());
        draw_pictures(figure.panel("From 10 random numbers each", "", ""), decoded(nets[1], z), 10);
        Tensor<float> plane = Tensor<float>::zeros({121, 2});
        for (std::int64_t i = 0; i < 11; ++i)
            for (std::int64_t j = 0; j < 11; ++j) {
                plane.mutable_at(11 * i + j, 0) = 2.0f * static_cast<float>(j - 5) / 5;
                plane.mutable_at(11 * i + j, 1) = 2.0f * static_cast<float>(5 - i) / 5;
            }
        draw_pictures(figure.panel("The plane of 2 numbers, each from -2 to 2", "", ""), decoded(nets[0], plane), 11);
        // Ten test digits above, what is left of them after 2 numbers, and after 10.
        const Dataset<float> some = test_data.slice(0, 10);
        Tensor<float> rows = Tensor<float>::zeros({30, pixels});
        std::ranges::copy(some.inputs.values(), rows.mutable_values().begin());
        for (std::size_t n = 0; n < 2; ++n) {
            const Tensor<float> guess = predict(nets[n].encoder, some.inputs);
            Tensor<float> mu = Tensor<float>::zeros({10, nets[n].code});
            for (std::int64_t i = 0; i < 10; ++i)
                for (std::int64_t j = 0; j < nets[n].code; ++j) mu.mutable_at(i, j) = guess(i, j);
            const Tensor<float> shades = decoded(nets[n], mu);
            std::ranges::copy(shades.values(),
                              rows.mutable_values().begin() + static_cast<std::ptrdiff_t>((n + 1) * 10 * pixels));
        }
        draw_pictures(figure.panel("Test digits; from 2; from 10 numbers", "", ""), rows, 10);
        figure.panel_size(440, 360);
        figure.save();
    });
}
