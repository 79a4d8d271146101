#include "../../data/temporary_directory.hpp"
#include "../../support.hpp"

#include <pollen/autograd/parallel.hpp>
#include <pollen/autograd/support/interrupt.hpp>
#include <pollen/data/formats/safetensors.hpp>
#include <pollen/nn/layers.hpp>
#include <pollen/nn/likelihoods.hpp>
#include <pollen/nn/module/with_prior.hpp>
#include <pollen/nn/training/train.hpp>

#include <csignal>

using namespace pollen;
using namespace pollen::test;

BOOST_AUTO_TEST_SUITE(train)

namespace {

// y = sin of a random direction, and a little noise.
Dataset<double> wave(std::int64_t n, std::uint64_t seed) {
    Dataset<double> data{normals({n, 3}, seed), Tensor<double>::zeros({n})};
    Random noise(seed + 100);
    for (std::int64_t i = 0; i < n; ++i)
        data.targets.mutable_at(i) = std::sin(data.inputs(i, 0) - data.inputs(i, 1)) + 0.1 * noise.normal();
    return data;
}

// Everything that has random numbers or memory in it: dropout, learned noise, momentum, clipping.
Sequential<double> network() {
    return Sequential{Dense<double>(3, 16), Tanh<double>(), Dropout<double>(0.1), Dense<double>(16, 1)};
}

TrainOptions options() {
    return {.epochs = 6,
            .batch = 16,
            .optimiser = Adam{.rate = Schedule::warm_up(10, Schedule::cosine(0.01, 200))},
            .seed = 5,
            .prior = GaussianPrior{2},
            .clip_norm = 1,
            .show = Show::nothing};
}

}  // namespace

// For a linear model the minimum of U / N is ridge regression: (X'X / s^2 + I / p^2) w = X'y / s^2.
BOOST_AUTO_TEST_CASE(a_prior_is_ridge_regression) {
    const Tensor<double> x = normals({40, 2}, 3);
    Dataset<double> data{x, Tensor<double>::zeros({40})};
    for (std::int64_t i = 0; i < 40; ++i)
        data.targets.mutable_at(i) = 2 * x(i, 0) - x(i, 1) + 0.3 * normals({40}, 4)(i);
    const double s2 = 0.25, p2 = 0.04;
    double a = 1 / p2, b = 0, d = 1 / p2, u = 0, v = 0;
    for (std::int64_t i = 0; i < 40; ++i) {
        a += x(i, 0) * x(i, 0) / s2;
        b += x(i, 0) * x(i, 1) / s2;
        d += x(i, 1) * x(i, 1) / s2;
        u += x(i, 0) * data.targets(i) / s2;
        v += x(i, 1) * data.targets(i) / s2;
    }
    Dense<double> net(2, 1, {.bias = false});
    auto likelihood = Gaussian<double>::known(std::sqrt(s2));
    pollen::train(net, likelihood, data,
                  {.epochs = 500,
                   .batch = 40,
                   .optimiser = Sgd{.rate = 0.1},
                   .prior = GaussianPrior{std::sqrt(p2)},
                   .show = Show::nothing});
    BOOST_TEST(std::abs(net.weight.value(0, 0) - (d * u - b * v) / (a * d - b * b)) < 1e-12);
    BOOST_TEST(std::abs(net.weight.value(0, 1) - (a * v - b * u) / (a * d - b * b)) < 1e-12);
}

// The noise is learned along with the line. Without a prior its variance is the mean squared error at the optimum.
BOOST_AUTO_TEST_CASE(noise_is_learned) {
    const Dataset<double> data = wave(200, 1);
    Dense<double> net(3, 1);
    auto likelihood = Gaussian<double>::learned(1);
    set_prior(likelihood, FlatPrior{});
    pollen::train(net, likelihood, data,
                  {.epochs = 1500, .batch = 200, .optimiser = Sgd{.rate = 0.1}, .show = Show::nothing});
    const Evaluation fit = evaluate(net, likelihood, data);
    BOOST_TEST(std::abs(std::exp(likelihood.log_sd.value.item()) - fit.score) < 1e-8);
    // -log p at the optimum is (log(2 pi s^2) + 1) / 2.
    BOOST_TEST(std::abs(fit.loss - 0.5 * (std::log(2 * M_PI * fit.score * fit.score) + 1)) < 1e-8);
}

