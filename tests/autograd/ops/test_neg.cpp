#include "elementwise_checks.hpp"

namespace pollen::test {

BOOST_AUTO_TEST_SUITE(neg)

BOOST_AUTO_TEST_CASE(values_and_gradients) {
    check({.op = [](auto x) { return -x; },
           .reference = [](long double x) { return -x; },
           .derivative = [](long double) { return -1.0L; },
           .ranges = {{-3, 3}, {1e-320, 1e308}},
           .ulps = 0,
           .derivative_ulps = 0,
           .values = {{0.0, -0.0}, {-0.0, 0.0}, {inf, -inf}, {nan, nan}},
           .slopes = {{0, -1}, {nan, -1}},
           .smooth = {{-2, 2}}});
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace pollen::test
