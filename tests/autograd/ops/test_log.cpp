#include "elementwise_checks.hpp"

namespace pollen::test {

BOOST_AUTO_TEST_SUITE(log)

BOOST_AUTO_TEST_CASE(values_and_gradients) {
    check({.op = [](auto x) { return pollen::log(x); },
           .reference = [](long double x) { return std::log(x); },
           .derivative = [](long double x) { return 1 / x; },
           .ranges = {{0.5, 2}, {0.999, 1.001}, {1e-323, 1e-300}, {1e-45, 1e-30}, {1e-300, 1.7e308}},
           .ulps = 0.85,
           .derivative_ulps = 0.5,
           .values = {{1, 0.0}, {0.0, -inf}, {-0.0, -inf}, {-1, nan}, {-inf, nan}, {inf, inf}, {nan, nan}},
           .slopes = {{2, 0.5}, {0, inf}, {inf, 0}, {nan, nan}},
           .smooth = {{0.5, 2}}});
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace pollen::test
