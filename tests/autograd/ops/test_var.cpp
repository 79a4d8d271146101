#include "reduction_checks.hpp"

using namespace pollen;
using namespace pollen::test;

BOOST_AUTO_TEST_SUITE(var)

namespace {

const auto op = [](auto x, const Axes& axes, bool keepdims) { return pollen::var(x, axes, keepdims); };
const auto sample = [](auto x, const Axes& axes, bool keepdims) { return pollen::var(x, axes, keepdims, 1); };

long double variance(const Numbers& group, long double degrees) {
    long double mean = 0, total = 0;
    for (const long double x : group) mean += x / static_cast<long double>(group.size());
    for (const long double x : group) total += (x - mean) * (x - mean);
    return total / degrees;
}

long double reference(const Numbers& group) { return variance(group, static_cast<long double>(group.size())); }

}  // namespace

BOOST_AUTO_TEST_CASE(values) {
    check_reduction_values<double>(op, -1, 3, 40, reference);
    check_reduction_values<float>(op, -1, 3, 40, reference);
    for (const std::int64_t n : {2, 3, 30, 700}) {
        const Tensor<double> x = normals(Shape{n});
        const Numbers group(x.begin(), x.end());
        const double expected = static_cast<double>(variance(group, static_cast<long double>(n - 1)));
        check_close(value<double>([](auto v) { return pollen::var(v, {}, false, 1); }, x),
                    Tensor<double>::scalar(expected), 10);
    }
}

// A large mean: the textbook formula sum x^2 / n - m^2 gives 0 or nonsense here. NumPy gives 2/3 and 0.25.
BOOST_AUTO_TEST_CASE(large_mean) {
    const auto all = [](auto x) { return pollen::var(x); };
    BOOST_TEST(value<double>(all, Tensor<double>{1e9, 1e9 + 1, 1e9 + 2}).item() == 2.0 / 3);
    BOOST_TEST(value<float>(all, Tensor<double>{1e6, 1e6 + 1, 1e6, 1e6 + 1}).item() == 0.25f);
}

// As in NumPy: numpy.var([1], ddof=1) is nan, numpy.var([1, 2], ddof=3) is inf, numpy.var([]) is nan.
BOOST_AUTO_TEST_CASE(too_few) {
    const auto with = [](const Tensor<double>& x, int correction) {
        return value<double>([&](auto v) { return pollen::var(v, {}, false, correction); }, x).item();
    };
    BOOST_TEST(with({1.0}, 0) == 0);
    BOOST_TEST(std::isnan(with({1.0}, 1)));
    BOOST_TEST(with({1.0, 2.0}, 3) == INFINITY);
    BOOST_TEST(with({1.0, 2.0}, -2) == 0.125);
    BOOST_TEST(std::isnan(with(normals(Shape{0}), 0)));
    BOOST_TEST(std::isnan(with({1.0, NAN}, 0)));
    BOOST_TEST(std::isnan(with({1.0, INFINITY}, 0)));
}

BOOST_AUTO_TEST_CASE(gradients) {
    check_reduction_gradients(op);
    check_gradients([](auto x) { return sample(x, {1}, false); }, normals(Shape{3, 5, 2}));
    check_gradients([](auto x) { return sample(x, {}, true); }, normals(Shape{7}));
    for (const unsigned mask : {0u, 1u, 2u, 3u}) check_reduction_of_nothing(op, mask);
}

BOOST_AUTO_TEST_CASE(errors) { check_reduction_errors("var", op); }

BOOST_AUTO_TEST_SUITE_END()
