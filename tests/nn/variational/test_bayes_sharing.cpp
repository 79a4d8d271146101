#include "../../support.hpp"

#include <pollen/data/io/file.hpp>
#include <pollen/nn/layers.hpp>
#include <pollen/nn/likelihoods.hpp>
#include <pollen/nn/prediction/predictive.hpp>
#include <pollen/nn/priors.hpp>
#include <pollen/nn/pruning/weight_posteriors.hpp>
#include <pollen/nn/training/train.hpp>
#include <pollen/nn/variational/bayes.hpp>

#include <cmath>
#include <filesystem>

#include <unistd.h>

using namespace pollen;
using namespace pollen::test;

// Weights that several outputs share: layers used twice, convolutions, inputs with more than one position.
BOOST_AUTO_TEST_SUITE(bayes_sharing)

namespace {

struct Twice final : Layer<Twice, double> {
    explicit Twice(Bayes<double> l) : layer(std::move(l)) {}
    Var<double> forward(Pass<double>& pass, Var<double> x) const override { return layer(pass, layer(pass, x)); }
    static void members(auto& self, auto& visitor) { visitor.part("layer", self.layer); }
    std::string describe() const override { return "Twice"; }
    Bayes<double> layer;
};

// A posterior N(0, 1) on one weight without bias.
BayesOptions<double> standard(Estimator estimator) {
    return {.posterior = mean_field<double>(1), .estimator = estimator};
}

// The mean of f(y) over draws of the layer's output at x, and its standard error.
template <class F>
std::pair<double, double> mean_over_draws(const Module<double>& net, const Tensor<double>& x, int draws, const F& f) {
    const Parameters<double> parameters(net);
    Tape<double> tape(Recording::off);
    Pass<double> pass(tape, parameters);
    double sum = 0, squares = 0;
    for (int k = 0; k < draws; ++k) {
        tape.clear();
        pass.restart({.mode = Mode::train, .seed = 1, .step = static_cast<std::uint64_t>(k)});
        const double value = f(net(pass, tape.borrow(x)).value());
        sum += value;
        squares += value * value;
    }
    const double mean = sum / draws;
    return {mean, std::sqrt((squares / draws - mean * mean) / draws)};
}

double squared_sum(const Tensor<double>& y) {
    double sum = 0;
    for (const double v : y) sum += v;
    return sum * sum;
}

void set_zero_means(Module<double>& net) {
    for (const auto& [name, weight] : bayesian_weights(net))
        weight->posterior->set_mean(Tensor<double>::zeros(weight->posterior->mean_value().shape()));
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_layer_used_twice_draws_once_and_pays_once) {
    for (const Estimator estimator : {Estimator::weights, Estimator::flipout}) {
        Twice net(Bayes<double>(Dense<double>(1, 1, {.bias = false}), standard(estimator)));
        initialise<double>(net, 1);
        set_zero_means(net);
        const Parameters<double> parameters(net);
        Tape<double> tape;
        Pass<double> pass(tape, parameters);
        const Tensor<double> x = Tensor<double>::full({1, 1}, 1.0);
        for (std::uint64_t step = 0; step < 50; ++step) {
            tape.clear();
            pass.restart({.mode = Mode::train, .seed = 2, .step = step});
            BOOST_TEST(net(pass, tape.borrow(x)).item() >= 0);  // w w x
            BOOST_TEST(pass.complexities().size() == 1U);
            pass.next_sample();
            net(pass, tape.borrow(x));
            BOOST_TEST(pass.complexities().size() == 2U);
        }
    }
    Twice local(Bayes<double>(Dense<double>(1, 1, {.bias = false}), standard(Estimator::local)));
    initialise<double>(local, 1);
    BOOST_TEST(error_of<ValueError>([&] {
                   mean_over_draws(local, Tensor<double>::full({1, 1}, 1.0), 1, squared_sum);
               }) ==
               "Bayes: Dense(1, 1) without bias is used twice in one pass: its outputs share weights, which the "
               "estimator local cannot do; flipout and weights can");
}

// With w ~ N(0, 1) and 16 ones behind a 1 x 1 convolution, E (sum of outputs)^2 = 16^2 however it is estimated: an item
// sees one weight at all positions. 20,000 draws, 4 standard errors: a false alarm in 16,000.
BOOST_AUTO_TEST_CASE(an_item_sees_one_weight_at_all_positions) {
    for (const Estimator estimator : {Estimator::weights, Estimator::local, Estimator::flipout}) {
        Bayes<double> conv(Conv2d<double>(1, 1, 1, {.bias = false}), standard(estimator));
        initialise<double>(conv, 1);
        set_zero_means(conv);
        const auto [mean, error] = mean_over_draws(conv, Tensor<double>::full({1, 1, 4, 4}, 1.0), 20000, squared_sum);
        BOOST_TEST(std::abs(mean - 256) < 4 * error);

        Bayes<double> dense(Dense<double>(1, 1, {.bias = false}), standard(estimator));
        initialise<double>(dense, 1);
        set_zero_means(dense);
        const auto [sequence, spread] =
            mean_over_draws(dense, Tensor<double>::full({1, 8, 1}, 1.0), 20000, squared_sum);
        BOOST_TEST(std::abs(sequence - 64) < 4 * spread);
    }
}

// Items see independent weights under flipout, the same under weight sampling: E (y1 + y2)^2 is 2 and 4.
BOOST_AUTO_TEST_CASE(items_see_weights_of_their_own_under_flipout) {
    const auto mean_square = [](Estimator estimator) {
        Bayes<double> dense(Dense<double>(1, 1, {.bias = false}), standard(estimator));
        initialise<double>(dense, 1);
        set_zero_means(dense);
        return mean_over_draws(dense, Tensor<double>::full({2, 1}, 1.0), 20000, squared_sum);
    };
    const auto [flipped, error] = mean_square(Estimator::flipout);
    BOOST_TEST(std::abs(flipped - 2) < 4 * error);
    const auto [same, spread] = mean_square(Estimator::weights);
    BOOST_TEST(std::abs(same - 4) < 4 * spread);
}

BOOST_AUTO_TEST_CASE(a_saved_run_is_continued_under_the_same_posterior_only) {
    const std::string file =
        (std::filesystem::temp_directory_path() / ("bayes_run_" + std::to_string(getpid()) + ".safetensors")).string();
    Dataset<float> data{.inputs = Tensor<float>::empty({40, 3}), .targets = Tensor<float>::empty({40, 1})};
    Random(4).fill_normal(data.inputs.mutable_values());
    Random(5).fill_normal(data.targets.mutable_values());
    const auto run = [&](const BayesOptions<float>& options, std::int64_t stop, bool resume) {
        Sequential<float> net = bayesian(Sequential{Dense(3, 4), Tanh(), Dense(4, 1)}, options);
        Gaussian<float> likelihood = Gaussian<float>::known(0.5);
        train<float>(net, likelihood, data,
                     {.epochs = 4,
                      .batch = 8,
                      .optimiser = Adam{.rate = 0.01},
                      .seed = 3,
                      .samples = 2,
                      .checkpoint = file,
                      .resume = resume,
                      .show = Show::nothing,
                      .on_step = [&](const StepRecord& r) { return r.step != stop; }});
        const Tensor<float> theta = Parameters<float>(net).flatten();
        return std::vector<float>(theta.begin(), theta.end());
    };
    for (const Estimator estimator : {Estimator::weights, Estimator::local, Estimator::flipout}) {
        const BayesOptions<float> options{.prior = HierarchicalPrior{.scale = 0.5}, .estimator = estimator};
        const std::vector<float> whole = run(options, 0, false);
        for (const std::int64_t stop : {1, 7, 10}) {
            run(options, stop, false);
            BOOST_TEST((run(options, 0, true) == whole));
        }
    }
    run({.prior = GaussianPrior{.sd = 1}}, 7, false);
    for (const BayesOptions<float>& other :
         {BayesOptions<float>{.prior = GaussianPrior{.sd = 2}},
          BayesOptions<float>{.prior = GaussianPrior{.sd = 1}, .posterior = mean_field<float>(0.5)},
          BayesOptions<float>{.prior = GaussianPrior{.sd = 1}, .estimator = Estimator::flipout},
          BayesOptions<float>{.prior = GaussianPrior{.sd = 1}, .complexity = Complexity::closed}})
        BOOST_TEST(error_of<FileError>([&] {
                       run(other, 0, true);
                   }).starts_with(file + ": the saved run has network Sequential"));
    std::filesystem::remove(file);
}

BOOST_AUTO_TEST_CASE(a_single_layer_has_a_twin_and_misuse_is_told) {
    const Bayes<float> layer = bayesian(Dense(3, 2));
    BOOST_TEST(layer.describe() == "Bayes Dense(3, 2)");
    BOOST_TEST(error_of<ValueError>([] { bayesian(Relu()); }) == "bayesian: Relu has no parameters");
    BOOST_TEST(error_of<ValueError>([&] { layer.mean(); }) ==
               "parameter weight.mu (2, 3) has no value yet: call initialise(), load() or train() first");
    BOOST_TEST(error_of<ValueError>([&] { weight_posteriors<float>(layer); }) ==
               "parameter weight.mu (2, 3) has no value yet: call initialise(), load() or train() first");
    BOOST_TEST(error_of<ValueError>([] { Bayes<float>(Dense(3, 2), {.posterior = nullptr}); }) ==
               "Bayes: the options have no posterior; mean_field<float>() makes one");
    BOOST_TEST(error_of<ValueError>([] {
                   Bayes<float>(Dense(3, 2), {.posterior = [](const Parameter<float>&) {
                                    return std::unique_ptr<Posterior<float>>();
                                }});
               }) == "Bayes: the posterior made for weight is null");
    BOOST_TEST(error_of<ValueError>([] {
                   Bayes<float>(Dense(3, 2), {.prior = HierarchicalPrior{}, .posterior = point_mass<float>()});
               }) ==
               "Bayes: a point mass under HierarchicalPrior(scale 1) has no best place: the density grows without "
               "bound as tau and the weights go to 0");
}

BOOST_AUTO_TEST_SUITE_END()
