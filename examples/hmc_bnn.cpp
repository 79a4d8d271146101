// What is the posterior of a network really like, and how near to it do the usual methods come?
//
//     ./run example hmc_bnn
//
// Full-batch HMC on all weights of a small network (49-16-10, tanh, 970 weights, prior N(0, 1)), which learns 1,000
// digits of 7 x 7 pixels, until it has converged; then SGLD, SGHMC, Bayes by Backprop, an ensemble and a single network
// on the same posterior, held against it. After Izmailov, Vikram, Hoffman and Wilson, What are Bayesian neural network
// posteriors really like?, 2021, who did it with 512 TPUs. A trajectory is as long as theirs, pi/2 sds of the prior:
// where only the prior acts, it ends at a place independent of the one where it began.
//
//     agreement        the share of test digits for which both find the same class most probable
//     total variation  1/2 sum_c |p(c) - q(c)|, the mean over the test digits
//     temperature      the mean of theta . grad U / d over draws, which is 1 under exp(-U)
//
// Weights are not identified: hidden units can change places and signs, and a chain stays at one of the many mirror
// images of a mode. What the network computes is the same at all of them; R-hat has to be judged there.
//
// Expected output: three tables and the figure hmc_bnn. HMC has converged where it matters: R-hat of predictions
// is 1.01 at most, of weights up to 1.25. One of its chains is at a total variation of 0.014 from the others, SGHMC at
// 0.017, SGLD at 0.027, the ensemble at 0.09, Bayes by Backprop at 0.13, a single network at 0.15. By their entropy
// pictures of clothes are told from digits with an AUROC of 0.94 by the samplers, and of 0.8 at most by the others.
// (One seed; +- is for the choice of test items, not for that of the training digits or of the starts.)
#include "common/example.hpp"
#include "common/figure.hpp"
#include "common/stage.hpp"
#include "common/table.hpp"

#include <pollen/data/embedded.hpp>
#include <pollen/data/image_set.hpp>
#include <pollen/nn/bayes.hpp>
#include <pollen/nn/layers.hpp>
#include <pollen/nn/likelihoods.hpp>
#include <pollen/nn/metrics.hpp>
#include <pollen/nn/network_potential.hpp>
#include <pollen/nn/predictive.hpp>
#include <pollen/nn/train.hpp>
#include <pollen/samplers/hmc.hpp>
#include <pollen/samplers/predict.hpp>
#include <pollen/samplers/run.hpp>
#include <pollen/samplers/sghmc.hpp>
#include <pollen/samplers/sgld.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numbers>

using namespace pollen;

constexpr double prior_sd = 1;
constexpr std::int64_t chains = 4;
constexpr std::int64_t batch = 50;  // items of a step of SGLD and SGHMC
constexpr std::int64_t kept = 250;  // draws of each of their chains, and of Bayes by Backprop

// 28 x 28 pixels become 7 x 7 means, of about -1/2 to 3.
Dataset<float> small_images(const std::string& set, const std::string& part) {
    Dataset<float> data = read_image_set<float>(embedded_data(set), part);
    const Sequential<float> pool{AvgPool2d(4), Flatten()};
    data.inputs = predict(pool, data.inputs);
    for (float& x : data.inputs.mutable_values()) x = 4 * x - 0.5f;
    return data;
}

struct Setting {
    const Example& example;
    Dataset<float> train_data, test_data, clothes;
    Sequential<float> net;
    NetworkPotential<float> potential;

    Setting(const Example& e, std::int64_t digits, std::int64_t hidden)
        : example(e),
          train_data(small_images("mnist", "train").slice(0, digits)),
          test_data(small_images("mnist", "test")),
          clothes(small_images("fashion-mnist", "test")),
          net{Dense(49, hidden), Tanh(), Dense(hidden, 10)},
          potential(net, Categorical<float>(), train_data, {.prior = GaussianPrior{.sd = prior_sd}}) {}
};

// ---- Methods: each finds the probabilities of the classes for the test digits and for pictures of clothes. ----