BOOST_AUTO_TEST_CASE(same_bits_on_any_number_of_threads) {
    const Dataset<double> data = wave(100, 1);
    Tensor<double> first;
    TrainOptions run = options();
    run.batch = 50;
    for (const int threads : {1, 2, 4, 8})
        with_threads(threads, [&] {
            // Wide enough that products and loops are cut.
            Sequential net{Dense<double>(3, 700),   Tanh<double>(), Dropout<double>(0.1),
                           Dense<double>(700, 100), Tanh<double>(), Dense<double>(100, 1)};
            auto likelihood = Gaussian<double>::learned(0.5);
            pollen::train(net, likelihood, data, run);
            const Tensor<double> theta = Parameters<double>(net).flatten();
            if (threads == 1) first = theta;
            BOOST_TEST((theta == first));
        });
}

// Other memory, other batches: momentum, fresh draws, augmentation.
BOOST_AUTO_TEST_CASE(a_resumed_run_with_fresh_draws_ends_with_the_same_bits) {
    Dataset<float> data{.inputs = cast<float>(normals({40, 1, 6, 6}, 1)), .labels = Indices::zeros({40})};
    for (std::int64_t i = 0; i < 40; ++i) data.labels.mutable_at(i) = static_cast<std::int32_t>(i % 3);
    const TemporaryDirectory directory;
    TrainOptions run{.epochs = 3,
                     .batch = 16,
                     .optimiser = Momentum{.rate = 0.01, .form = Momentum::Form::nesterov},
                     .seed = 9,
                     .draw = Draw::fresh,
                     .augmentation = {.shift = 1, .flip = true},
                     .checkpoint_every = 2,
                     .show = Show::nothing};
    const auto make = [] { return Sequential{Conv2d(1, 2, 3), Relu(), Flatten(), Dropout(0.2), Dense(32, 3)}; };
    Sequential<float> straight = make();
    Categorical likelihood;
    pollen::train(straight, likelihood, data, run);
    for (std::int64_t stop = 1; stop < 9; ++stop) {
        TrainOptions part = run;
        part.checkpoint = directory / std::to_string(stop);
        part.on_step = [stop](const StepRecord& now) { return now.step < stop; };
        Sequential<float> net = make(), again = make();
        pollen::train(net, likelihood, data, part);
        part.on_step = {};
        part.resume = true;
        pollen::train(again, likelihood, data, part);
        BOOST_TEST((Parameters<float>(again).flatten() == Parameters<float>(straight).flatten()));
    }
}

// Stopped after every possible number of steps, and resumed by a new network: the same bits at the end.
BOOST_AUTO_TEST_CASE(a_resumed_run_ends_with_the_same_bits) {
    const Dataset<double> data = wave(100, 1), validation = wave(50, 2);
    Sequential<double> straight = network();
    auto straight_likelihood = Gaussian<double>::learned(0.5);
    const TrainResult whole = pollen::train(straight, straight_likelihood, data, options(), &validation);
    BOOST_TEST(whole.steps == 42);
    const TemporaryDirectory directory;
    for (std::int64_t stop = 1; stop < whole.steps; ++stop) {
        TrainOptions run = options();
        run.checkpoint = directory / ("run" + std::to_string(stop));
        run.on_step = [stop](const StepRecord& now) { return now.step < stop; };
        Sequential<double> net = network();
        auto likelihood = Gaussian<double>::learned(0.5);
        const TrainResult begun = pollen::train(net, likelihood, data, run, &validation);
        BOOST_TEST((begun.end == TrainResult::End::callback));
        BOOST_TEST(begun.steps == stop);

        run.on_step = {};
        run.resume = true;
        Sequential<double> again = network();
        auto likelihood_again = Gaussian<double>::learned(0.5);
        const TrainResult ended = pollen::train(again, likelihood_again, data, run, &validation);
        BOOST_TEST((ended.end == TrainResult::End::finished));
        BOOST_TEST((Parameters<double>(again).flatten() == Parameters<double>(straight).flatten()));
        BOOST_TEST((likelihood_again.log_sd.value == straight_likelihood.log_sd.value));
        BOOST_TEST(ended.best_epoch == whole.best_epoch);
        BOOST_TEST(ended.history.size() == whole.history.size());
        for (std::size_t k = 0; k < whole.history.size(); ++k) {
            BOOST_TEST(ended.history[k].loss == whole.history[k].loss);
            BOOST_TEST(ended.history[k].validation.score == whole.history[k].validation.score);
        }
    }
}

