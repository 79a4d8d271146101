#include "elementwise_checks.hpp"

namespace pollen::test {

BOOST_AUTO_TEST_SUITE(square)

BOOST_AUTO_TEST_CASE(values_and_gradients) {
    check({.op = [](auto x) { return pollen::square(x); },
           .reference = [](long double x) { return x * x; },
           .derivative = [](long double x) { return 2 * x; },
           .ranges = {{-3, 3}, {1e-150, 1e150}},
           .ulps = 0.5,
           .derivative_ulps = 0.5,
           .values = {{-0.0, 0.0}, {-inf, inf}, {nan, nan}},
           .slopes = {{-3, -6}, {inf, inf}, {nan, nan}},
           .smooth = {{-2, 2}}});
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace pollen::test
