#include "../../support.hpp"
#include "../full_batch/exact_draws.hpp"
#include "diagnostics_reference.hpp"

#include <pollen/samplers/diagnostics/detail/draws_math.hpp>

#include <algorithm>
#include <limits>

using namespace pollen;
using namespace pollen::test;

BOOST_AUTO_TEST_SUITE(diagnostics)

namespace {

using posterior::Case;
using posterior::Special;

constexpr double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();

// The draws of make_diagnostics_reference.R.
std::vector<std::vector<double>> draws_of(const Case& c, std::size_t number) {
    std::vector<std::vector<double>> x;
    for (int k = 0; k < c.chains; ++k) {
        x.push_back(exact_chain(1000 * static_cast<double>(number) + k + 1, c.draws, c.rho));
        for (double& v : x.back()) {
            v = (1 + k * c.grow) * v + k * c.shift;
            if (c.grid > 0) v = std::floor(v / c.grid) * c.grid;
            if (c.special == Special::constant) v = 0.1;
            if (c.special == Special::constant_within) v = 0.1 * (k + 1);
            if (c.special == Special::one_constant && k == 0) v = 0.1;
            if (c.special == Special::tiny) v *= 0x1p-70;
            if (c.special == Special::far) v += 0x1p20;
        }
    }
    const auto third = static_cast<std::size_t>(std::min(3, c.draws) - 1), middle = x[0].size() / 2;
    if (c.special == Special::not_a_number) x[0][third] = nan;
    if (c.special == Special::infinite) x[0][third] = infinity;
    if (c.special == Special::nan_in_the_middle) x[0][middle] = nan;
    if (c.special == Special::infinite_in_the_middle) x[0][middle] = -infinity;
    return x;
}

std::array<double, 17> results_of(const Chains& x) {
    return {rhat(x),
            rhat_basic(x),
            ess_bulk(x),
            ess_tail(x),
            ess_mean(x),
            ess_sd(x),
            ess_median(x),
            ess_quantile(x, 0),
            ess_quantile(x, 0.1),
            ess_quantile(x, 1),
            mcse_mean(x),
            mcse_sd(x),
            mcse_median(x),
            mcse_quantile(x, 0),
            mcse_quantile(x, 0.05),
            mcse_quantile(x, 0.95),
            mcse_quantile(x, 1)};
}

}  // namespace

BOOST_AUTO_TEST_CASE(as_posterior_has_them) {
    double worst = 0;
    std::size_t numbers = 0;
    for (std::size_t i = 0; i < posterior::cases.size(); ++i) {
        const Case& c = posterior::cases[i];
        const std::vector<std::vector<double>> draws = draws_of(c, i + 1);
        const std::array<double, 17> got = results_of(draws);
        // posterior's .split_chains() loses a dimension where half a chain is one draw, and takes chains for draws.
        const bool mixed_up = c.chains > 1 && (c.draws == 2 || c.draws == 3);
        for (std::size_t k = 0; k < got.size(); ++k) {
            double expected = mixed_up ? nan : c.results[k];
            // A variance within chains of exactly 0 is one of rounding errors there.
            if (k < 2 && c.special == Special::constant_within && expected > 1e12) expected = infinity;
            const bool both_nan = std::isnan(got[k]) && std::isnan(expected), equal = got[k] == expected;
            const double error = both_nan || equal ? 0 : std::abs(got[k] / expected - 1);
            BOOST_TEST(error <= 1e-12, "case " << i + 1 << " (" << c.chains << " chains of " << c.draws << ", special "
                                               << static_cast<int>(c.special) << "), " << posterior::names[k] << ": "
                                               << got[k] << " is not " << expected);
            worst = std::max(worst, error);
            numbers += !std::isnan(expected);
        }
    }
    BOOST_TEST_MESSAGE(numbers << " numbers, greatest relative difference " << worst);
    BOOST_TEST(numbers > 1000U);
}

BOOST_AUTO_TEST_CASE(one_view_of_all_forms) {
    const std::vector<std::vector<double>> rows{exact_chain(1, 40, 0.5), exact_chain(2, 40, 0.5)};
    std::vector<double> flat = rows[0];
    flat.insert(flat.end(), rows[1].begin(), rows[1].end());
    const Tensor<double> tensor(Shape{2, 40}, flat);
    BOOST_TEST(results_of(rows) == results_of(tensor), boost::test_tools::per_element());
    BOOST_TEST(results_of(rows) == results_of(Chains(flat, 2)), boost::test_tools::per_element());
    BOOST_TEST(Chains(rows).flatten() == flat, boost::test_tools::per_element());
    const Tensor<double> single(Shape{40}, rows[0]);
    BOOST_TEST(Chains(single).chains() == 1);
    BOOST_TEST(rhat(single) == rhat(std::vector<std::vector<double>>{rows[0]}));
}