template <class Sampler>
Draws sample(const Setting& s, const Sampler& sampler, RunOptions options) {
    options.chains = chains;
    options.seed = s.example.seed;
    for (std::uint64_t k = 0; k < chains; ++k) {
        const std::vector<float> start = s.potential.start(100 * s.example.seed + k);
        options.starts.emplace_back(start.begin(), start.end());
    }
    return unless_stopped(run_chains(s.potential, sampler, options));
}

Tensor<double> in_double(const Tensor<float>& x) {
    Tensor<double> y = Tensor<double>::zeros(x.shape());
    std::ranges::copy(x, y.mutable_data());
    return y;
}

// Of test digits and clothes, the probabilities by predictive(inputs).
template <class Predict>
Found both(const Setting& s, const Predict& predictive) {
    return {{"test", in_double(predictive(s.test_data.inputs).probabilities())},
            {"clothes", in_double(predictive(s.clothes.inputs).probabilities())}};
}

// theta . grad U / d at each draw, (chains, draws).
Tensor<double> temperatures(const Setting& s, const Draws& draws) {
    const auto potential = s.potential.clone();
    const std::int64_t d = potential->size();
    Tensor<double> found = Tensor<double>::zeros({chains, draws.size()});
    std::vector<float> gradient(static_cast<std::size_t>(d));
    each_draw(draws, 1, [&](std::int64_t chain, std::int64_t draw, std::span<const double> values, double) {
        const std::vector<float> theta(values.begin(), values.end());
        potential->evaluate(theta, gradient);
        double sum = 0;
        for (std::size_t i = 0; i < theta.size(); ++i)
            sum += static_cast<double>(theta[i]) * static_cast<double>(gradient[i]);
        found(chain, draw) = sum / static_cast<double>(d);
    });
    return found;
}

Found found_by(const Setting& s, const Draws& draws) {
    Found found = both(s, [&](const Tensor<float>& x) { return predict_draws<float>(s.net, draws, x); });
    const QuantitySummary temperature = summarise(Chains(temperatures(s, draws)));
    found.emplace("temperature", Tensor<double>{temperature.mean, temperature.mcse});
    return found;
}

// In units in which the potential of N items is N times that of one, steps for N items have the factor 1 / N.
double step_for(const Setting& s, double of_one) { return of_one / static_cast<double>(s.train_data.size()); }

Found by_sgld(const Setting& s, std::int64_t steps) {
    return found_by(s, sample(s, Sgld{.step_size = step_for(s, 0.2), .batch = batch},
                              {.warmup = steps / 4, .draws = kept, .thin = steps / kept}));
}

Found by_sghmc(const Setting& s, std::int64_t steps) {
    const Sghmc sampler{
        .step_size = step_for(s, 0.05), .friction = 0.1, .batch = batch, .noise = GradientNoise::estimated()};
    return found_by(s, sample(s, sampler, {.warmup = steps / 4, .draws = kept, .thin = steps / kept}));
}

TrainOptions training(const Setting& s, std::int64_t updates, std::uint64_t seed) {
    const std::int64_t items = std::min<std::int64_t>(100, s.train_data.size());
    return {.epochs = std::max<std::int64_t>(1, updates * items / s.train_data.size()),
            .batch = items,
            .optimiser = Adam{.rate = Schedule::cosine(0.01, updates)},
            .seed = seed,
            .show = Show::nothing};
}

Found by_backprop(const Setting& s, std::int64_t updates) {
    Sequential twin = bayesian(s.net, {.prior = GaussianPrior{.sd = prior_sd},
                                       .posterior = mean_field<float>(0.05),
                                       .estimator = Estimator::local,
                                       .complexity = Complexity::closed});
    Categorical likelihood;
    unless_stopped(train(twin, likelihood, s.train_data, training(s, updates, s.example.seed)));
    const SampleOptions options{.samples = kept, .seed = s.example.seed};
    return both(s, [&](const Tensor<float>& x) { return predict_samples<float>(twin, x, options); });
}

// Networks with the most probable weights, from different starts.
Found by_ensemble(const Setting& s, std::size_t members, std::int64_t updates) {
    Ensemble<float> ensemble(s.net, members);
    for (std::size_t k = 0; k < members; ++k) {
        Categorical likelihood;
        TrainOptions options = training(s, updates, s.example.seed + 1000 * k);
        options.prior_sd = prior_sd;
        unless_stopped(train(ensemble[k], likelihood, s.train_data, options));
    }
    return both(s, [&](const Tensor<float>& x) { return predict_ensemble(ensemble, x); });
}

