#include "elementwise_checks.hpp"

namespace pollen::test {

namespace reference {
// digamma(x) and trigamma(x) for x > 0, by going up to 30 and the asymptotic series there; for x < 0 by reflection.
constexpr long double pi = 3.14159265358979323846L;
long double digamma(long double x) {
    if (x < 0) return digamma(1 - x) - pi / std::tan(pi * (x - std::round(x)));
    if (x < 30) return digamma(x + 1) - 1 / x;
    const long double z = 1 / (x * x);
    return std::log(x) - 0.5L / x - z * (1.0L / 12 - z * (1.0L / 120 - z * (1.0L / 252 - z * (1.0L / 240 - z / 132))));
}
long double trigamma(long double x) {
    if (x < 0) return std::pow(pi / std::sin(pi * (x - std::round(x))), 2.0L) - trigamma(1 - x);
    if (x < 30) return trigamma(x + 1) + 1 / (x * x);
    const long double z = 1 / (x * x);
    return 1 / x + 0.5L * z + z / x * (1.0L / 6 - z * (1.0L / 30 - z * (1.0L / 42 - z * (1.0L / 30 - z * 5 / 66))));
}
}  // namespace reference

BOOST_AUTO_TEST_SUITE(digamma)

BOOST_AUTO_TEST_CASE(values_and_gradients) {
    check(
        {.op = [](auto x) { return pollen::digamma(x); },
         .reference = [](long double x) { return reference::digamma(x); },
         .derivative = [](long double x) { return reference::trigamma(x); },
         .ranges = {{0.5, 1.4},
                    {1.5, 3},
                    {1.4, 1.5, 0.001},
                    {3, 20},
                    {20, 1e300},
                    {1e-307, 1},
                    {-0.45, -1e-30, 16},
                    {-19.9, -0.5, 16},
                    {-199.9, -20.1, 16}},
         .ulps = 7,
         .derivative_ulps = 7,
         .values = {{0.0, -inf}, {-0.0, inf}, {-1, nan}, {-7, nan}, {-1e30, nan}, {inf, inf}, {-inf, nan}, {nan, nan}},
         .slopes = {{0.0, inf}, {-1, inf}, {inf, 0}, {nan, nan}},
         .smooth = {{3, 9}, {1, 1.5}, {-0.55, -0.45}}});
}

// Literals from mpmath's psi(0, x) and psi(1, x), the second beside the positive zero.
BOOST_AUTO_TEST_CASE(literals) {
    const Tensor<double> x{1, 0.5, 1.4375, 10, 0.001, 100, -0.25, -7.5};
    check_close(value<double>([](auto v) { return pollen::digamma(v); }, x),
                {-0.577215664901532861, -1.96351002602142348, -0.0236135440052978991, 2.25175258906672111,
                 -1000.57557193181028, 4.60016185273808740, 2.91413912021352783, 2.08009081757942012},
                6);
    Tape<double> tape;
    const Var<double> v = tape.variable(x);
    tape.backward(sum(pollen::digamma(v)));
    check_close(v.grad(),
                {1.64493406684822644, 4.93480220054467931, 0.989502917895627204, 0.105166335681685746,
                 1000001.64253319583, 0.0100501666633335714, 18.5418796476716065, 9.74476628217043260},
                6);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace pollen::test
