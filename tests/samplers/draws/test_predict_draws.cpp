#include "../../support.hpp"
#include "../run/run_files.hpp"
#include "../run/walk_sampler.hpp"

#include <pollen/nn/layers/activations.hpp>
#include <pollen/nn/layers/dense.hpp>
#include <pollen/nn/likelihoods/categorical.hpp>
#include <pollen/nn/likelihoods/gaussian.hpp>
#include <pollen/nn/module/sequential.hpp>
#include <pollen/nn/potentials/network_potential.hpp>
#include <pollen/samplers/draws/predict_draws.hpp>
#include <pollen/samplers/full_batch/nuts.hpp>
#include <pollen/samplers/minibatch/cyclical.hpp>
#include <pollen/samplers/run/run_chains.hpp>

using namespace pollen;
using namespace pollen::test;

BOOST_AUTO_TEST_SUITE(predict_draws_)

namespace {

struct Problem {
    Problem() {
        Random random(2);
        random.fill_normal(data.inputs.mutable_values());
        for (std::int64_t i = 0; i < 20; ++i) data.labels.mutable_data()[i] = data.inputs(i, 0) > 0 ? 1 : 0;
        initialise<float>(net, 1);
    }
    NetworkPotential<float> potential() const { return {net, Categorical<float>(), data}; }
    RunOptions options(const std::string& directory = {}) const {
        return {.chains = 2,
                .warmup = 20,
                .draws = 40,
                .seed = 5,
                .radius = 1,
                .directory = directory,
                .save_warmup = !directory.empty(),
                .show = Show::nothing};
    }

    Sequential<float> net{Dense<float>(2, 3), Tanh<float>(), Dense<float>(3, 2)};
    Dataset<float> data{.inputs = Tensor<float>::empty({20, 2}), .labels = Indices::zeros({20})};
};

}  // namespace

BOOST_AUTO_TEST_CASE(probabilities_are_averaged_over_draws) {
    const Problem problem;
    const Draws draws = run_chains(problem.potential(), Walk{.scale = 0.2}, problem.options());
    const Tensor<float>& x = problem.data.inputs;
    // By hand: every fourth draw, softmax, mean.
    const Parameters<float> parameters(problem.net);
    std::vector<double> mean(40, 0);
    std::int64_t used = 0;
    for (std::int64_t c = 0; c < 2; ++c) {
        for (std::int64_t t = 3; t < 40; t += 4, ++used) {
            std::vector<float> theta;
            for (std::int64_t k = 0; k < parameters.size(); ++k)
                theta.push_back(static_cast<float>(draws.values(c, t, k)));
            const Tensor<float> logits = predict<float>(problem.net, parameters, theta, x);
            for (std::int64_t i = 0; i < 20; ++i) {
                const double p = 1 / (1 + std::exp(static_cast<double>(logits(i, 0) - logits(i, 1))));
                mean[static_cast<std::size_t>(2 * i)] += 1 - p;
                mean[static_cast<std::size_t>(2 * i + 1)] += p;
            }
        }
    }
    const Predictive<float> predictive = predict_draws<float>(problem.net, draws, x, {.every = 4});
    BOOST_TEST(predictive.draws() == used);
    BOOST_TEST(used == 20);
    for (std::size_t k = 0; k < 40; ++k)
        BOOST_TEST(static_cast<double>(predictive.probabilities().data()[k]) == mean[k] / 20,
                   boost::test_tools::tolerance(1e-5));
}

