#include "elementwise_checks.hpp"

namespace pollen::test {

BOOST_AUTO_TEST_SUITE(erf)

BOOST_AUTO_TEST_CASE(values_and_gradients) {
    check({.op = [](auto x) { return pollen::erf(x); },
           .reference = [](long double x) { return std::erf(x); },
           .derivative = [](long double x) { return 1.12837916709551257390L * std::exp(-x * x); },
           .ranges = {{-1, 1}, {-6, 6}, {1e-320, 1}, {-1e3, -1}},
           .ulps = 2,
           .derivative_ulps = 3,
           .values = {{0.0, 0.0}, {-0.0, -0.0}, {inf, 1}, {-inf, -1}, {1e30, 1}, {nan, nan}},
           .slopes = {{inf, 0}, {-inf, 0}, {nan, nan}},
           .smooth = {{-2, 2}}});
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace pollen::test
