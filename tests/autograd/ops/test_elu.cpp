#include "elementwise_checks.hpp"

namespace pollen::test {

BOOST_AUTO_TEST_SUITE(elu)

BOOST_AUTO_TEST_CASE(values_and_gradients) {
    check({.op = [](auto x) { return pollen::elu(x, 1.5); },
           .reference = [](long double x) { return x > 0 ? x : 1.5L * std::expm1(x); },
           .derivative = [](long double x) { return x > 0 ? 1.0L : 1.5L * std::exp(x); },
           .ranges = {{-3, 3}, {-100, -1e-30}, {1e-320, 1e308}},
           .ulps = 2.2,
           .derivative_ulps = 4,
           .values = {{0.0, 0.0}, {inf, inf}, {-inf, -1.5}, {nan, nan}},
           .slopes = {{0, 1.5}, {inf, 1}, {-inf, 0}},
           .smooth = {{0.5, 2}, {-2, -0.5}}});
}

BOOST_AUTO_TEST_CASE(default_alpha) {
    BOOST_TEST(
        (value<double>([](auto x) { return pollen::elu(x); }, Tensor<double>{-inf, 2}) == Tensor<double>{-1, 2}));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace pollen::test