BOOST_AUTO_TEST_CASE(files_predict_what_the_memory_does) {
    const TemporaryDirectory folder;
    const Problem problem;
    const Tensor<float>& x = problem.data.inputs;
    const Draws kept = run_chains(problem.potential(), Walk{.scale = 0.2}, problem.options(folder.path()));
    RunOptions options = problem.options(folder.path());
    options.resume = true;
    options.keep = false;
    const Draws filed = run_chains(problem.potential(), Walk{.scale = 0.2}, options);
    BOOST_TEST(filed.values.size() == 0);
    for (const std::int64_t every : {1, 3}) {
        BOOST_TEST(predict_draws<float>(problem.net, kept, x, {.every = every}).probabilities() ==
                   predict_draws<float>(problem.net, filed, x, {.every = every}).probabilities());
        const FunctionSpace a = function_space<float>(problem.net, kept, x, FunctionValues::outputs, {.every = every});
        const FunctionSpace b = function_space<float>(problem.net, filed, x, FunctionValues::outputs, {.every = every});
        BOOST_TEST(a.rhat.worst == b.rhat.worst);
        BOOST_TEST(a.outputs == 40);
    }
    const FunctionSpace p = function_space<float>(problem.net, kept, x, FunctionValues::probabilities);
    BOOST_TEST(p.rhat.worst > 1);
    BOOST_TEST(p.outputs == 40);
    BOOST_TEST(
        error_of<ValueError>([&] { function_space<float>(problem.net, kept, x, FunctionValues::outputs, {}, 1000); }) ==
        "function_space: predictions at 2 x 40 draws, 40 numbers each, are more than max_memory, 1000 bytes; use "
        "fewer rows of x, or every k-th draw");
    // A file that lost its end.
    const std::string text = contents(filed.files[1]);
    put(filed.files[1], text.substr(0, text.size() / 2));
    const auto error = [&](const Draws& draws) {
        return error_of<FileError>([&] { predict_draws<float>(problem.net, draws, x); });
    };
    const std::string rows = std::to_string(filed.row_checksums[1].bytes);
    BOOST_TEST(error(filed).ends_with(" of the " + rows + " bytes of rows that the run wrote"));
    Draws unknown = filed;
    unknown.row_checksums.clear();
    BOOST_TEST(error(unknown).ends_with(" draws; there should be 40"));
}

// Langevin steps in cycles: draws of weight 0 are left out, the others count as much as they weigh.
BOOST_AUTO_TEST_CASE(probabilities_are_weighted) {
    const TemporaryDirectory folder;
    const Problem problem;
    const Tensor<float>& x = problem.data.inputs;
    const Cyclical sampler{.step_size = 0.05, .steps = 60, .cycles = 3, .exploration = 0.4};
    const Draws draws = run_chains(problem.potential(), sampler, problem.options(folder.path()));
    RunOptions options = problem.options(folder.path());
    options.resume = true;
    options.keep = false;
    const Draws filed = run_chains(problem.potential(), sampler, options);
    const Parameters<float> parameters(problem.net);
    for (const std::int64_t every : {1, 2}) {
        std::vector<double> mean(20, 0);
        double weight = 0;
        std::int64_t used = 0;
        for (std::int64_t c = 0; c < 2; ++c) {
            std::int64_t counted = 0;
            for (std::int64_t t = 0; t < 40; ++t) {
                const double w = draws.chains[static_cast<std::size_t>(c)].weight[static_cast<std::size_t>(t)];
                if (w == 0 || ++counted % every != 0) continue;
                ++used;
                weight += w;
                std::vector<float> theta;
                for (std::int64_t k = 0; k < parameters.size(); ++k)
                    theta.push_back(static_cast<float>(draws.values(c, t, k)));
                const Tensor<float> logits = predict<float>(problem.net, parameters, theta, x);
                for (std::int64_t i = 0; i < 20; ++i)
                    mean[static_cast<std::size_t>(i)] +=
                        w / (1 + std::exp(static_cast<double>(logits(i, 0) - logits(i, 1))));
            }
        }
        BOOST_TEST(used < 80 / every);
        const Predictive<float> predictive = predict_draws<float>(problem.net, draws, x, {.every = every});
        BOOST_TEST(predictive.draws() == used);
        for (std::int64_t i = 0; i < 20; ++i)
            BOOST_TEST(
                static_cast<double>(predictive.probabilities()(i, 1)) == mean[static_cast<std::size_t>(i)] / weight,
                boost::test_tools::tolerance(1e-5));
        BOOST_TEST(predict_draws<float>(problem.net, filed, x, {.every = every}).probabilities() ==
                   predictive.probabilities());
    }
    BOOST_TEST(std::isfinite(function_space<float>(problem.net, draws, x).rhat.worst));
    BOOST_TEST(error_of<ValueError>([&] { predict_draws<float>(problem.net, draws, x, {.every = 40}); }) ==
               "each_draw: " + std::to_string(draws.counted().size()) +
                   " draws a chain of a weight above 0; one of every 40 is none");
}