BOOST_AUTO_TEST_CASE(a_finished_run_resumes_to_itself_and_another_one_not_at_all) {
    const Dataset<double> data = wave(100, 1);
    const TemporaryDirectory directory;
    TrainOptions run = options();
    run.checkpoint = directory / "run";
    Sequential<double> net = network(), again = network();
    auto likelihood = Gaussian<double>::known(0.5);
    pollen::train(net, likelihood, data, run);
    run.resume = true;
    BOOST_TEST(pollen::train(again, likelihood, data, run).steps == 42);
    BOOST_TEST((Parameters<double>(again).flatten() == Parameters<double>(net).flatten()));
    run.batch = 8;
    BOOST_TEST(error_of<FileError>([&] { pollen::train(again, likelihood, data, run); }) ==
               run.checkpoint +
                   ": the saved run has batch 16, this one has 8; to start anew, remove the file or choose "
                   "another one");
    run.batch = 16;
    test::put(run.checkpoint, "not a run");
    BOOST_TEST(!error_of<FileError>([&] { pollen::train(again, likelihood, data, run); }).empty());
}

// Another network, or a file that is something else, is not taken for the saved run.
BOOST_AUTO_TEST_CASE(what_is_not_the_same_run_is_refused) {
    const Dataset<double> data = wave(100, 1);
    const TemporaryDirectory directory;
    TrainOptions run = options();
    run.checkpoint = directory / "run";
    Sequential<double> net = network();
    auto likelihood = Gaussian<double>::known(0.5);
    pollen::train(net, likelihood, data, run);
    run.resume = true;
    Sequential other{Dense<double>(3, 16), Relu<double>(), Dropout<double>(0.1), Dense<double>(16, 1)};
    BOOST_TEST(error_of<FileError>([&] { pollen::train(other, likelihood, data, run); }) ==
               run.checkpoint +
                   ": the saved run has network Sequential(4 parts) Dense(3, 16) Tanh Dropout(0.1) Dense(16, 1), this "
                   "one has Sequential(4 parts) Dense(3, 16) Relu Dropout(0.1) Dense(16, 1); to start anew, remove the "
                   "file or choose another one");
    write_safetensors(run.checkpoint, TensorFile());
    for (const bool resume : {true, false}) {
        run.resume = resume;
        BOOST_TEST(error_of<FileError>([&] { pollen::train(net, likelihood, data, run); }) ==
                   run.checkpoint + ": is not a saved training run; choose another name for the checkpoint");
    }
}

// A callback sees the network as it is, and an exception of its own leaves the network as it was at that moment.
BOOST_AUTO_TEST_CASE(callbacks) {
    const Dataset<double> data = wave(100, 1);
    TrainOptions run = options();
    Sequential<double> net = network();
    auto likelihood = Gaussian<double>::known(0.5);
    std::vector<double> losses;
    run.on_epoch = [&](const EpochRecord& epoch) {
        losses.push_back(evaluate(net, likelihood, data).loss);
        if (epoch.epoch == 5) throw std::runtime_error("enough");
        return true;
    };
    BOOST_TEST(error_of<std::runtime_error>([&] { pollen::train(net, likelihood, data, run); }) == "enough");
    BOOST_TEST(losses.size() == 5u);
    BOOST_TEST(losses[4] < losses[0]);
    BOOST_TEST(evaluate(net, likelihood, data).loss == losses[4]);
}

// Parameters that have a value keep it.
BOOST_AUTO_TEST_CASE(pretrained_parts_stay) {
    const Dataset<double> data = wave(100, 1);
    Sequential<double> net = network();
    initialise<double>(net[0], 77);
    const Tensor<double> first = Parameters<double>(net[0]).flatten();
    auto likelihood = Gaussian<double>::known(0.5);
    TrainOptions run = options();
    run.epochs = 0;
    pollen::train(net, likelihood, data, run);
    BOOST_TEST((Parameters<double>(net[0]).flatten() == first));
}

BOOST_AUTO_TEST_CASE(ctrl_c_ends_the_run_and_keeps_the_best) {
    const Dataset<double> data = wave(100, 1), validation = wave(50, 2);
    TrainOptions run = options();
    run.epochs = 100;
    run.on_step = [](const StepRecord& now) {
        if (now.step == 30) std::raise(SIGINT);
        return true;
    };
    Sequential<double> net = network();
    auto likelihood = Gaussian<double>::known(0.5);
    const Interrupt interrupt;
    const TrainResult result = pollen::train(net, likelihood, data, run, &validation);
    BOOST_TEST((result.end == TrainResult::End::interrupted));
    BOOST_TEST(result.steps == 30);
    BOOST_TEST(result.history.size() == 4u);
    const double best = result.history[static_cast<std::size_t>(result.best_epoch - 1)].validation.score;
    BOOST_TEST(evaluate(net, likelihood, validation).score == best);
}

