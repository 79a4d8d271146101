// What is the posterior of a network really like, and how near to it do the usual methods come?
//
//     ./run example hmc_bnn
//     ./run example hmc_bnn --network convolutional --out results/hmc_bnn_full      half an hour
//
// Full-batch HMC samples all weights of a small network that learns 1,000 digits, until its predictions have converged.
// Then SGLD, SGHMC, Bayes by Backprop, an ensemble and a single network approximate the same posterior, and their
// predictions are compared with those of HMC. Ctrl-C stops the program; the same command goes on from there.
//
// The experiment is that of Izmailov, Vikram, Hoffman and Wilson, What are Bayesian neural network posteriors really
// like?, 2021. A trajectory of HMC is as long as theirs, pi/2 standard deviations of the prior: if there was only the
// prior, it would end at a place that is independent of the one where it began. What is smaller here:
//
//                 the paper, CIFAR-10             --network convolutional          --network dense
//     pixels      32 x 32, in colour              14 x 14, grey                    7 x 7, grey
//     items       40,960, in its code             1,000                            1,000
//     network     ResNet-20, with Swish and       2 convolutions, 16 and 32        49-16-10, tanh; 970 weights
//                 filter response normalisation   channels, with Swish and
//                                                 filter response normalisation;
//                                                 6,234 weights
//     prior       N(0, 1/5)                       N(0, 1/5)                        N(0, 1)
//     HMC         3 chains of 50 + 240 draws      4 chains of 40 + 160 draws       4 chains of 250 + 1,000 draws
//                 on 512 TPUs
//
//     agreement        the share of test digits for which two methods find the same class most probable
//     total variation  1/2 sum_c |p(c) - q(c)|, the mean over the test digits
//     temperature      the mean of theta . grad U / d over draws, which is 1 under exp(-U)
//
// Weights are not identified: hidden units can change places and signs, and a chain stays at one of many equivalent
// modes. All of them give the same predictions, so R-hat is computed for predictions.
//
// Expected output: three tables and the figure hmc_bnn. The dense network: HMC has converged where it matters. R-hat of
// predictions is 1.01 at most, of weights up to 1.34. One of its chains is at a total variation of 0.014 from the
// others, SGHMC at 0.018, SGLD at 0.025, the ensemble at 0.09, Bayes by Backprop at 0.13, a single network at 0.15. By
// their entropy pictures of clothes are told from digits with an AUROC of 0.93 to 0.94 by the samplers, and of 0.8 at
// most by the others. The paper found something else: ensembles about as near to HMC as SGLD, and both nearer than
// variational inference. (One seed; +- is for the choice of test items, not for that of the training digits or of the
// starts.)
#include "common/example.hpp"
#include "common/figure.hpp"
#include "common/stage.hpp"
#include "common/table.hpp"
#include "hmc_bnn/comparison.hpp"
#include "hmc_bnn/convergence.hpp"
#include "hmc_bnn/predictions.hpp"
#include "hmc_bnn/problem.hpp"

#include <pollen/data/sets/embedded.hpp>
#include <pollen/nn/likelihoods.hpp>
#include <pollen/nn/training/train.hpp>
#include <pollen/nn/variational/bayes.hpp>
#include <pollen/samplers/full_batch/hmc.hpp>
#include <pollen/samplers/minibatch/sghmc.hpp>
#include <pollen/samplers/minibatch/sgld.hpp>
#include <pollen/samplers/run/run_chains.hpp>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <numbers>
#include <numeric>

using namespace pollen;

constexpr std::int64_t batch = 50;  // items of a step of SGLD and SGHMC
constexpr std::int64_t kept = 250;  // draws of each of their chains, and of Bayes by Backprop

template <class Sampler>
Draws sample(const Problem& p, const Sampler& sampler, RunOptions options) {
    options.chains = chains;
    options.seed = p.seed;
    for (std::uint64_t k = 0; k < chains; ++k) {
        const std::vector<float> start = p.potential.start(100 * p.seed + k);
        options.starts.emplace_back(start.begin(), start.end());
    }
    return unless_stopped(run_chains(p.potential, sampler, options));
}

// The potential of N items is N times that of one: steps for N items have the factor 1 / N.
double step_for(const Problem& p, double of_one) { return of_one / static_cast<double>(p.train_data.size()); }

Found by_sgld(const Problem& p, std::int64_t steps) {
    const Sgld sampler{.step_size = step_for(p, 0.2), .batch = batch};
    return predictions(p, sample(p, sampler, {.warmup = steps / 4, .draws = kept, .thin = steps / kept}));
}

Found by_sghmc(const Problem& p, std::int64_t steps) {
    const Sghmc sampler{.step_size = step_for(p, p.convolutional ? 0.01 : 0.05),
                        .friction = 0.1,
                        .batch = batch,
                        .noise = GradientNoise::estimated()};
    return predictions(p, sample(p, sampler, {.warmup = steps / 4, .draws = kept, .thin = steps / kept}));
}

TrainOptions training(const Problem& p, std::int64_t updates, std::uint64_t seed) {
    const std::int64_t items = std::min<std::int64_t>(100, p.train_data.size());
    return {.epochs = std::max<std::int64_t>(1, updates * items / p.train_data.size()),
            .batch = items,
            .optimiser = Adam{.rate = Schedule::cosine(0.01, updates)},
            .seed = seed,
            .show = Show::nothing};
}

