#include "elementwise_checks.hpp"

namespace pollen::test {

BOOST_AUTO_TEST_SUITE(relu)

BOOST_AUTO_TEST_CASE(values_and_gradients) {
    check({.op = [](auto x) { return pollen::relu(x); },
           .reference = [](long double x) { return x > 0 ? x : 0.0L; },
           .derivative = [](long double x) { return x > 0 ? 1.0L : 0.0L; },
           .ranges = {{-3, 3}, {1e-320, 1e308}},
           .ulps = 0,
           .derivative_ulps = 0,
           .values = {{0.0, 0.0}, {-0.0, 0.0}, {-1, 0.0}, {inf, inf}, {-inf, 0.0}, {nan, nan}},
           .slopes = {{0, 0}, {inf, 1}, {-inf, 0}, {nan, 1}},
           .smooth = {{0.5, 2}, {-2, -0.5}}});
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace pollen::test
