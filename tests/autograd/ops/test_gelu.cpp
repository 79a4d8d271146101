#include "elementwise_checks.hpp"

namespace pollen::test {

// In the tail, the rounding of x / sqrt(2) in long double counts: erfc'(z) = -2 / sqrt(pi) exp(-z^2).
long double normal_cdf(long double x) {
    constexpr long double root_half = 0.707106781186547524400844362104849039L;
    constexpr long double rest = 0x1.65f626cdd52b0p-66L;
    const long double z = -x * root_half, lost = std::fma(-x, root_half, -z) - x * rest;
    return 0.5L * std::erfc(z) - lost * 0.564189583547756286948L * std::exp(-z * z);
}

BOOST_AUTO_TEST_SUITE(gelu)

BOOST_AUTO_TEST_CASE(values_and_gradients) {
    check({.op = [](auto x) { return pollen::gelu(x); },
           .reference = [](long double x) { return x * normal_cdf(x); },
           .derivative =
               [](long double x) {
                   return normal_cdf(x) + x * std::exp(-0.5L * x * x) / std::sqrt(2 * 3.14159265358979323846L);
               },
           .ranges = {{-3, 3}, {-13, -1}, {-37, -1}, {1, 1e30}, {1e-300, 1}, {-1, -1e-300}},
           .ulps = 6.5,
           .derivative_ulps = 6,
           .values = {{0.0, 0.0}, {inf, inf}, {-inf, -0.0}, {-1000, -0.0}, {1000, 1000}, {nan, nan}},
           .slopes = {{0, 0.5}, {inf, 1}, {-inf, 0}, {nan, nan}},
           .smooth = {{-3, 3}}});
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace pollen::test
