#include "elementwise_checks.hpp"

namespace pollen::test {

BOOST_AUTO_TEST_SUITE(tanh)

BOOST_AUTO_TEST_CASE(values_and_gradients) {
    check({.op = [](auto x) { return pollen::tanh(x); },
           .reference = [](long double x) { return std::tanh(x); },
           .derivative = [](long double x) { return 1 / std::pow(std::cosh(x), 2.0L); },
           .ranges = {{-1, 1}, {-20, 20}, {1e-320, 1}, {-1e3, -1}},
           .ulps = 1.6,
           .derivative_ulps = 4,
           .values = {{0.0, 0.0}, {-0.0, -0.0}, {inf, 1}, {-inf, -1}, {1000, 1}, {nan, nan}},
           .slopes = {{0, 1}, {inf, 0}, {-inf, 0}, {nan, nan}},
           .smooth = {{-2, 2}}});
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace pollen::test
