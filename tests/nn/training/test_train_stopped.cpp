#include "../../data/temporary_directory.hpp"
#include "../../stopper.hpp"
#include "../../support.hpp"

#include <pollen/nn/layers.hpp>
#include <pollen/nn/likelihoods.hpp>
#include <pollen/nn/training/train.hpp>
#include <pollen/nn/variational/bayes.hpp>

#include <atomic>

using namespace pollen;
using namespace pollen::test;

// A request to stop in the middle of a step or of a validation.
BOOST_AUTO_TEST_SUITE(train_stopped)

namespace {

struct Result {
    TrainResult train;
    std::vector<double> theta;
    std::int64_t evaluations = 0;
};

// A Bayesian network with learned noise, and three batches of validation data.
class StoppableRun {
  public:
    TrainOptions options{.epochs = 3,
                         .batch = 30,
                         .optimiser = Adam{.rate = Schedule::cosine(0.05, 12)},
                         .seed = 5,
                         .samples = 3,
                         .show = Show::nothing};
    bool validates = true;
    bool by_token = false;

    // Is asked to stop at evaluation `at`, counted from 1; 0: before the run; -1: never.
    Result operator()(std::int64_t at = -1) const {
        std::int64_t evaluations = 0;
        const Interrupt interrupt;
        Stopper stopper{.signal = by_token ? 0 : SIGINT};
        if (at == 0) stopper.ask();
        const Activation<double> counted("Counted", [&](Var<double> x) {
            if (++evaluations == at) stopper.ask();
            return tanh(x);
        });
        auto net = bayesian(Sequential{Dense<double>(3, 4), counted, Dense<double>(4, 1)});
        auto likelihood = Gaussian<double>::learned(0.5);
        Result result;
        TrainOptions own = options;
        own.stop = stopper.token();
        result.train = pollen::train(net, likelihood, data_, own, validates ? &validation_ : nullptr);
        const Tensor<double> all = parameters_of<double>(net, likelihood).flatten();
        result.theta.assign(all.begin(), all.end());
        result.evaluations = evaluations;
        return result;
    }

  private:
    Dataset<double> data_{normals({100, 3}, 1), normals({100}, 2)};
    Dataset<double> validation_{normals({300, 3}, 3), normals({300}, 4)};
};

// Before the first step the outputs for some of the data are looked at, after those for one row.
constexpr std::int64_t of_checks = 2 * 2;
// Four steps of three samples.
constexpr std::int64_t of_steps = 4 * 3;
// One row, and three batches.
constexpr std::int64_t of_validation = 4, of_epoch = of_steps + of_validation;

bool same(const Evaluation& a, const Evaluation& b) { return a.loss == b.loss && a.score == b.score; }

bool same(const Result& a, const Result& b) {
    if (a.theta != b.theta || a.train.best_epoch != b.train.best_epoch || a.train.steps != b.train.steps) return false;
    return std::equal(a.train.history.begin(), a.train.history.end(), b.train.history.begin(), b.train.history.end(),
                      [](const EpochRecord& x, const EpochRecord& y) {
                          return x.epoch == y.epoch && x.loss == y.loss && x.rate == y.rate &&
                                 x.complexity == y.complexity && same(x.validation, y.validation);
                      });
}

}  // namespace

// Wherever the request comes, at most one evaluation begins after it, and the resumed run ends with the same bits and
// the same checkpoint.
BOOST_AUTO_TEST_CASE(a_run_that_is_stopped_anywhere_goes_on_with_the_same_bits) {
    const TemporaryDirectory folder;
    StoppableRun run;
    run.options.checkpoint = folder / "whole";
    run.options.resume = true;
    const Result whole = run();
    BOOST_REQUIRE_EQUAL(whole.evaluations, of_checks + 3 * of_epoch);
    for (std::int64_t at = of_checks + 1; at < whole.evaluations; ++at) {
        run.by_token = at % 2 == 0;
        run.options.checkpoint = folder / std::to_string(at);
        const Result cut = run(at);
        BOOST_TEST((cut.train.end == TrainResult::End::interrupted), at);
        const std::int64_t epochs = (at - of_checks - 1) / of_epoch, in_epoch = at - of_checks - epochs * of_epoch;
        // After the last step the outputs for one row are looked at.
        BOOST_TEST(cut.evaluations == at + (in_epoch == of_steps ? 1 : 0), at);
        BOOST_TEST(cut.train.steps == 4 * epochs + std::min<std::int64_t>(in_epoch / 3, 4), at);
        // After the last batch of a validation the epoch is complete.
        BOOST_TEST(std::ssize(cut.train.history) == epochs + (in_epoch == of_epoch ? 1 : 0), at);
        const Result resumed = run();
        BOOST_TEST((resumed.train.end == TrainResult::End::finished), at);
        BOOST_TEST(same(resumed, whole), at);
        BOOST_TEST((contents(folder / std::to_string(at)) == contents(folder / "whole")), at);
    }
}