// ---- Convergence. ----

// The probabilities that the network gives to all classes of some digits, (chains, draws, 10 digits).
Tensor<double> function_values(const Setting& s, const Draws& draws, std::int64_t digits) {
    const Tensor<float> x = s.test_data.slice(0, digits).inputs;
    Tensor<double> values = Tensor<double>::zeros({chains, draws.size(), 10 * digits});
    double* next = values.mutable_data();
    each_draw<float>(s.net, draws, x, {}, [&](const Tensor<float>& outputs, double) {
        next = std::ranges::copy(Categorical<float>::probabilities(outputs), next).out;
    });
    return values;
}

struct Convergence {
    std::vector<double> rhat, ess;
    std::size_t worst = 0;

    explicit Convergence(const Tensor<double>& draws) {
        for (const QuantitySummary& q : summarise(draws)) {
            rhat.push_back(q.rhat);
            ess.push_back(q.ess_bulk);
        }
        worst = static_cast<std::size_t>(std::ranges::max_element(rhat) - rhat.begin());
    }
    std::vector<double> above_one() const {
        std::vector<double> x = rhat;
        for (double& r : x) r -= 1;
        return x;
    }
    void add_to(ResultTable& table, const char* name) const {
        table.row({name,
                   {static_cast<double>(rhat.size()), 0},
                   {quantile(rhat, 0.5), 3},
                   {quantile(rhat, 0.95), 3},
                   {rhat[worst], 3},
                   {quantile(ess, 0.5), 0},
                   {quantile(ess, 0.05), 0}});
    }
};

void draw_trace(Panel& panel, const Tensor<double>& draws, std::size_t which) {
    const std::int64_t length = draws.shape()[1], every = std::max<std::int64_t>(1, length / 100);
    for (std::int64_t chain = 0; chain < chains; ++chain) {
        std::vector<double> x, y;
        for (std::int64_t k = 0; k < length; k += every) {
            x.push_back(static_cast<double>(k));
            y.push_back(draws(chain, k, static_cast<std::int64_t>(which)));
        }
        panel.line("chain " + std::to_string(chain + 1), x, y);
    }
    panel.set("unset key");
}

// The share of the values below each of them.
void draw_share(Panel& panel, const std::string& name, std::vector<double> values) {
    std::ranges::sort(values);
    std::vector<double> x, share;
    for (std::size_t k = 0; k <= 100; ++k) {
        x.push_back(values[k * (values.size() - 1) / 100]);
        share.push_back(static_cast<double>(k) / 100);
    }
    panel.line(name, x, share);
}

void show_convergence(const Setting& s, const Draws& hmc, Figure& figure) {
    const Tensor<double> functions = function_values(s, hmc, 200);
    const Convergence of_functions(functions), of_weights(hmc.values);
    ResultTable table({"HMC", "numbers", "R-hat: median", "95 %", "greatest", "ESS: median", "5 %"});
    of_functions.add_to(table, "predictions");
    of_weights.add_to(table, "weights");
    table.show();
    table.save(s.example.path("hmc_bnn_convergence"));

    Panel& rhats = figure.panel("Do four chains of HMC agree?", "R-hat - 1", "share below");
    draw_share(rhats, "predictions", of_functions.above_one());
    draw_share(rhats, "weights", of_weights.above_one());
    rhats.set("set logscale x");
    rhats.set("set xrange [0.0003:3]");
    rhats.set("set key bottom right");
    draw_trace(figure.panel("The weight with the greatest R-hat, four chains", "draw", "weight"), hmc.values,
               of_weights.worst);
    draw_trace(figure.panel("The prediction with the greatest R-hat", "draw", "probability"), functions,
               of_functions.worst);
}

// ---- Comparison with HMC. ----

struct Mean {
    double mean = 0, error = 0;
    explicit Mean(const std::vector<double>& x) {
        const double n = static_cast<double>(x.size());
        double squares = 0;
        for (const double v : x) mean += v / n;
        for (const double v : x) squares += (v - mean) * (v - mean);
        error = std::sqrt(squares / (n - 1) / n);
    }
    Cell cell(int digits, double scale = 1) const { return {scale * mean, scale * error, digits}; }
};

