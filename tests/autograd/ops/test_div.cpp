#include "elementwise_checks.hpp"

namespace pollen::test {

BOOST_AUTO_TEST_SUITE(div)

BOOST_AUTO_TEST_CASE(values_and_gradients) {
    check({.name = "div",
           .op = [](auto x, auto y) { return pollen::div(x, y); },
           .reference = [](long double x, long double y) { return x / y; },
           .ranges = {{{-3, 3}, {0.1, 3}}, {{1e-150, 1e150}, {-1e150, -1e-150}}},
           .ulps = 0.5,
           .values = {{1, 0.0, inf},
                      {-1, 0.0, -inf},
                      {1, -0.0, -inf},
                      {0, 0, nan},
                      {inf, inf, nan},
                      {1, inf, 0.0},
                      {nan, 1, nan}},
           .slopes = {{3, 2, 0.5, -0.75}, {1, 0, inf, -inf}},
           .smooth = {{-2, 2}, {0.5, 2}}});
}

BOOST_AUTO_TEST_CASE(one_input_twice) {
    check_gradients([](auto x) { return pollen::div(x * x, x); }, uniforms({3, 5}, 0.5, 2));
}

BOOST_AUTO_TEST_CASE(a_number) {
    check({.op = [](auto x) { return pollen::div(2.5, x); },
           .reference = [](long double x) { return 2.5L / x; },
           .derivative = [](long double x) { return -2.5L / (x * x); },
           .ranges = {{-3, -0.1}, {1e-30, 1e38}},
           .ulps = 0.5,
           .derivative_ulps = 2,
           .values = {{0.0, inf}, {-0.0, -inf}, {inf, 0.0}, {nan, nan}},
           .slopes = {{2, -0.625}, {nan, nan}},
           .smooth = {{0.5, 2}, {-2, -0.5}}});
}

BOOST_AUTO_TEST_CASE(operators) {
    BOOST_TEST((value<float>([](auto x) { return x / 2; }, Tensor<double>{1, 2}) == Tensor<float>{0.5, 1}));
    BOOST_TEST((value<double>([](auto x) { return 2 / x; }, Tensor<double>{1, 2}) == Tensor<double>{2, 1}));
    BOOST_TEST((value<double>(
                    [](auto x) {
                        return x / Tensor<double>{10, 20};
                    },
                    Tensor<double>{1, 2}) == Tensor<double>{0.1, 0.1}));
    BOOST_TEST((value<double>(
                    [](auto x) {
                        return Tensor<double>{10, 20} / x;
                    },
                    Tensor<double>{1, 2}) == Tensor<double>{10, 10}));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace pollen::test