BOOST_AUTO_TEST_CASE(ends_early_at_the_best_epoch) {
    // Eight points and a large network: it learns them by heart and gets worse elsewhere.
    const Dataset<double> data = wave(8, 1), validation = wave(200, 2);
    Sequential net{Dense<double>(3, 64), Tanh<double>(), Dense<double>(64, 1)};
    auto likelihood = Gaussian<double>::known(0.1);
    const TrainResult result = pollen::train(
        net, likelihood, data,
        {.epochs = 2000, .batch = 8, .optimiser = Adam{.rate = 0.01}, .patience = 20, .show = Show::nothing},
        &validation);
    BOOST_TEST((result.end == TrainResult::End::early));
    BOOST_TEST(std::ssize(result.history) == result.best_epoch + 20);
    double best = INFINITY;
    for (const EpochRecord& epoch : result.history) best = std::min(best, epoch.validation.score);
    BOOST_TEST(evaluate(net, likelihood, validation, 128).score == best);
}

BOOST_AUTO_TEST_CASE(clipping_bounds_the_step) {
    const Dataset<double> data = wave(100, 1);
    TrainOptions run = options();
    run.epochs = 1;
    run.optimiser = Sgd{.rate = 1};
    run.prior = FlatPrior{};
    run.clip_norm = 0.01;
    Sequential<double> net = network();
    initialise(net, 1);
    Tensor<double> before = Parameters<double>(net).flatten();
    double longest = 0;
    run.on_step = [&](const StepRecord& now) {
        longest = std::max(longest, now.gradient_norm);
        return false;
    };
    auto likelihood = Gaussian<double>::known(0.1);
    pollen::train(net, likelihood, data, run);
    const Tensor<double> after = Parameters<double>(net).flatten();
    double moved = 0;
    for (std::int64_t i = 0; i < after.size(); ++i) moved += std::pow(after(i) - before(i), 2);
    BOOST_TEST(longest > 1);
    BOOST_TEST(std::abs(std::sqrt(moved) - 0.01) < 1e-12);
}

BOOST_AUTO_TEST_CASE(errors) {
    const Dataset<double> data = wave(20, 1);
    Sequential<double> net = network();
    auto likelihood = Gaussian<double>::known(1);
    const auto error = [&](auto change) {
        TrainOptions run = options();
        change(run);
        return error_of<ValueError>([&] { pollen::train(net, likelihood, data, run); });
    };
    BOOST_TEST(error([](auto& o) { o.epochs = -1; }) == "train: epochs is -1; it must not be negative");
    BOOST_TEST(error([](auto& o) { o.batch = 0; }) == "train: batch is 0; at least 1 is needed");
    BOOST_TEST(error([](auto& o) { o.clip_norm = NAN; }) == "train: clip_norm is nan; it must be positive");
    BOOST_TEST(error([](auto& o) { o.resume = true; }) == "train: resume needs the name of a checkpoint");
    Dataset<double> broken = data;
    broken.inputs.mutable_at(3, 1) = NAN;
    TrainOptions run = options();
    run.batch = 20;
    BOOST_TEST(error_of<ValueError>([&] { pollen::train(net, likelihood, broken, run); }) ==
               "train: the inputs of item 3 of the data set are not all finite numbers");
    run.optimiser = Sgd{.rate = 1e200};
    run.clip_norm = INFINITY;
    Sequential<double> wild = network();
    initialise(wild, 1);
    const Tensor<double> before = Parameters<double>(wild).flatten();
    BOOST_TEST(!error_of<ValueError>([&] { pollen::train(wild, likelihood, data, run); }).empty());
    BOOST_TEST((Parameters<double>(wild).flatten() == before));  // what it was when all was well
    Sequential<double> none;
    BOOST_TEST(error_of<ValueError>([&] { pollen::train(none, likelihood, data, options()); }) ==
               "train: the network has no parameters");
    BOOST_TEST(error([](auto& o) { o.patience = 3; }) == "train: patience needs validation data");
    BOOST_TEST(error_of<ValueError>([] { Optimiser(Adam{.beta2 = 1}); }) ==
               "Adam(rate 0.001, beta1 0.9, beta2 1, epsilon 1e-08): beta2 must not be negative and must be below 1");
    BOOST_TEST(error_of<ShapeError>([&] {
                   evaluate(net, likelihood, Dataset<double>{Tensor<double>::zeros({0, 3})});
               }) == "evaluate: the data set is empty");
}

BOOST_AUTO_TEST_SUITE_END()