struct Comparison {
    std::vector<double> agree, variation, right, surprise;

    Comparison(const Tensor<double>& p, const Tensor<double>& hmc, const Indices& labels) {
        for (std::int64_t i = 0; i < p.shape()[0]; ++i) {
            const std::span<const double> a(p.data() + 10 * i, 10), b(hmc.data() + 10 * i, 10);
            const auto top = std::ranges::max_element(a) - a.begin();
            double difference = 0;
            for (std::size_t c = 0; c < 10; ++c) difference += std::abs(a[c] - b[c]) / 2;
            variation.push_back(difference);
            agree.push_back(top == std::ranges::max_element(b) - b.begin());
            right.push_back(top == labels.data()[i]);
            surprise.push_back(-std::log(a[static_cast<std::size_t>(labels.data()[i])]));
        }
    }
};

struct Method {
    std::string name;
    Found found;
    Tensor<double> reference;  // the probabilities of HMC on the test digits
};

// The first chain alone, to be held against all the others.
Method one_chain(const Setting& s, const Draws& hmc) {
    const auto chain = [&](bool first) {
        return [&s, &hmc, first](const Tensor<float>& x) {
            Predictive<float> predictive;
            std::int64_t count = 0;
            each_draw<float>(s.net, hmc, x, {}, [&](const Tensor<float>& y, double) {
                if ((count++ < hmc.size()) == first) predictive.add(y);
            });
            return predictive;
        };
    };
    return {"HMC, one chain", both(s, chain(true)), both(s, chain(false)).at("test")};
}

// Means with intervals of two standard errors, one a method.
struct Intervals {
    std::vector<double> x, y, low, high;
    void add(const Mean& m) {
        x.push_back(static_cast<double>(x.size()));
        y.push_back(m.mean);
        low.push_back(m.mean - 2 * m.error);
        high.push_back(m.mean + 2 * m.error);
    }
    void draw(Panel& panel, const std::vector<std::string>& names) const {
        panel.intervals("", x, y, low, high);
        panel.categories(names);
        panel.set("set xtics rotate by -35");
        panel.set("set yrange [0:*]");
    }
};

void compare(const Setting& s, const std::vector<Method>& methods, Panel& distance, Panel& scores, Panel& entropies) {
    ResultTable table({"method", "agreement, %", "total variation", "accuracy, %", "-log p", "ECE", "temperature"});
    ResultTable clothes({"method", "entropy of digits", "entropy of clothes", "AUROC"});
    std::vector<std::string> names;
    Intervals variations, surprises;
    for (const Method& m : methods) {
        const Tensor<double>&p = m.found.at("test"), &out = m.found.at("clothes");
        const Comparison c(p, m.reference, s.test_data.labels);
        const Mean variation(c.variation), surprise(c.surprise);
        const bool sampled = m.found.contains("temperature");
        table.row({m.name,
                   Mean(c.agree).cell(1, 100),
                   variation.cell(3),
                   Mean(c.right).cell(1, 100),
                   surprise.cell(3),
                   {ece(p, s.test_data.labels), 3},
                   sampled ? Cell(m.found.at("temperature")(0), m.found.at("temperature")(1), 3) : Cell("-")});
        const Tensor<double> in_entropy = predictive_entropy(p), out_entropy = predictive_entropy(out);
        clothes.row({m.name,
                     Mean({in_entropy.begin(), in_entropy.end()}).cell(3),
                     Mean({out_entropy.begin(), out_entropy.end()}).cell(3),
                     {auroc(in_entropy, out_entropy), auroc_standard_error(in_entropy, out_entropy), 3}});
        names.push_back(m.name);
        variations.add(variation);
        surprises.add(surprise);
        if (m.name != "HMC, one chain") draw_share(entropies, m.name, {out_entropy.begin(), out_entropy.end()});
    }
    table.show();
    table.save(s.example.path("hmc_bnn"));
    clothes.show();
    clothes.save(s.example.path("hmc_bnn_clothes"));
    variations.draw(distance, names);
    surprises.draw(scores, names);
    entropies.set("set xrange [0:2.4]");
    entropies.set("set yrange [0:1.6]");
}

