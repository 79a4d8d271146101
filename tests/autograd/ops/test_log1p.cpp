#include "elementwise_checks.hpp"

namespace pollen::test {

BOOST_AUTO_TEST_SUITE(log1p)

BOOST_AUTO_TEST_CASE(values_and_gradients) {
    check({.op = [](auto x) { return pollen::log1p(x); },
           .reference = [](long double x) { return std::log1p(x); },
           .derivative = [](long double x) { return 1 / (1 + x); },
           .ranges = {{-0.9, 2}, {-0.999999, -1e-6}, {1e-323, 1e-3}, {-1e-3, -1e-323}, {1, 1.7e308}, {1e38, 3.4e38}},
           .ulps = 1.4,
           .derivative_ulps = 1.5,
           .values = {{0.0, 0.0}, {-0.0, -0.0}, {-1, -inf}, {-2, nan}, {-inf, nan}, {inf, inf}, {nan, nan}},
           .slopes = {{1, 0.5}, {-1, inf}, {inf, 0}, {nan, nan}},
           .smooth = {{-0.5, 2}}});
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace pollen::test
