#include "elementwise_checks.hpp"

namespace pollen::test {

BOOST_AUTO_TEST_SUITE(expm1)

BOOST_AUTO_TEST_CASE(values_and_gradients) {
    check({.op = [](auto x) { return pollen::expm1(x); },
           .reference = [](long double x) { return std::expm1(x); },
           .derivative = [](long double x) { return std::exp(x); },
           .ranges = {{-2, 2}, {-30, 89}, {-50, 710}, {1e-320, 1}, {-1e-320, -1}},
           .ulps = 1.4,
           .derivative_ulps = 3,
           .values = {{0.0, 0.0}, {-0.0, -0.0}, {inf, inf}, {-inf, -1}, {nan, nan}, {1000, inf}, {-1000, -1}},
           .slopes = {{0, 1}, {inf, inf}, {-inf, 0}, {nan, nan}},
           .smooth = {{-2, 2}}});
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace pollen::test
