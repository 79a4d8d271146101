#include <pollen/samplers/full_batch/hmc.hpp>

#include "../eight_schools.hpp"

using namespace pollen;
using namespace pollen::test;

BOOST_AUTO_TEST_SUITE(hmc)

BOOST_AUTO_TEST_CASE(correlated_normal_moments) {
    check_normal(run(Hmc{}, *correlated_normal<double>(), 500, 2000));
    const Run dense = run(Hmc{.metric = MetricKind::dense}, *correlated_normal<double>(), 500, 2000);
    check_normal(dense);
    BOOST_TEST(dense.acceptance > 0.7);
    BOOST_TEST(dense.acceptance < 0.95);
    check_normal(run(Hmc{.steps = {3, 20}}, *correlated_normal<float>(), 500, 2000));
    check_normal(run(Hmc{.alpha = 0.7}, *correlated_normal<double>(), 500, 2000));
    const Hmc fixed{.step_size = 0.3, .steps = {10, 30}, .metric = MetricKind::unit, .warmup = {.step_size = false}};
    check_normal(run(fixed, *correlated_normal<double>(), 100, 4000));
}

BOOST_AUTO_TEST_CASE(temperatures) {
    for (const double t : {0.5, 2.0}) check_normal(run(Hmc{}, *correlated_normal<double>(t), 500, 2000), t);
}

// 20 z-scores, each beyond 4.5 once in 150,000 times.
BOOST_AUTO_TEST_CASE(eight_schools_moments) {
    BOOST_TEST(eight_schools_z(run<double>(Hmc{}, eight_schools(), 1000, 8000)) < 4.5);
}

// Six z-scores below 4.5 each: a false alarm in one of 25,000 tests. Steps are so large that many are rejected.
BOOST_AUTO_TEST_CASE(leaves_the_target_invariant) {
    BOOST_TEST(invariance(Hmc{.step_size = 1.1, .steps = 3}) < 4.5);
    BOOST_TEST(invariance(Hmc{.step_size = 1, .steps = {1, 4}, .alpha = 0.9}, 20000, 8) < 4.5);
    const std::vector<double> metric{1, 0.9, 0.9, 4};
    BOOST_TEST(invariance(Hmc{.step_size = 0.9, .steps = 3, .metric = MetricKind::dense, .inverse_metric = metric}) <
               4.5);
    BOOST_TEST(invariance(Hmc{.step_size = 0.6, .steps = 2, .alpha = 0.9, .inverse_metric = {1, 4}}, 20000, 8) < 4.5);
}

struct TurnMomentum final : StateVisitor {
    void number(const char*, double&) override {}
    void integer(const char*, std::int64_t&) override {}
    void vector(const char*, std::vector<float>&) override {}
    void vector(const char* name, std::vector<double>& x) override {
        if (name == std::string("momentum"))
            for (double& p : x) p = -p;
    }
};

// A twin that keeps the direction of the momentum where it should turn round is far off.
BOOST_AUTO_TEST_CASE(partial_refreshment_without_turning_fails) {
    const auto undo = [](Chain<double>& chain, bool rejected) {
        TurnMomentum turn;
        if (rejected) chain.visit(turn);
    };
    BOOST_TEST(invariance(Hmc{.step_size = 1, .steps = {1, 4}, .alpha = 0.9}, 20000, 8, undo) > 8);
}

// The momentum that a step will make of this one with r ~ N(0, I) in the place of N(0, M): r = M^(1/2) z is in its
// hands, so what is missing to z is put into p before.
struct AddToMomentum final : StateVisitor {
    std::vector<double> add;
    void number(const char*, double&) override {}
    void integer(const char*, std::int64_t&) override {}
    void vector(const char*, std::vector<float>&) override {}
    void vector(const char* name, std::vector<double>& x) override {
        if (name == std::string("momentum"))
            for (std::size_t k = 0; k < x.size(); ++k) x[k] += add[k];
    }
};

// A twin that refreshes with momenta of mass 1 is far off.
BOOST_AUTO_TEST_CASE(partial_refreshment_of_another_mass_fails) {
    constexpr int steps = 8;
    const double alpha = 0.9, fresh = std::sqrt(1 - alpha * alpha);
    const Hmc sampler{.step_size = 0.6, .steps = 2, .alpha = alpha, .inverse_metric = {1, 4}};
    int calls = 0;
    const auto twin = [&](Chain<double>& chain, bool) {
        const auto replica = static_cast<std::uint32_t>(calls++ / steps);
        AddToMomentum change;
        change.add.resize(2);
        random_of(test_seed(), replica, chain.steps()).fill_normal(change.add);
        change.add[0] = 0;
        change.add[1] *= fresh / alpha * (1 - 1 / std::sqrt(4.0));
        chain.visit(change);
    };
    BOOST_TEST(invariance(sampler, 20000, steps, twin) > 8);
}