BOOST_AUTO_TEST_CASE(ranks_do_not_see_the_scale) {
    std::vector<std::vector<double>> x{exact_chain(1, 300, 0.5), exact_chain(2, 300, 0.5)}, y = x;
    for (auto& row : y) {
        for (double& v : row) v = 4 * v + 2;
    }
    BOOST_TEST(rhat(x) == rhat(y));
    BOOST_TEST(ess_bulk(x) == ess_bulk(y));
    BOOST_TEST(ess_tail(x) == ess_tail(y));
    for (auto& row : y) {
        for (double& v : row) v = std::exp(v);
    }
    BOOST_TEST(ess_bulk(x) == ess_bulk(y));
}

// sqrt((B/W + n - 1) / n) of two chains as they are: means 2 and 4, variances 1, n = 3, so B = 6 and W = 1.
BOOST_AUTO_TEST_CASE(rhat_by_hand) {
    const std::vector<std::vector<double>> x{{1, 2, 3}, {3, 4, 5}};
    BOOST_TEST(std::abs(rhat_basic(x, false) - std::sqrt(8.0 / 3)) < 1e-15);
    BOOST_TEST(std::isnan(rhat_basic(x)));
    BOOST_TEST(std::isnan(rhat_basic(Tensor<double>{1, 2, 3}, false)));
}

// A chain with autocorrelations rho^t is worth n (1 - rho) / (1 + rho) independent draws. With 4 chains of 10,000 draws
// the estimate has a relative standard deviation of 0.037, 0.016, 0.030 and 0.063 (of 200 runs); five of them either
// way give a false alarm in less than one of 300,000 such tests.
BOOST_AUTO_TEST_CASE(autoregressive_chains) {
    const std::vector<std::pair<double, double>> sizes{{-0.5, 0.037}, {0, 0.016}, {0.5, 0.030}, {0.9, 0.063}};
    for (const auto& [rho, sd] : sizes) {
        Random random(11);
        std::vector<std::vector<double>> x(4, std::vector<double>(10000));
        for (auto& row : x) {
            double y = random.normal() / std::sqrt(1 - rho * rho);
            for (double& v : row) {
                v = y;
                y = rho * y + random.normal();
            }
        }
        const double expected = 40000 * (1 - rho) / (1 + rho);
        BOOST_TEST(std::abs(ess_mean(x) / expected - 1) < 5 * sd, "rho " << rho << ": " << ess_mean(x));
        BOOST_TEST(std::abs(ess_bulk(x) / expected - 1) < 5 * sd, "rho " << rho << ": " << ess_bulk(x));
        BOOST_TEST(std::abs(mcse_mean(x) * std::sqrt(expected * (1 - rho * rho)) - 1) < 5 * sd);
        BOOST_TEST(rhat(x) < 1.01);
        // Chains that sit apart, or that differ in width alone, are noticed.
        std::vector<std::vector<double>> moved = x, wide = x;
        for (double& v : moved[3]) v += 1;
        for (double& v : wide[3]) v *= 2;
        BOOST_TEST(rhat(moved) > 1.01);
        BOOST_TEST(rhat(wide) > 1.01);
        BOOST_TEST(rhat_basic(wide) < 1.01);
    }
}

BOOST_AUTO_TEST_CASE(autocovariance_by_its_definition) {
    for (const std::size_t n : {1, 2, 3, 4, 5, 7, 8, 9, 31, 32, 33, 1000}) {
        const Tensor<double> x = normals(Shape{static_cast<std::int64_t>(n)}, n);
        const std::vector<double> got = autocovariance(x.values()), scaled = autocorrelation(x.values());
        BOOST_REQUIRE(got.size() == n);
        long double mean = 0;
        for (const double v : x) mean += v / static_cast<long double>(n);
        for (std::size_t k = 0; k < n; ++k) {
            long double sum = 0;
            for (std::size_t t = 0; t + k < n; ++t) sum += (x.data()[t] - mean) * (x.data()[t + k] - mean);
            const double expected = static_cast<double>(sum / static_cast<long double>(n));
            BOOST_TEST(std::abs(got[k] - expected) < 1e-14);
            if (n > 1) BOOST_TEST(scaled[k] == got[k] / got[0]);
        }
    }
    BOOST_TEST(autocovariance(std::vector<double>(9, 0.1)) == std::vector<double>(9, 0),
               boost::test_tools::per_element());
    BOOST_TEST(std::isnan(autocorrelation(std::vector<double>(9, 0.1))[0]));
}

// R's quantile(c(3, 1, 2, 5, 4, 9.5), c(0, .05, .1, .5, .77, 1)).
BOOST_AUTO_TEST_CASE(quantiles) {
    const std::vector<double> x{3, 1, 2, 5, 4, 9.5};
    const std::vector<std::pair<double, double>> expected{{0, 1}, {0.05, 1.25}, {0.1, 1.5}, {0.5, 3.5}, {1, 9.5}};
    for (const auto& [p, q] : expected) BOOST_TEST(quantile(x, p) == q);
    BOOST_TEST(std::abs(quantile(x, 0.77) - 4.85) < 1e-15);
    BOOST_TEST(quantile(std::vector<double>{1, infinity}, 0) == 1);
    BOOST_TEST(std::isnan(quantile(std::vector<double>{1, nan}, 0)));
}

