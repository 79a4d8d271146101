#include "../../support.hpp"

#include <pollen/autograd/random.hpp>
#include <pollen/samplers/diagnostics/batch_means.hpp>

#include <cmath>

using namespace pollen;
using namespace pollen::test;

BOOST_AUTO_TEST_SUITE(batch_means)

BOOST_AUTO_TEST_CASE(pairs_become_one) {
    BatchSums sums;
    for (int t = 0; t < 1000; ++t) {
        sums.add(t, 2);
        BOOST_TEST(sums.valid());
        BOOST_TEST(sums.count() <= 32);
        if (t >= 32) BOOST_TEST(sums.count() > 16);
    }
    // Batches of 32: 0 to 31, 32 to 63, ..., and the last one of 8.
    BOOST_TEST(sums.count() == 32);
    BOOST_TEST(sums.weight(0) == 64);
    BOOST_TEST(sums.sum(1) == 2 * (32 + 63) * 16);
    BOOST_TEST(sums.weight(31) == 16);
    BOOST_TEST(mean_and_error({&sums, 1}).mean == 499.5);
}

// The error by hand, of batches and of chains.
BOOST_AUTO_TEST_CASE(errors_by_hand) {
    BatchSums a, b;
    BOOST_TEST(std::isnan(mean_and_error({&a, 1}).mean));
    a.add(1);
    BOOST_TEST(mean_and_error({&a, 1}).mean == 1);
    BOOST_TEST(std::isnan(mean_and_error({&a, 1}).error));
    a.add(3, 3);
    BOOST_TEST(mean_and_error({&a, 1}).mean == 2.5);
    BOOST_TEST(mean_and_error({&a, 1}).error == std::sqrt(2 * (1.5 * 1.5 + 1.5 * 1.5)) / 4,
               boost::test_tools::tolerance(1e-14));
    b.add(9, 2), b.add(9, 2);
    const std::vector<BatchSums> both{a, b};
    const MeanAndError m = mean_and_error(both);
    BOOST_TEST(m.mean == 46.0 / 8);
    // Two chains of weight 4: 2 (4 (2.5 - 5.75))^2 2 / 8^2.
    BOOST_TEST(m.error == std::sqrt(2 * 2 * 13.0 * 13.0) / 8, boost::test_tools::tolerance(1e-14));
}

// The error of the mean of an autoregressive chain x' = r x + z is sqrt((1 + r) / (1 - r) / n) sd.
BOOST_AUTO_TEST_CASE(errors_of_dependent_draws) {
    std::vector<BatchSums> chains(4);
    const double r = 0.8;
    const int n = 20000;
    for (std::size_t c = 0; c < 4; ++c) {
        Random random(5, static_cast<std::uint32_t>(c));
        double x = 0;
        for (int t = 0; t < n; ++t) chains[c].add(x = r * x + std::sqrt(1 - r * r) * random.normal<double>());
    }
    const double expected = std::sqrt((1 + r) / (1 - r) / (4 * n));
    BOOST_TEST(mean_and_error(chains).error > 0.7 * expected);
    BOOST_TEST(mean_and_error(chains).error < 2.5 * expected);
    BOOST_TEST(std::abs(mean_and_error(chains).mean) < 5 * expected);
}

BOOST_AUTO_TEST_SUITE_END()