// The variance of a prediction is that of the posterior: the slope of y = w x with the prior N(0, 1) and no data to
// speak of.
BOOST_AUTO_TEST_CASE(cyclical_steps_predict_with_the_right_variance) {
    const Sequential<float> net{Dense<float>(1, 1)};
    Dataset<float> data{.inputs = Tensor<float>::zeros({1, 1}), .targets = Tensor<float>::zeros({1, 1})};
    const NetworkPotential<float> potential(net, Gaussian<float>::known(100), data);
    const Cyclical sampler{.step_size = 0.3, .steps = 40000, .cycles = 40, .exploration = 0.6};
    const Draws draws = run_chains(potential, sampler, {.warmup = 0, .draws = 40000, .seed = 3, .show = Show::nothing});
    const Draws exact = run_chains(potential, Nuts{}, {.warmup = 300, .draws = 3000, .seed = 3, .show = Show::nothing});
    const Tensor<float> x = Tensor<float>::full({1, 1}, 2);
    const auto variance = [&](const Draws& of) {
        PredictiveNumbers<float> predictive;
        each_draw<float>(net, of, x, {.every = 4},
                         [&](const Tensor<float>& y, double weight) { predictive.add(y, 0.0, weight); });
        return static_cast<double>(predictive.variance()(0, 0));
    };
    BOOST_TEST(variance(draws) == variance(exact), boost::test_tools::tolerance(0.12));
}

BOOST_AUTO_TEST_CASE(what_does_not_fit) {
    const Problem problem;
    const Draws draws = run_chains(problem.potential(), Walk{}, problem.options());
    const Tensor<float>& x = problem.data.inputs;
    const Sequential<float> large{Dense<float>(2, 30), Dense<float>(30, 2)};
    BOOST_TEST(error_of<ShapeError>([&] { predict_draws<float>(large, draws, x); }) ==
               "each_draw: a draw has 17 numbers; the network has 152 parameters");
    const Sequential<float> one{Dense<float>(2, 1)};
    BOOST_TEST(error_of<ShapeError>([&] {
                   predict_draws<float>(one, draws, Tensor<float>::zeros({5, 2}));
               }) == "each_draw: the draws have 0.weight (3, 2) where the network has 0.weight (1, 2)");
    const Dataset<float> numbers{.inputs = Tensor<float>::ones({5, 2}), .targets = Tensor<float>::zeros({5, 1})};
    const Draws of_one =
        run_chains(NetworkPotential<float>(one, Gaussian<float>::known(1), numbers), Walk{}, problem.options());
    BOOST_TEST(error_of<ShapeError>([&] { predict_draws<float>(one, of_one, numbers.inputs); }) ==
               "predict_draws: outputs are (5, 1), but it is for the logits of at least two classes; each_draw has the "
               "outputs as they are");
    BOOST_TEST(error_of<ValueError>([&] { predict_draws<float>(problem.net, draws, x, {.every = 0}); }) ==
               "each_draw: every is 0; at least 1 is needed");
    BOOST_TEST(error_of<ValueError>([&] { predict_draws<float>(problem.net, draws, x, {.every = 41}); }) ==
               "each_draw: 40 draws a chain; one of every 41 is none");
}

// A digit that was changed would be a draw like any other.
BOOST_AUTO_TEST_CASE(files_that_were_changed_are_refused) {
    const TemporaryDirectory folder;
    const Problem problem;
    RunOptions options = problem.options(folder.path());
    options.keep = false;
    const Draws draws = run_chains(problem.potential(), Walk{.scale = 0.2}, options);
    const std::string csv = folder / "chain_2.csv", text = contents(csv);
    std::int64_t used = 0;
    const auto read = [&] { each_draw(draws, 1, [&](auto...) { ++used; }); };
    read();
    BOOST_TEST(used == 80);
    std::string changed = text;
    const std::size_t digit = text.rfind('.', text.rfind("# \n#  Elapsed")) + 1;
    changed[digit] = changed[digit] == '9' ? '8' : '9';
    put(csv, changed);
    const std::string error = error_of<FileError>(read);
    const std::string begin = csv + ": lines 21 to 83 are not those that the run wrote: their checksum is ";
    BOOST_TEST(error.substr(0, begin.size()) == begin);
    BOOST_TEST(error.substr(begin.size() + 8, 25) == ", that in these draws is ");
    BOOST_TEST(error.substr(begin.size() + 41) == "; the file was damaged or changed");
    // What follows the rows does not count.
    put(csv, text + "1,2,3\n");
    read();
    put(csv, text.substr(0, text.size() / 2));
    BOOST_TEST(error_of<FileError>(read).ends_with(" of the " + std::to_string(draws.row_checksums[1].bytes) +
                                                   " bytes of rows that the run wrote"));
}

BOOST_AUTO_TEST_SUITE_END()
