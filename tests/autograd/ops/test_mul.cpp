#include "elementwise_checks.hpp"

namespace pollen::test {

BOOST_AUTO_TEST_SUITE(mul)

BOOST_AUTO_TEST_CASE(values_and_gradients) {
    check({.name = "mul",
           .op = [](auto x, auto y) { return pollen::mul(x, y); },
           .reference = [](long double x, long double y) { return x * y; },
           .ranges = {{{-3, 3}, {-3, 3}}, {{1e-150, 1e150}, {-1e150, -1e-150}}},
           .ulps = 0.5,
           .values = {{inf, 0, nan}, {nan, 1, nan}, {inf, -1, -inf}, {-0.0, 3, -0.0}},
           .slopes = {{3, 2, 2, 3}, {inf, 0, 0, inf}, {nan, 1, 1, nan}},
           .smooth = {{-2, 2}, {-2, 2}}});
}

BOOST_AUTO_TEST_CASE(one_input_twice) {
    check_gradients([](auto x) { return pollen::mul(x, x); }, uniforms({3, 5}, 0.5, 2));
}

BOOST_AUTO_TEST_CASE(a_number) {
    check({.op = [](auto x) { return pollen::mul(x, 2.5); },
           .reference = [](long double x) { return 2.5L * x; },
           .derivative = [](long double) { return 2.5L; },
           .ranges = {{-3, 3}, {1e-40, 1e38}},
           .ulps = 0.5,
           .derivative_ulps = 0,
           .values = {{inf, inf}, {-inf, -inf}, {nan, nan}, {-0.0, -0.0}},
           .slopes = {{nan, 2.5}},
           .smooth = {{-2, 2}}});
}

BOOST_AUTO_TEST_CASE(operators) {
    BOOST_TEST((value<float>([](auto x) { return x * 2; }, Tensor<double>{1, 2}) == Tensor<float>{2, 4}));
    BOOST_TEST((value<double>([](auto x) { return 2 * x; }, Tensor<double>{1, 2}) == Tensor<double>{2, 4}));
    BOOST_TEST((value<double>(
                    [](auto x) {
                        return x * Tensor<double>{10, 20};
                    },
                    Tensor<double>{1, 2}) == Tensor<double>{10, 40}));
    BOOST_TEST((value<double>(
                    [](auto x) {
                        return Tensor<double>{10, 20} * x;
                    },
                    Tensor<double>{1, 2}) == Tensor<double>{10, 40}));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace pollen::test
