#include "elementwise_checks.hpp"

namespace pollen::test {

BOOST_AUTO_TEST_SUITE(leaky_relu)

BOOST_AUTO_TEST_CASE(values_and_gradients) {
    check({.op = [](auto x) { return pollen::leaky_relu(x, 0.25); },
           .reference = [](long double x) { return x > 0 ? x : 0.25L * x; },
           .derivative = [](long double x) { return x > 0 ? 1.0L : 0.25L; },
           .ranges = {{-3, 3}, {1e-320, 1e308}},
           .ulps = 0.5,
           .derivative_ulps = 0,
           .values = {{0.0, 0.0}, {-4, -1}, {inf, inf}, {-inf, -inf}, {nan, nan}},
           .slopes = {{0, 0.25}, {inf, 1}, {-inf, 0.25}},
           .smooth = {{0.5, 2}, {-2, -0.5}}});
}

BOOST_AUTO_TEST_CASE(default_slope) {
    BOOST_TEST((value<double>([](auto x) { return pollen::leaky_relu(x); }, Tensor<double>{-1, 2}) ==
                Tensor<double>{-0.01, 2}));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace pollen::test
