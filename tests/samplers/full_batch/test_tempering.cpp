#include <pollen/samplers/full_batch/tempering.hpp>

#include "full_batch_checks.hpp"

using namespace pollen;
using namespace pollen::test;

BOOST_AUTO_TEST_SUITE(tempering)

// 0.3 N((-5, -5), 1) + 0.7 N((5, 5), 1)
std::unique_ptr<Potential<double>> two_modes() {
    return std::make_unique<Written<double>>(2, [](std::span<const double> x, std::span<double> g) {
        const double a = std::log(0.3) - ((x[0] + 5) * (x[0] + 5) + (x[1] + 5) * (x[1] + 5)) / 2;
        const double b = std::log(0.7) - ((x[0] - 5) * (x[0] - 5) + (x[1] - 5) * (x[1] - 5)) / 2;
        const double m = std::max(a, b), log_sum = m + std::log(std::exp(a - m) + std::exp(b - m));
        const double left = std::exp(a - log_sum);
        for (std::size_t k = 0; k < g.size(); ++k) g[k] = left * (x[k] + 5) + (1 - left) * (x[k] - 5);
        return -log_sum;
    });
}

// The share of the right mode, and the mean and the second moment of x. Three z-scores below 4.5.
double greatest_z(const Run& r) {
    const double share = z_score(r.of([](const auto& x) { return x[0] > 0 ? 1.0 : 0.0; }), 0.7);
    const double mean = z_score(r.of([](const auto& x) { return x[0]; }), 2);
    const double square = z_score(r.of([](const auto& x) { return x[1] * x[1]; }), 26);
    return std::max({std::abs(share), std::abs(mean), std::abs(square)});
}

BOOST_AUTO_TEST_CASE(both_modes) {
    const std::vector<double> ladder{1, 3, 9, 27};
    BOOST_TEST(greatest_z(run(Tempering{.temperatures = ladder}, *two_modes(), 500, 10000)) < 4.5);
    const Tempering walk{.temperatures = ladder, .kernel = Tempering::Kernel::metropolis};
    BOOST_TEST(greatest_z(run(walk, *two_modes(), 500, 10000)) < 4.5);
    // Without a ladder each chain stays in its mode.
    for (const auto& chain : run(Tempering{.temperatures = {1}}, *two_modes(), 500, 2000).positions)
        for (const auto& x : chain) BOOST_TEST_REQUIRE(x[0] * chain[0][0] > 0);
}

// All rungs have their own law: with a ladder of two, swaps nearly always happen and the narrow one must stay narrow.
BOOST_AUTO_TEST_CASE(correlated_normal_moments) {
    check_normal(run(Tempering{.temperatures = {1, 1.3}}, *correlated_normal<double>(), 1000, 10000, 2));
    check_normal(run(Tempering{.temperatures = {1, 1.3}}, *correlated_normal<float>(2), 1000, 10000, 2), 2);
}

BOOST_AUTO_TEST_CASE(step_sizes_that_stay) {
    const auto chain = Tempering{.step_size = 0.2, .adapt = false}.begin(standard_normal(), {{0, 0}, 1, 0, 50});
    for (int t = 0; t < 60; ++t) BOOST_TEST(chain->step().step_size == 0.2);
}

BOOST_AUTO_TEST_CASE(resumes) {
    check_resume(Tempering{}, *correlated_normal<double>());
    check_resume(Tempering{.kernel = Tempering::Kernel::metropolis}, *correlated_normal<float>(2));
}

BOOST_AUTO_TEST_CASE(rejects_what_is_not_a_number) {
    check_invalid(Tempering{.temperatures = {1, 1.2}, .step_size = 0.3, .steps = 2});
}

BOOST_AUTO_TEST_CASE(errors) {
    check_common_errors("Tempering", Tempering{});
    const auto error = [](const Tempering& options) {
        return error_of<ValueError>([&] { options.begin(standard_normal(), ChainStart<double>{{1, 1}, 0, 0, 0}); });
    };
    BOOST_TEST(error({.temperatures = {}}) == "Tempering: temperatures is []; the first must be 1");
    BOOST_TEST(error({.temperatures = {2, 3}}) == "Tempering: temperatures is [2 3]; the first must be 1");
    BOOST_TEST(error({.temperatures = {1, 3, 2}}) == "Tempering: temperatures is [1 3 2]; it must rise");
    BOOST_TEST(error({.step_size = 0}) == "Tempering: step_size is 0; it must be positive");
    BOOST_TEST(error({.steps = 0}) == "Tempering: steps is 0; it must be from 1 up, and a range must rise");
    const Written<double> steep(2, [](std::span<const double>, std::span<double> g) {
        std::fill(g.begin(), g.end(), std::numeric_limits<double>::infinity());
        return 0;
    });
    BOOST_TEST(error_of<ValueError>([&] {
                   Tempering{}.begin(steep.clone(), ChainStart<double>{{1, 1}, 0, 0, 0});
               }) == "Tempering: the gradient is inf at the start, for x; it must be finite");
    BOOST_TEST(error({.step_size = std::nan("")}) == "Tempering: step_size is nan; it must be positive");
    BOOST_TEST(Tempering{}.describe() ==
               "Tempering(temperatures = [1 2 4 8], kernel = hmc, step_size = 0.1, steps = 5..15, target_acceptance = "
               "by kernel, adapt = yes)");
}

BOOST_AUTO_TEST_SUITE_END()