Found by_backprop(const Problem& p, std::int64_t updates) {
    Sequential twin = bayesian(p.net, {.prior = GaussianPrior{.sd = p.prior_sd},
                                       .posterior = mean_field<float>(0.05),
                                       .estimator = Estimator::local,
                                       .complexity = Complexity::closed});
    Categorical likelihood;
    unless_stopped(train(twin, likelihood, p.train_data, training(p, updates, p.seed)));
    return predictions(
        p, [&](const Tensor<float>& x) { return predict_samples<float>(twin, x, {.samples = kept, .seed = p.seed}); });
}

// Networks with the most probable weights, from different starts.
Found by_ensemble(const Problem& p, std::size_t members, std::int64_t updates) {
    Ensemble<float> ensemble(p.net, members);
    for (std::size_t k = 0; k < members; ++k) {
        Categorical likelihood;
        TrainOptions options = training(p, updates, p.seed + 1000 * k);
        options.prior = GaussianPrior{p.prior_sd};
        unless_stopped(train(ensemble[k], likelihood, p.train_data, options));
    }
    return predictions(p, [&](const Tensor<float>& x) { return predict_ensemble(ensemble, x); });
}

constexpr const char* closing = R"(
Izmailov et al. (2021) found ensembles about as near to HMC as SGLD, and both nearer than mean-field variational
inference (BBB). HMC is judged by its predictions: weights need not agree among chains, because hidden units can change
places.
)";

int main(int argc, char** argv) {
    Example example("Full-batch HMC on the weights of a network, and how near to it other methods come.",
                    "2 minutes (30 with --network convolutional)");
    std::string network = "dense";
    std::int64_t digits = 1000, hidden = 16, draws = 1000, steps = 200000, updates = 20000, members = 20;
    example.option("--network", network,
                   "dense, or convolutional: larger, with the activations and the prior of the paper");
    example.option("--digits", digits, 200, "digits to learn from, 5000 at most", batch);
    example.option("--hidden", hidden, 5, "units in the hidden layer of the dense network", 1);
    example.option("--draws", draws, 60, "draws of each of four chains of HMC; convolutional: 160", 20);
    example.option("--steps", steps, 3000,
                   "steps of each of four chains of SGLD and SGHMC, after a quarter of warm-up; convolutional: 60000",
                   1000);
    example.option("--updates", updates, 1500, "steps of Adam for Bayes by Backprop; networks have a fifth of it", 5);
    example.option("--members", members, 5, "networks in the ensemble", 1);
    return example.run(argc, argv, [&] {
        if (digits > 5000) throw ValueError("--digits is " + std::to_string(digits) + "; it must be 5000 at most");
        const Problem problem(network, digits, hidden, example.seed);
        if (problem.convolutional) {
            example.other_default("--draws", draws, 160);
            example.other_default("--steps", steps, 60000);
        }
        example.data(embedded_data("mnist"), problem.train_data.size());
        example.data(embedded_data("fashion-mnist"), problem.clothes.size());
        std::printf("%lld digits, %lld weights. HMC ...\n", static_cast<long long>(digits),
                    static_cast<long long>(problem.potential.size()));
        const Hmc sampler{.step_size = problem.convolutional ? 0.003 : 0.02,
                          .time = std::numbers::pi / 2 * problem.prior_sd,
                          .target_acceptance = 0.85,
                          .metric = MetricKind::unit};
        const Draws hmc =
            sample(problem, sampler,
                   {.warmup = draws / 4, .draws = draws, .directory = example.kept("hmc").string(), .resume = true});
        const Tensor<double> acceptance = hmc.statistic(&ChainRecord::acceptance);
        std::printf("Acceptance %.2f, %lld leapfrog steps a draw.\n",
                    std::accumulate(acceptance.begin(), acceptance.end(), 0.0) / static_cast<double>(acceptance.size()),
                    static_cast<long long>(hmc.chains[0].gradient_count / hmc.chains[0].steps));

        const std::string end = problem.convolutional ? "_full" : "";
        const auto show = [&](const ResultTable& table, const std::string& name) {
            table.show();
            table.save(example.path(name + end));
        };
        Figure figure(example.path("hmc_bnn" + end), 3);
        show(show_convergence(problem, hmc, figure), "hmc_bnn_convergence");

        const Found by_hmc = predictions(problem, hmc);
        std::vector<Method> methods{{"HMC", by_hmc, by_hmc.at("test")}, one_chain(problem, hmc)};
        const auto add = [&](const char* name, const std::function<Found()>& work) {
            methods.push_back({name, stage(example, name, work), by_hmc.at("test")});
        };
        add("SGHMC", [&] { return by_sghmc(problem, steps); });
        add("SGLD", [&] { return by_sgld(problem, steps); });
        add("ensemble", [&] { return by_ensemble(problem, static_cast<std::size_t>(members), updates / 5); });
        add("BBB", [&] { return by_backprop(problem, updates); });
        add("one network", [&] { return by_ensemble(problem, 1, updates / 5); });

        show(table_of_methods(methods, problem.test_data.labels), "hmc_bnn");
        show(table_of_clothes(methods), "hmc_bnn_clothes");
        draw_comparison(figure, methods, problem.test_data.labels);
        figure.save();
        say_distances(methods, problem.test_data.labels);
        std::printf("%s", closing);
    });
}
