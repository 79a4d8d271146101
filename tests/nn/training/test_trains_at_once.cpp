#include "../../at_once.hpp"
#include "../../data/bytes.hpp"
#include "../../data/temporary_directory.hpp"
#include "../../support.hpp"

#include <pollen/nn/layers.hpp>
#include <pollen/nn/likelihoods.hpp>
#include <pollen/nn/training/train.hpp>
#include <pollen/nn/variational/bayes.hpp>

#include <algorithm>
#include <atomic>
#include <latch>

using namespace pollen;
using namespace pollen::test;

// Training runs of several threads of one program.
BOOST_AUTO_TEST_SUITE(trains_at_once)

namespace {

struct Ended {
    TrainResult result;
    std::vector<float> theta = {};

    bool operator==(const Ended& other) const {
        return theta == other.theta && result.end == other.result.end && result.steps == other.result.steps &&
               result.best_epoch == other.result.best_epoch &&
               std::ranges::equal(result.history, other.result.history, [](const auto& a, const auto& b) {
                   return a.loss == b.loss && a.complexity == b.complexity && a.validation.loss == b.validation.loss;
               });
    }
};

// Runs share their data. Their layers are wide enough for several threads.
class Runs {
  public:
    TrainOptions options(std::uint64_t seed) const {
        return {.epochs = 3,
                .batch = 50,
                .optimiser = Adam{.rate = 0.01},
                .seed = seed,
                .samples = 2,
                .show = Show::nothing};
    }
    Ended operator()(const TrainOptions& options) const {
        const Sequential plain{Dense(20, 150), Relu(), Dropout(0.1), Dense(150, 1)};
        auto net = bayesian(plain);
        auto likelihood = Gaussian<float>::learned(0.5);
        Ended ended{.result = train(net, likelihood, data_, options, &validation_)};
        const Tensor<float> theta = parameters_of<float>(net, likelihood).flatten();
        ended.theta.assign(theta.begin(), theta.end());
        return ended;
    }

  private:
    static Dataset<float> normal_data(std::int64_t items, std::uint64_t seed) {
        Dataset<float> data{.inputs = Tensor<float>::empty({items, 20}), .targets = Tensor<float>::empty({items, 1})};
        Random random(seed);
        random.fill_normal(data.inputs.mutable_values());
        random.fill_normal(data.targets.mutable_values());
        return data;
    }
    const Dataset<float> data_ = normal_data(300, 1), validation_ = normal_data(100, 2);
};

}  // namespace

BOOST_AUTO_TEST_CASE(they_have_the_bits_of_one_after_the_other) {
    const TemporaryDirectory folder;
    const Runs run;
    const auto saved = [&](std::uint64_t seed, const std::string& name) {
        TrainOptions options = run.options(seed);
        options.checkpoint = folder / (name + std::to_string(seed));
        return options;
    };
    const Ended first = run(saved(1, "alone")), second = run(saved(2, "alone"));
    BOOST_TEST(!(first == second));
    std::latch both(2);  // no run makes its second step before each has made its first
    Ended ends[2];
    std::vector<std::int64_t> steps[2];
    std::atomic<int> by_another_thread = 0;
    const auto one = [&](std::size_t k) {
        return [&, k] {
            TrainOptions options = saved(k + 1, "together");
            options.on_step = [&, here = std::this_thread::get_id()](const StepRecord& now) {
                steps[k].push_back(now.step);
                if (now.step == 1) both.arrive_and_wait();
                by_another_thread += here != std::this_thread::get_id();
                return true;
            };
            ends[k] = run(options);
        };
    };
    at_once({one(0), one(1)});
    BOOST_TEST((ends[0] == first));
    BOOST_TEST((ends[1] == second));
    BOOST_TEST(by_another_thread == 0);
    BOOST_TEST(steps[0].size() == 18U);
    BOOST_TEST(steps[1].size() == 18U);
    for (const char* seed : {"1", "2"})
        BOOST_TEST(
            (contents(folder / ("alone" + std::string(seed))) == contents(folder / ("together" + std::string(seed)))));
}

// Another thread asks the one to stop, and the other goes on.
BOOST_AUTO_TEST_CASE(a_stop_of_one_leaves_the_other) {
    const Runs run;
    const Ended whole = run(run.options(2));
    std::stop_source source;
    std::latch under_way(1), asked(1), stopped(1);
    Ended cut, other;
    at_once({[&] {
                 TrainOptions options = run.options(1);
                 options.stop = source.get_token();
                 options.on_step = [&](const StepRecord& now) {
                     if (now.step == 4) under_way.count_down(), asked.wait();
                     return true;
                 };
                 cut = run(options);
                 stopped.count_down();
             },
             [&] {
                 under_way.wait();
                 source.request_stop();
                 asked.count_down();
             },
             [&] {
                 TrainOptions options = run.options(2);
                 options.on_step = [&](const StepRecord& now) {
                     if (now.step == 2) stopped.wait();
                     return true;
                 };
                 other = run(options);
             }});
    BOOST_TEST((cut.result.end == TrainResult::End::interrupted));
    BOOST_TEST(cut.result.steps == 4);
    BOOST_TEST((other == whole));
}

BOOST_AUTO_TEST_SUITE_END()
