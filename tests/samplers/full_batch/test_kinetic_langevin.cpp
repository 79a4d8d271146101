#include <pollen/samplers/full_batch/kinetic_langevin.hpp>

#include "full_batch_checks.hpp"

using namespace pollen;
using namespace pollen::test;

BOOST_AUTO_TEST_SUITE(kinetic_langevin)

constexpr double infinity = std::numeric_limits<double>::infinity();

// U = 4 x^2 / 2, a frequency of 2: steps are stable below h = 1.
std::unique_ptr<Potential<double>> oscillator(double temperature) {
    auto potential = std::make_unique<Written<double>>(1, [](std::span<const double> x, std::span<double> g) {
        if (!g.empty()) g[0] = 4 * x[0];
        return 2 * x[0] * x[0];
    });
    potential->set_temperature(temperature);
    return potential;
}

ChainValues squares(const KineticLangevin& options, double temperature) {
    return run(options, *oscillator(temperature), 200, 20000).of([](const auto& x) { return x[0] * x[0]; });
}

// The variance of the position is T / L at any step. 18 z-scores below 4.5 each: a false alarm in one of 8,000 tests.
BOOST_AUTO_TEST_CASE(variance_is_exact_at_any_step) {
    for (const double t : {1.0, 0.5, 2.0})
        for (const double h : {0.1, 0.6, 0.95})
            for (const double friction : {1.0, infinity})
                BOOST_TEST(std::abs(z_score(squares({.step_size = h, .friction = friction}, t), t / 4)) < 4.5);
    const KineticLangevin heavy{
        .step_size = 0.5, .friction = 0.3, .metric = MetricKind::diagonal, .inverse_metric = {3}};
    BOOST_TEST(std::abs(z_score(squares(heavy, 1), 0.25)) < 4.5);
}

// A twin with fresh noise each step in the overdamped limit: Var = e T / (2a - a^2), a = e L / 2, e = h^2, as of SGLD.
BOOST_AUTO_TEST_CASE(euler_twin_fails) {
    const double e = 0.36, a = 2 * e;
    ChainValues twin(4);
    for (std::uint32_t c = 0; c < 4; ++c) {
        Random random(3, c);
        double x = 0.5;
        for (int t = 0; t < 20200; ++t) {
            x -= e / 2 * 4 * x - std::sqrt(e) * random.normal<double>();
            if (t >= 200) twin[c].push_back(x * x);
        }
    }
    BOOST_TEST(std::abs(z_score(twin, 0.25)) > 20);
    BOOST_TEST(std::abs(z_score(twin, e / (2 * a - a * a))) < 4.5);
}

BOOST_AUTO_TEST_CASE(turns_at_a_wall) { check_wall(KineticLangevin{.step_size = 0.02, .friction = 1}, 2000000); }

// x' = x - h^2/2 G grad U + h/2 (r + r'), with the same random numbers.
BOOST_AUTO_TEST_CASE(overdamped_limit) {
    const double h = 0.4, temperature = 0.7;
    const std::vector<double> inverse{0.5, 2};
    auto u = standard_normal();
    u->set_temperature(temperature);
    const auto chain =
        KineticLangevin{.step_size = h, .friction = infinity, .metric = MetricKind::diagonal, .inverse_metric = inverse}
            .begin(std::move(u), ChainStart<double>{{1, -2}, 6, 3, 0});
    double x[2] = {1, -2}, r[2];
    for (std::int64_t t = 0; t < 50; ++t) {
        Random random = random_of(6, 3, t);
        if (t == 0) {
            // The momentum at the start: half of a kick short of r.
            for (std::size_t k = 0; k < 2; ++k)
                r[k] = std::sqrt(temperature * inverse[k]) * random.normal<double>() + h / 2 * inverse[k] * x[k];
        }
        chain->step();
        for (std::size_t k = 0; k < 2; ++k) {
            const double next = std::sqrt(temperature * inverse[k]) * random.normal<double>();
            x[k] += -h * h / 2 * inverse[k] * x[k] + h / 2 * (r[k] + next);
            r[k] = next;
            BOOST_TEST(std::abs(chain->position()[k] - x[k]) < 1e-13);
        }
    }
}

BOOST_AUTO_TEST_CASE(correlated_normal_moments) {
    for (const double friction : {1.0, infinity}) {
        const KineticLangevin options{.step_size = 0.5, .friction = friction};
        check_normal(run(options, *correlated_normal<double>(), 500, 10000, friction > 1 ? 30 : 10));
    }
    check_normal(run(KineticLangevin{.step_size = 0.5}, *correlated_normal<float>(2), 500, 10000, 10), 2);
}

// The kinetic energy, 2 (hamiltonian - energy), is that of the temperature but for O(h^2).
BOOST_AUTO_TEST_CASE(kinetic_energy) {
    const auto chain = KineticLangevin{.step_size = 0.05}.begin(oscillator(3), ChainStart<double>{{0.5}, 1, 0, 0});
    ChainValues kinetic(1);
    for (int t = 0; t < 40000; ++t) {
        const StepStatistics s = chain->step();
        kinetic[0].push_back(2 * (s.hamiltonian - s.energy));
    }
    BOOST_TEST(std::abs(z_score(kinetic, 1)) < 4.5);
}

BOOST_AUTO_TEST_CASE(resumes) {
    check_resume(KineticLangevin{}, *correlated_normal<double>());
    check_resume(KineticLangevin{.friction = infinity}, *correlated_normal<float>(2));
}

BOOST_AUTO_TEST_CASE(rejects_what_is_not_a_number) { check_invalid(KineticLangevin{.step_size = 0.3}); }

BOOST_AUTO_TEST_CASE(errors) {
    check_common_errors("KineticLangevin", KineticLangevin{});
    const auto error = [](const KineticLangevin& options) {
        return error_of<ValueError>([&] { options.begin(standard_normal(), ChainStart<double>{{1, 1}, 0, 0, 0}); });
    };
    BOOST_TEST(error({.step_size = 0}) == "KineticLangevin: step_size is 0; it must be positive");
    BOOST_TEST(error({.step_size = std::nan("")}) == "KineticLangevin: step_size is nan; it must be positive");
    BOOST_TEST(error({.step_size = infinity}) == "KineticLangevin: step_size is inf; it must be positive");
    BOOST_TEST(error({.friction = 0}) == "KineticLangevin: friction is 0; it must be positive, or infinite");
    const Written<double> steep(2, [](std::span<const double>, std::span<double> g) {
        std::fill(g.begin(), g.end(), infinity);
        return 0;
    });
    BOOST_TEST(error_of<ValueError>([&] {
                   KineticLangevin{}.begin(steep.clone(), ChainStart<double>{{1, 1}, 0, 0, 0});
               }) == "KineticLangevin: the gradient is inf at the start, for x; it must be finite");
    BOOST_TEST(KineticLangevin{}.describe() ==
               "KineticLangevin(step_size = 0.1, friction = 1, metric = unit, inverse_metric = [])");
}

BOOST_AUTO_TEST_SUITE_END()