// A run that begins after the request makes no step, also if it has to begin with a validation.
BOOST_AUTO_TEST_CASE(a_run_that_is_stopped_before_it_begins) {
    const TemporaryDirectory folder;
    StoppableRun run;
    const Result whole = run();
    run.options.checkpoint = folder / "run";
    run.options.resume = true;
    for (const bool by_token : {false, true}) {
        run.by_token = by_token;
        const Result cut = run(0);
        BOOST_TEST((cut.train.end == TrainResult::End::interrupted));
        BOOST_TEST(cut.train.steps == 0);
    }
    run(of_checks + of_steps + 3);
    BOOST_TEST(run(0).evaluations == 0);
    BOOST_TEST(same(run(), whole));
    BOOST_TEST((run(0).train.end == TrainResult::End::finished));  // there is nothing left to stop
}

// A run that is stopped in its validation again and again, and in other epochs, comes to its end.
BOOST_AUTO_TEST_CASE(a_validation_is_stopped_again_and_again) {
    const TemporaryDirectory folder;
    StoppableRun run;
    const Result whole = run();
    run.options.checkpoint = folder / "run";
    run.options.resume = true;
    run(of_checks + of_steps + 3);
    // A run that begins with a validation has four evaluations to make first.
    for (int times = 0; times < 3; ++times) {
        const Result cut = run(3);
        BOOST_TEST((cut.train.end == TrainResult::End::interrupted));
        BOOST_TEST(cut.train.steps == 4);
        BOOST_TEST(cut.train.history.empty());
        BOOST_TEST(cut.train.best_epoch == 0);
    }
    BOOST_TEST((run(of_validation + 2 * of_epoch - 1).train.end == TrainResult::End::interrupted));
    BOOST_TEST(same(run(), whole));
}

namespace {

std::atomic<int> signals_seen = 0;

}  // namespace

// In a program without an Interrupt a signal is the program's.
BOOST_AUTO_TEST_CASE(signals_are_left_alone) {
    signals_seen = 0;
    const auto before = std::signal(SIGINT, [](int) { ++signals_seen; });
    Dense<double> net(3, 1);
    auto likelihood = Gaussian<double>::known(1);
    const Dataset<double> data{normals({100, 3}, 1), normals({100}, 2)};
    const TrainResult result = pollen::train(
        net, likelihood, data, {.epochs = 2, .batch = 30, .show = Show::nothing, .on_step = [](const StepRecord&) {
                                    return std::raise(SIGINT) == 0;
                                }});
    std::signal(SIGINT, before);
    BOOST_TEST((result.end == TrainResult::End::finished));
    BOOST_TEST(signals_seen == result.steps);
}

// Each step and each epoch is reported once, however often the run is stopped.
BOOST_AUTO_TEST_CASE(callbacks_are_called_once) {
    const TemporaryDirectory folder;
    StoppableRun run;
    std::vector<std::int64_t> steps, epochs;
    std::vector<double> losses;
    run.options.on_step = [&](const StepRecord& now) {
        steps.push_back(now.step);
        return true;
    };
    run.options.on_epoch = [&](const EpochRecord& now) {
        epochs.push_back(now.epoch);
        losses.push_back(now.validation.loss);
        return true;
    };
    run();
    const std::vector<double> all_losses = std::exchange(losses, {});
    const std::vector<std::int64_t> all_steps = std::exchange(steps, {});
    BOOST_TEST(all_steps.size() == 12U);
    BOOST_TEST(epochs == std::vector<std::int64_t>({1, 2, 3}), boost::test_tools::per_element());
    epochs.clear();
    run.options.checkpoint = folder / "run";
    run.options.resume = true;
    run(of_checks + of_steps + 3);
    BOOST_TEST(steps.size() == 4U);
    BOOST_TEST(epochs.empty());
    run(of_validation + 2);  // in the first step of the second epoch
    BOOST_TEST(steps.size() == 4U);
    run();
    BOOST_TEST(steps == all_steps, boost::test_tools::per_element());
    BOOST_TEST(losses == all_losses, boost::test_tools::per_element());
}

// The network has the best parameters, as if the epoch that was not validated had not been.
BOOST_AUTO_TEST_CASE(a_run_that_is_stopped_keeps_the_best_epoch) {
    StoppableRun run;
    run.options.epochs = 2;
    const Result two = run();
    run.options.epochs = 3;
    const Result cut = run(of_checks + 2 * of_epoch + of_steps + 3);
    BOOST_TEST((cut.train.end == TrainResult::End::interrupted));
    BOOST_TEST(cut.train.history.size() == 2U);
    BOOST_TEST(cut.train.best_epoch == two.train.best_epoch);
    BOOST_TEST(cut.theta == two.theta, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_SUITE_END()
