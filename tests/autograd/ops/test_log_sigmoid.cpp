#include "elementwise_checks.hpp"

namespace pollen::test {

BOOST_AUTO_TEST_SUITE(log_sigmoid)

BOOST_AUTO_TEST_CASE(values_and_gradients) {
    check({.op = [](auto x) { return pollen::log_sigmoid(x); },
           .reference = [](long double x) { return x < 0 ? x - std::log1p(std::exp(x)) : -std::log1p(std::exp(-x)); },
           .derivative = [](long double x) { return 1 / (1 + std::exp(x)); },
           .ranges = {{-3, 3}, {-1000, 103}, {1, 745}},
           .ulps = 1.9,
           .derivative_ulps = 2.2,
           .values = {{inf, 0.0}, {-inf, -inf}, {1000, 0.0}, {-1000, -1000}, {nan, nan}},
           .slopes = {{0, 0.5}, {inf, 0}, {-inf, 1}, {nan, nan}},
           .smooth = {{-3, 3}}});
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace pollen::test
