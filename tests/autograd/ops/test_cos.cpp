#include "elementwise_checks.hpp"

namespace pollen::test {

BOOST_AUTO_TEST_SUITE(cos)

BOOST_AUTO_TEST_CASE(values_and_gradients) {
    check({.op = [](auto x) { return pollen::cos(x); },
           .reference = [](long double x) { return std::cos(x); },
           .derivative = [](long double x) { return -std::sin(x); },
           .ranges = {{-1, 1}, {-10, 10}, {1, 1e5}, {-1e6, -1e3}, {9e4, 2e5}, {9e5, 2e6}, {1e6, 1e38}, {1e30, 1e308}},
           .ulps = 2.4,
           .derivative_ulps = 2.4,
           .values = {{0.0, 1}, {-0.0, 1}, {inf, nan}, {-inf, nan}, {nan, nan}},
           .slopes = {{0, 0}, {inf, nan}, {nan, nan}},
           .smooth = {{-4, 4}}});
}

// Literals from mpmath.
BOOST_AUTO_TEST_CASE(large_arguments) {
    const Tensor<double> x{1e5, 1e8, 1e22};
    check_close(value<double>([](auto v) { return pollen::cos(v); }, x),
                {-0.99936080743821245, -0.36338508935569055, 0.52321478539513895}, 2);
    check_close(value<float>([](auto v) { return pollen::cos(v); }, Tensor<double>{1e5, 1e8}),
                {-0.99936080743821245, -0.36338508935569055}, 2);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace pollen::test
