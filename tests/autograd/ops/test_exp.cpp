#include "elementwise_checks.hpp"

namespace pollen::test {

BOOST_AUTO_TEST_SUITE(exp)

BOOST_AUTO_TEST_CASE(values_and_gradients) {
    check({.op = [](auto x) { return pollen::exp(x); },
           .reference = [](long double x) { return std::exp(x); },
           .derivative = [](long double x) { return std::exp(x); },
           .ranges = {{-2, 2}, {-104, 89}, {-746, 710}},
           .ulps = 1.02,
           .derivative_ulps = 1.02,
           .values = {{0.0, 1}, {-0.0, 1}, {inf, inf}, {-inf, 0.0}, {nan, nan}, {1000, inf}, {-1000, 0.0}},
           .slopes = {{0, 1}, {inf, inf}, {-inf, 0}, {nan, nan}},
           .smooth = {{-2, 2}}});
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace pollen::test
