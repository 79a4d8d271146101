#include "../../at_once.hpp"
#include "../../support.hpp"
#include "run_files.hpp"
#include "same_draws.hpp"
#include "short_run.hpp"
#include "walk_sampler.hpp"

#include <pollen/nn/layers.hpp>
#include <pollen/nn/likelihoods.hpp>
#include <pollen/nn/potentials/network_potential.hpp>
#include <pollen/nn/training/train.hpp>
#include <pollen/samplers/full_batch/nuts.hpp>
#include <pollen/samplers/minibatch/sghmc.hpp>

#include <latch>

using namespace pollen;
using namespace pollen::test;

// Runs of several threads of one program.
BOOST_AUTO_TEST_SUITE(runs_at_once)

namespace {

// A regression whose items are evaluated by several threads.
NetworkPotential<float> wide_regression() {
    Dataset<float> data{.inputs = Tensor<float>::empty({400, 5}), .targets = Tensor<float>::empty({400, 1})};
    Random random(4);
    random.fill_normal(data.inputs.mutable_values());
    random.fill_normal(data.targets.mutable_values());
    const Sequential<float> net{Dense<float>(5, 40), Tanh<float>(), Dense<float>(40, 1)};
    return {net, Gaussian<float>::known(1), data};
}

// Calls wait() at the first draw.
std::function<bool(const DrawRecord&)> waiting(const std::function<void()>& wait, std::int64_t& draws) {
    return [&draws, wait](const DrawRecord&) {
        if (++draws == 1) wait();
        return true;
    };
}

}  // namespace

BOOST_AUTO_TEST_CASE(they_have_the_bits_of_one_after_the_other) {
    const TemporaryDirectory folder;
    const NetworkPotential<float> network = wide_regression();
    const auto options = [&](std::uint64_t seed, const std::string& name) {
        RunOptions o = short_run(10, 8);
        o.seed = seed;
        o.radius = 0.5;
        o.directory = folder / (name + std::to_string(seed));
        return o;
    };
    const Nuts nuts{.max_depth = 3};
    const Sghmc sghmc{.step_size = 1e-4, .friction = 0.1, .batch = 50};
    const Draws first = run_chains(network, nuts, options(1, "alone")),
                second = run_chains(network, nuts, options(2, "alone")),
                third = run_chains(network, sghmc, options(3, "alone"));
    BOOST_TEST(different(first, second) != "");
    std::latch all(3);  // no run has a second draw before each has its first
    Draws draws[3];
    std::int64_t reported[3] = {};
    const auto one = [&](std::size_t k, const auto& sampler) {
        return [&, k, sampler] {
            RunOptions own = options(k + 1, "together");
            own.on_draw = waiting([&] { all.arrive_and_wait(); }, reported[k]);
            draws[k] = run_chains(network, sampler, own);
        };
    };
    at_once({one(0, nuts), one(1, nuts), one(2, sghmc)});
    BOOST_TEST(different(draws[0], first) == "");
    BOOST_TEST(different(draws[1], second) == "");
    BOOST_TEST(different(draws[2], third) == "");
    for (const std::string seed : {"1", "2", "3"})
        BOOST_TEST(same_run(folder / ("alone" + seed), folder / ("together" + seed), 3));
    for (const std::int64_t n : reported) BOOST_TEST(n == 3 * 8);
}

// Another thread asks the one to stop, a third run ends by what its on_draw throws, and the other goes on.
BOOST_AUTO_TEST_CASE(the_end_of_one_leaves_the_other) {
    const auto model = shapes_model<double>();
    const Draws whole = run_chains(model, Walk{}, short_run());
    std::stop_source source;
    std::latch under_way(1), asked(1), ended(2);
    Draws cut, other;
    std::int64_t draws = 0, more = 0;
    int thrown = 0;
    at_once({[&] {
                 RunOptions options = short_run();
                 options.stop = source.get_token();
                 options.on_draw = waiting([&] { under_way.count_down(), asked.wait(); }, draws);
                 cut = run_chains(model, Walk{}, options);
                 ended.count_down();
             },
             [&] {
                 under_way.wait();
                 source.request_stop();
                 asked.count_down();
             },
             [&] {
                 RunOptions options = short_run();
                 options.on_draw = [](const DrawRecord&) -> bool { throw 3; };
                 try {
                     run_chains(model, Walk{}, options);
                 } catch (const int number) {
                     thrown = number;
                 }
                 ended.count_down();
             },
             [&] {
                 RunOptions options = short_run();
                 options.on_draw = waiting([&] { ended.wait(); }, more);
                 other = run_chains(model, Walk{}, options);
             }});
    BOOST_TEST(cut.interrupted);
    BOOST_TEST(thrown == 3);
    BOOST_TEST(draws <= 3);  // each chain had one at most
    BOOST_TEST(different(other, whole) == "");
}

// Training and chains side by side.
BOOST_AUTO_TEST_CASE(with_training) {
    const auto model = shapes_model<double>();
    const auto trained = [](std::uint64_t seed, const std::function<bool(const StepRecord&)>& on_step) {
        Dataset<double> data{normals({60, 3}, 1), normals({60}, 2)};
        Sequential<double> net{Dense<double>(3, 30), Tanh<double>(), Dense<double>(30, 1)};
        auto likelihood = Gaussian<double>::known(1);
        train(net, likelihood, data,
              {.epochs = 5, .batch = 20, .seed = seed, .show = Show::nothing, .on_step = on_step});
        const Tensor<double> theta = Parameters<double>(net).flatten();
        return std::vector<double>(theta.begin(), theta.end());
    };
    const auto drawn = [&](std::uint64_t seed, std::function<bool(const DrawRecord&)> on_draw) {
        RunOptions options = short_run();
        options.seed = seed;
        options.on_draw = std::move(on_draw);
        return run_chains(model, Walk{}, options);
    };
    const std::vector<double> thetas[2] = {trained(1, {}), trained(2, {})};
    const Draws draws[2] = {drawn(3, {}), drawn(4, {})};
    std::latch all(4);
    std::int64_t counts[2] = {};
    std::vector<double> thetas_at_once[2];
    Draws draws_at_once[2];
    const auto train_one = [&](std::size_t k) {
        return [&, k] {
            thetas_at_once[k] = trained(k + 1, [&](const StepRecord& now) {
                if (now.step == 1) all.arrive_and_wait();
                return true;
            });
        };
    };
    const auto draw_one = [&](std::size_t k) {
        return [&, k] { draws_at_once[k] = drawn(k + 3, waiting([&] { all.arrive_and_wait(); }, counts[k])); };
    };
    at_once({train_one(0), draw_one(0), train_one(1), draw_one(1)});
    for (std::size_t k = 0; k < 2; ++k) {
        BOOST_TEST((thetas_at_once[k] == thetas[k]));
        BOOST_TEST(different(draws_at_once[k], draws[k]) == "");
    }
}

BOOST_AUTO_TEST_SUITE_END()
