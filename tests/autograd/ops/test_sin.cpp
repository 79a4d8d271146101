#include "elementwise_checks.hpp"

namespace pollen::test {

BOOST_AUTO_TEST_SUITE(sin)

BOOST_AUTO_TEST_CASE(values_and_gradients) {
    check({.op = [](auto x) { return pollen::sin(x); },
           .reference = [](long double x) { return std::sin(x); },
           .derivative = [](long double x) { return std::cos(x); },
           .ranges = {{-1, 1},
                      {-10, 10},
                      {1e-320, 1},
                      {1, 1e5},
                      {-1e6, -1e3},
                      {9e4, 2e5},
                      {9e5, 2e6},
                      {1e6, 1e38},
                      {1e30, 1e308}},
           .ulps = 2.4,
           .derivative_ulps = 2.4,
           .values = {{0.0, 0.0}, {-0.0, -0.0}, {inf, nan}, {-inf, nan}, {nan, nan}},
           .slopes = {{0, 1}, {inf, nan}, {nan, nan}},
           .smooth = {{-4, 4}}});
}

// Literals from mpmath.
BOOST_AUTO_TEST_CASE(large_arguments) {
    const Tensor<double> x{1e5, 1e8, 1e22};
    check_close(value<double>([](auto v) { return pollen::sin(v); }, x),
                {0.035748797972016509, 0.93163902710972601, -0.8522008497671888}, 2);
    check_close(value<float>([](auto v) { return pollen::sin(v); }, Tensor<double>{1e5, 1e8}),
                {0.035748797972016509, 0.93163902710972601}, 2);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace pollen::test
