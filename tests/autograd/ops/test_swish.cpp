#include "elementwise_checks.hpp"

namespace pollen::test {

BOOST_AUTO_TEST_SUITE(swish)

BOOST_AUTO_TEST_CASE(values_and_gradients) {
    check({.op = [](auto x) { return pollen::swish(x); },
           .reference = [](long double x) { return x / (1 + std::exp(-x)); },
           .derivative = [](long double x) { return (1 + std::exp(-x) * (1 + x)) / std::pow(1 + std::exp(-x), 2.0L); },
           .ranges = {{-3, 3}, {-86, -1}, {1, 1e30}, {1e-300, 1}},
           .ulps = 3,
           .derivative_ulps = 6,
           .values = {{0.0, 0.0}, {inf, inf}, {-inf, -0.0}, {-3000, -0.0}, {1000, 1000}, {nan, nan}},
           .slopes = {{0, 0.5}, {inf, 1}, {-inf, 0}, {nan, nan}},
           .smooth = {{-3, 3}}});
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace pollen::test