// By SciPy's norm.ppf, and by its beta.ppf and R's qbeta, which agree to 13 digits.
BOOST_AUTO_TEST_CASE(quantile_functions) {
    const std::vector<std::pair<double, double>> normal{{1e-300, -37.0470962993612},
                                                        {1e-20, -9.262340089798409},
                                                        {1e-5, -4.264890793922825},
                                                        {0.05, -1.6448536269514729},
                                                        {0.075, -1.4395314709384563},
                                                        {0.3, -0.5244005127080409},
                                                        {0.5, 0},
                                                        {0.8, 0.8416212335729143},
                                                        {0.999, 3.090232306167813}};
    for (const auto& [p, z] : normal) BOOST_TEST(std::abs(detail::normal_quantile(p) - z) <= 2e-15 * std::abs(z));
    const std::vector<std::array<double, 4>> beta{{0.1586553, 1, 1, 0.1586553},
                                                  {0.8413447, 1, 5, 0.3080241832914521},
                                                  {0.1586553, 3.5, 120, 0.014093604805960133},
                                                  {0.8413447, 900.5, 50.25, 0.9543825448783978},
                                                  {0.8413447, 20001, 380001, 0.050346855178894},
                                                  {0.1586553, 5e5, 5e5, 0.49950000009519446}};
    for (const auto& [p, a, b, x] : beta) {
        const double got = detail::beta_quantile(p, a, b);
        BOOST_TEST(std::abs(got / x - 1) < 1e-12, "Beta(" << a << ", " << b << "): " << got << " is not " << x);
    }
}

BOOST_AUTO_TEST_CASE(energies) {
    BOOST_TEST(ebfmi(std::vector<double>{1, 3, 2}) == (4.0 + 1) / 2);
    BOOST_TEST(std::isnan(ebfmi(std::vector<double>{5, 5, 5})));
    // Independent energies have an E-BFMI near 2, a slow random walk of them one near 0.
    const Tensor<double> steps = normals(Shape{1000});
    BOOST_TEST(std::abs(ebfmi(steps.values()) - 2) < 0.2);
    std::vector<double> walk{0};
    for (const double s : steps) walk.push_back(walk.back() + s);
    BOOST_TEST(ebfmi(walk) < 0.1);
}

BOOST_AUTO_TEST_CASE(errors) {
    const auto shape_error = [](const auto& f) { return error_of<ShapeError>(f); };
    using Rows = std::vector<std::vector<double>>;
    BOOST_TEST(shape_error([] { rhat(Rows{}); }) == "Chains: there are no chains");
    BOOST_TEST(shape_error([] { rhat(Rows{{}, {}}); }) == "Chains: there are no draws");
    BOOST_TEST(shape_error([] {
                   rhat(Rows{{1, 2}, {1, 2, 3}});
               }) == "Chains: chain 0 has 2 draws and chain 1 has 3; all need the same number");
    BOOST_TEST(shape_error([] {
                   rhat(Tensor<double>::zeros({2, 3, 4}));
               }) == "Chains: draws are (2, 3, 4); (chains, draws) or (draws) is expected");
    BOOST_TEST(shape_error([] { rhat(Tensor<double>::zeros({0, 4})); }) == "Chains: there are no chains");
    BOOST_TEST(shape_error([] { rhat(Tensor<double>::zeros({4, 0})); }) == "Chains: there are no draws");
    const std::vector<double> seven(7);
    BOOST_TEST(shape_error([&] { rhat(Chains(seven, 2)); }) == "Chains: 7 draws cannot be 2 chains of equal length");
    BOOST_TEST(shape_error([&] { rhat(Chains(seven, 0)); }) == "Chains: there are no chains");
    BOOST_TEST(shape_error([] { autocovariance({}); }) == "autocovariance: there are no draws");
    BOOST_TEST(shape_error([] { autocorrelation({}); }) == "autocorrelation: there are no draws");
    BOOST_TEST(shape_error([] { quantile({}, 0.5); }) == "quantile: there are no draws");
    BOOST_TEST(error_of<ValueError>([&] { quantile(seven, 1.5); }) == "quantile: p is 1.5; it must be between 0 and 1");
    BOOST_TEST(error_of<ValueError>([&] { ess_quantile(Chains(seven, 1), nan); }) ==
               "ess_quantile: p is nan; it must be between 0 and 1");
    BOOST_TEST(error_of<ValueError>([&] { mcse_quantile(Chains(seven, 1), -1); }) ==
               "mcse_quantile: p is -1; it must be between 0 and 1");
    BOOST_TEST(error_of<ValueError>([] { ebfmi(std::vector<double>{1}); }) ==
               "ebfmi: the number of energies is 1; at least 2 are needed");
}

BOOST_AUTO_TEST_SUITE_END()