BOOST_AUTO_TEST_CASE(length_of_trajectories) {
    const auto lengths = [](const Hmc& options) {
        const auto chain = options.begin(standard_normal(), ChainStart<double>{{0, 0}, 1, 0, 0});
        std::set<std::int64_t> seen;
        for (int t = 0; t < 200; ++t) seen.insert(chain->step().gradients);
        return seen;
    };
    BOOST_TEST((lengths({.step_size = 0.1, .steps = 7}) == std::set<std::int64_t>{7}));
    BOOST_TEST((lengths({.step_size = 0.1, .steps = {2, 4}}) == std::set<std::int64_t>{2, 3, 4}));
    BOOST_TEST((lengths({.step_size = 0.25, .time = 1.5}) == std::set<std::int64_t>{6}));
    BOOST_TEST((lengths({.step_size = 0.25, .time = {0.01, 0.8}}) == std::set<std::int64_t>{1, 2, 3}));
    BOOST_TEST((lengths({.step_size = 1e-9, .time = 1, .max_steps = 5}) == std::set<std::int64_t>{5}));
}

BOOST_AUTO_TEST_CASE(resumes) {
    check_resume(Hmc{}, *correlated_normal<double>());
    check_resume(Hmc{.steps = {1, 5}, .metric = MetricKind::dense}, *correlated_normal<float>());
    check_resume(Hmc{.alpha = 0.5}, *correlated_normal<double>(2));
}

BOOST_AUTO_TEST_CASE(rejects_what_is_not_a_number) { check_invalid(Hmc{.step_size = 0.4, .steps = 3}); }

BOOST_AUTO_TEST_CASE(errors) {
    check_common_errors("Hmc", Hmc{});
    const auto error = [](const Hmc& options, std::int64_t warmup = 0) {
        return error_of<Error>([&] {
            options.begin(standard_normal(), ChainStart<double>{{1, 1}, 0, 0, warmup})->step();
        });
    };
    BOOST_TEST(error({.step_size = 0}) == "Hmc: step_size is 0; it must be positive");
    BOOST_TEST(error({.step_size = std::nan("")}) == "Hmc: step_size is nan; it must be positive");
    BOOST_TEST(error({.steps = -1}) == "Hmc: steps is -1; it must be from 1 up, and a range must rise");
    BOOST_TEST(error({.steps = {5, 2}}) == "Hmc: steps is 5..2; it must be from 1 up, and a range must rise");
    BOOST_TEST(error({.time = 0}) == "Hmc: time is 0; it must be positive, and a range must rise");
    BOOST_TEST(error({.max_steps = 0}) == "Hmc: max_steps is 0; at least 1 is needed");
    BOOST_TEST(error({.alpha = 1}) == "Hmc: alpha is 1; it must be from 0 up and below 1");
    BOOST_TEST(error({.target_acceptance = 1}) == "Hmc: target_acceptance is 1; it must be between 0 and 1");
    BOOST_TEST(error({.inverse_metric = {1}}) ==
               "Hmc: inverse_metric has 1 numbers; a diagonal metric of 2 dimensions has 2");
    BOOST_TEST(error({.inverse_metric = {1, -1}}) == "Hmc: inverse_metric[1] is -1; it must be positive");
    BOOST_TEST(error({.metric = MetricKind::dense, .inverse_metric = {1, 2, 2, 1}}) ==
               "Hmc: inverse_metric is not positive definite: pivot 1 is not positive");
    BOOST_TEST(error({.warmup = {.gamma = 0}}) == "Hmc: warmup.gamma is 0; it must be positive");
    BOOST_TEST(error({.warmup = {.window = 0}}) == "Hmc: warmup.window is 0; at least 1 is needed");
    Written<double> flat(1, [](std::span<const double>, std::span<double> g) {
        if (!g.empty()) g[0] = 0;
        return 0;
    });
    BOOST_TEST(error_of<ValueError>([&] {
                   Hmc{}.begin(flat.clone(), ChainStart<double>{{1}, 0, 0, 10})->step();
               }) == "Hmc: steps of any size are accepted; the density does not fall off");
    BOOST_TEST(Hmc{}.describe() ==
               "Hmc(step_size = 1, steps = 0, time = 1..5, max_steps = 1000, alpha = 0, target_acceptance = 0.8, "
               "metric = diagonal, inverse_metric = [], warmup = {step_size = adapted, metric = adapted, gamma = 0.05, "
               "t0 = 10, kappa = 0.75, first = 75, window = 25, last = 50})");
}

// Where the metric changes, a momentum of the old one means nothing: the next is fresh, of kinetic energy d / 2. With
// standard deviations of 0.01 a momentum of the unit metric would have next to none.
BOOST_AUTO_TEST_CASE(new_metric_new_momentum) {
    const Written<double> narrow(200, [](std::span<const double> x, std::span<double> g) {
        double u = 0;
        for (std::size_t k = 0; k < x.size(); ++k) {
            if (!g.empty()) g[k] = 1e4 * x[k];
            u += 5e3 * x[k] * x[k];
        }
        return u;
    });
    Hmc sampler{.step_size = 0.005, .steps = 1, .alpha = 0.999};
    sampler.warmup.step_size = false;
    sampler.warmup.first = 5, sampler.warmup.window = 30, sampler.warmup.last = 10;
    const auto chain = sampler.begin(narrow.clone(), ChainStart<double>{std::vector<double>(200, 0.01), 3, 0, 45});
    for (int t = 0; t < 35; ++t) chain->step();
    BOOST_TEST(chain->inverse_metric()[0] < 0.01);
    const StepStatistics s = chain->step();
    BOOST_TEST(std::abs(2 * (s.hamiltonian - s.energy) / 200 - 1) < 0.5);
}

BOOST_AUTO_TEST_SUITE_END()
