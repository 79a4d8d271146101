#include "elementwise_checks.hpp"

namespace pollen::test {

BOOST_AUTO_TEST_SUITE(sigmoid)

BOOST_AUTO_TEST_CASE(values_and_gradients) {
    check({.op = [](auto x) { return pollen::sigmoid(x); },
           .reference = [](long double x) { return 1 / (1 + std::exp(-x)); },
           .derivative =
               [](long double x) { return std::exp(-std::abs(x)) / std::pow(1 + std::exp(-std::abs(x)), 2.0L); },
           .ranges = {{-3, 3}, {-104, 100}, {-746, 100}},
           .ulps = 2.2,
           .derivative_ulps = 3,
           .values = {{0, 0.5}, {inf, 1}, {-inf, 0.0}, {1000, 1}, {-1000, 0.0}, {nan, nan}},
           .slopes = {{0, 0.25}, {inf, 0}, {-inf, 0}, {nan, nan}},
           .smooth = {{-3, 3}}});
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace pollen::test
