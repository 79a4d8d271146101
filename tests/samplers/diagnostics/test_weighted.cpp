#include "../../support.hpp"

#include <pollen/samplers/diagnostics/weighted.hpp>

#include <limits>

using namespace pollen;
using namespace pollen::test;

BOOST_AUTO_TEST_SUITE(weighted)

namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();

}  // namespace

BOOST_AUTO_TEST_CASE(moments_by_their_definition) {
    // Far from 0, where the difference of two sums of squares would have no digits left.
    const Tensor<double> x = normals({500, 3}, 2), w = uniforms({500}, 0, 2, 3);
    WeightedMoments moments(3);
    for (std::int64_t t = 0; t < 500; ++t) {
        const std::vector<double> draw{x(t, 0) + 1e8, x(t, 1), 100 * x(t, 2)};
        moments.add(std::span<const double>(draw), w(t));
    }
    const std::vector<double> shift{1e8, 0, 0}, scale{1, 1, 100};
    const std::vector<double> variance = moments.variance();
    for (std::int64_t k = 0; k < 3; ++k) {
        const auto at = static_cast<std::size_t>(k);
        long double total = 0, sum = 0, squares = 0;
        for (std::int64_t t = 0; t < 500; ++t) {
            total += w(t);
            sum += static_cast<long double>(w(t)) * x(t, k);
        }
        for (std::int64_t t = 0; t < 500; ++t) squares += w(t) * (x(t, k) - sum / total) * (x(t, k) - sum / total);
        const double expected = static_cast<double>(sum / total) * scale[at] + shift[at];
        const double spread = static_cast<double>(squares / total) * scale[at] * scale[at];
        BOOST_TEST(std::abs(moments.mean[at] - expected) < 1e-13 * std::max(1.0, std::abs(expected)));
        BOOST_TEST(std::abs(variance[at] / spread - 1) < 1e-6 * (k == 0) + 1e-12);
    }
}

// A weight of 3 is three draws, a weight of 0 none; weights count by their ratios alone.
BOOST_AUTO_TEST_CASE(weights_are_counts) {
    const std::vector<float> a{1, 10}, b{5, 30}, ignored{1e30F, -1e30F};
    WeightedMoments weighted(2), repeated(2), halved(2);
    weighted.add(std::span<const float>(a), 3);
    weighted.add(std::span<const float>(ignored), 0);
    weighted.add(std::span<const float>(b), 1);
    for (int k = 0; k < 3; ++k) repeated.add(std::span<const float>(a), 1);
    repeated.add(std::span<const float>(b), 1);
    halved.add(std::span<const float>(a), 1.5);
    halved.add(std::span<const float>(b), 0.5);
    BOOST_TEST(weighted.mean == (std::vector<double>{2, 15}), boost::test_tools::per_element());
    BOOST_TEST(weighted.variance() == (std::vector<double>{3, 75}), boost::test_tools::per_element());
    BOOST_TEST(repeated.variance() == weighted.variance(), boost::test_tools::per_element());
    BOOST_TEST(halved.variance() == weighted.variance(), boost::test_tools::per_element());
    BOOST_TEST(weighted.draws() == 1.6);
    BOOST_TEST(repeated.draws() == 4);
    BOOST_TEST(std::isnan(WeightedMoments(1).variance()[0]));
}

// Which weight goes with which draw matters: on a path that moves deterministically from 0 to 1 with shrinking steps,
// sum e_{t+1} theta_t is the left Riemann sum of the area below it. The twin that weighs theta_t by e_t is off.
BOOST_AUTO_TEST_CASE(a_draw_stands_for_the_time_until_the_next) {
    WeightedMoments right(1), twin(1);
    double time = 0, before = 1.0;
    for (int t = 0; t < 20; ++t) {
        const double theta = time < 1 ? 0 : 1, next = 1.0 / (t + 1);  // at 0 for one unit of time, then at 1
        right.add(std::span<const double>(&theta, 1), next);
        twin.add(std::span<const double>(&theta, 1), before);
        time += next;
        before = next;
    }
    BOOST_TEST(std::abs(right.mean[0] - (time - 1) / time) < 1e-15);
    BOOST_TEST(std::abs(twin.mean[0] - (time - 1) / time) > 0.01);
}

BOOST_AUTO_TEST_CASE(quantiles) {
    const std::vector<double> x{3, 1, 2, 9}, w{1, 2, 1, 0};
    BOOST_TEST(weighted_quantile(x, w, 0) == 1);
    BOOST_TEST(weighted_quantile(x, w, 0.5) == 1);
    BOOST_TEST(weighted_quantile(x, w, 0.51) == 2);
    BOOST_TEST(weighted_quantile(x, w, 0.75) == 2);
    BOOST_TEST(weighted_quantile(x, w, 0.76) == 3);
    BOOST_TEST(weighted_quantile(x, w, 1) == 3);
    BOOST_TEST(weighted_quantile(std::vector<double>{5}, std::vector<double>{0.1}, 0.3) == 5);
    BOOST_TEST(std::isnan(weighted_quantile(std::vector<double>{5, nan}, std::vector<double>{1, 1}, 0.3)));
}

BOOST_AUTO_TEST_CASE(errors) {
    const std::vector<double> two{1, 2}, none{}, zeros{0, 0}, bad{1, -1};
    WeightedMoments moments(3);
    BOOST_TEST(error_of<ValueError>([] { WeightedMoments(0); }) ==
               "WeightedMoments: dimensions is 0; at least 1 is needed");
    BOOST_TEST(error_of<ShapeError>([&] { moments.add(std::span<const double>(two), 1); }) ==
               "WeightedMoments: a draw of 2 numbers for 3 dimensions");
    const std::vector<double> three{1, 2, 3};
    for (const auto& [weight, text] :
         std::vector<std::pair<double, std::string>>{{-1, "-1"}, {nan, "nan"}, {infinity, "inf"}})
        BOOST_TEST(error_of<ValueError>([&, w = weight] { moments.add(std::span<const double>(three), w); }) ==
                   "WeightedMoments: a weight is " + text + "; it must be finite and not negative");
    BOOST_TEST(moments.weight == 0);
    BOOST_TEST(error_of<ShapeError>([&] { weighted_quantile(none, none, 0.5); }) ==
               "weighted_quantile: there are no draws");
    BOOST_TEST(error_of<ShapeError>([&] { weighted_quantile(three, two, 0.5); }) ==
               "weighted_quantile: 3 draws with 2 weights; each draw needs one");
    BOOST_TEST(error_of<ValueError>([&] { weighted_quantile(two, zeros, 0.5); }) ==
               "weighted_quantile: all weights are 0");
    BOOST_TEST(error_of<ValueError>([&] { weighted_quantile(two, bad, 0.5); }) ==
               "weighted_quantile: a weight is -1; it must be finite and not negative");
    BOOST_TEST(error_of<ValueError>([&] { weighted_quantile(two, two, 2); }) ==
               "weighted_quantile: p is 2; it must be between 0 and 1");
}

BOOST_AUTO_TEST_SUITE_END()