int main(int argc, char** argv) {
    Example example("Full-batch HMC on the weights of a network, and how near to it other methods come.", "2 minutes");
    std::int64_t digits = 1000, hidden = 16, draws = 1000, steps = 200000, updates = 20000, members = 20;
    example.option("--digits", digits, 200, "digits to learn from, 5000 at most");
    example.option("--hidden", hidden, 5, "units in the hidden layer");
    example.option("--draws", draws, 60, "draws of each of four chains of HMC");
    example.option("--steps", steps, 3000,
                   "steps of each of four chains of SGLD and SGHMC, after a quarter of warm-up");
    example.option("--updates", updates, 1500, "steps of Adam for Bayes by Backprop; networks have a fifth of it");
    example.option("--members", members, 5, "networks in the ensemble");
    return example.run(argc, argv, [&] {
        if (digits < batch || digits > 5000) throw ValueError("there are 5000 digits: --digits 50 to --digits 5000");
        if (draws < 20 || steps < 1000 || updates < 5 || members < 1)
            throw ValueError("too short a run: --draws 20, --steps 1000, --updates 5 and --members 1 are the least");
        const Setting s(example, digits, hidden);
        std::printf("%lld digits, %lld weights. HMC ...\n", static_cast<long long>(digits),
                    static_cast<long long>(s.potential.size()));
        const Hmc sampler{.step_size = 0.02,
                          .time = std::numbers::pi / 2 * prior_sd,
                          .target_acceptance = 0.85,
                          .metric = MetricKind::unit};
        const Draws hmc =
            sample(s, sampler,
                   {.warmup = draws / 4, .draws = draws, .directory = example.kept("hmc").string(), .resume = true});
        const Tensor<double> acceptance = hmc.statistic(&ChainRecord::acceptance);
        std::printf("Acceptance %.2f, %lld leapfrog steps a draw.\n", Mean({acceptance.begin(), acceptance.end()}).mean,
                    static_cast<long long>(hmc.chains[0].gradient_count / hmc.chains[0].steps));
        Figure figure(example.path("hmc_bnn"), 3);
        show_convergence(s, hmc, figure);

        const Found by_hmc = found_by(s, hmc);
        const Tensor<double>& reference = by_hmc.at("test");
        std::vector<Method> methods{{"HMC", by_hmc, reference}, one_chain(s, hmc)};
        const auto add = [&](const char* name, const std::function<Found()>& work) {
            methods.push_back({name, stage(example, name, work), reference});
        };
        add("SGHMC", [&] { return by_sghmc(s, steps); });
        add("SGLD", [&] { return by_sgld(s, steps); });
        add("ensemble", [&] { return by_ensemble(s, static_cast<std::size_t>(members), updates / 5); });
        add("BBB", [&] { return by_backprop(s, updates); });
        add("one network", [&] { return by_ensemble(s, 1, updates / 5); });

        Panel& distance = figure.panel("Distance to HMC, 95 % intervals", "", "total variation");
        Panel& scores = figure.panel("1,000 test digits, 95 % intervals", "", "-log p");
        compare(s, methods, distance, scores,
                figure.panel("Pictures of clothes, by networks that know digits", "entropy, nats", "share below"));
        figure.save();
        std::printf(
            "\nThe chains agree on what the network computes, not yet on its weights, and need not: hidden units\n"
            "change places. SGHMC, at T = 1 and small steps, comes nearly as near to HMC as one of its chains to the\n"
            "others, SGLD within twice that; the ensemble is several times as far away, Bayes by Backprop and one\n"
            "network further. Izmailov et al. found ensembles as near as SGLD, and nearer than variational inference.\n"
            "Here the second holds and the first does not; perhaps because a problem this small leaves time for some\n"
            "twenty relaxation times of SGLD. On test digits the ensemble scores as well as HMC or a little better,\n"
            "and is better calibrated (ECE). What tells them apart are pictures of clothes: the samplers' entropies\n"
            "are high for most of them, those of the others are not.\n");
    });
}
