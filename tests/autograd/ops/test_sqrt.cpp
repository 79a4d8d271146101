#include "elementwise_checks.hpp"

namespace pollen::test {

BOOST_AUTO_TEST_SUITE(sqrt)

BOOST_AUTO_TEST_CASE(values_and_gradients) {
    check({.op = [](auto x) { return pollen::sqrt(x); },
           .reference = [](long double x) { return std::sqrt(x); },
           .derivative = [](long double x) { return 0.5L / std::sqrt(x); },
           .ranges = {{1e-320, 1e308}, {0.5, 2}},
           .ulps = 0.5,
           .derivative_ulps = 2,
           .values = {{0.0, 0.0}, {-0.0, -0.0}, {4, 2}, {inf, inf}, {-1, nan}, {-inf, nan}, {nan, nan}},
           .slopes = {{4, 0.25}, {0, inf}, {inf, 0}, {-1, nan}},
           .smooth = {{0.5, 2}}});
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace pollen::test
