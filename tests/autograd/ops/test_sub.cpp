#include "elementwise_checks.hpp"

namespace pollen::test {

BOOST_AUTO_TEST_SUITE(sub)

BOOST_AUTO_TEST_CASE(values_and_gradients) {
    check({.name = "sub",
           .op = [](auto x, auto y) { return pollen::sub(x, y); },
           .reference = [](long double x, long double y) { return x - y; },
           .ranges = {{{-3, 3}, {-3, 3}}, {{1e-300, 1e300}, {1e-30, 1e30}}},
           .ulps = 0.5,
           .values = {{inf, inf, nan}, {nan, 1, nan}, {1, inf, -inf}, {0.0, 0.0, 0.0}},
           .slopes = {{1, 2, 1, -1}, {inf, nan, 1, -1}},
           .smooth = {{-2, 2}, {-2, 2}}});
}

BOOST_AUTO_TEST_CASE(one_input_twice) {
    check_gradients([](auto x) { return pollen::sub(x * x, x); }, uniforms({3, 5}, 0.5, 2));
}

BOOST_AUTO_TEST_CASE(a_number) {
    check({.op = [](auto x) { return pollen::sub(2.5, x); },
           .reference = [](long double x) { return 2.5L - x; },
           .derivative = [](long double) { return -1.0L; },
           .ranges = {{-3, 3}, {1e-40, 1e38}},
           .ulps = 0.5,
           .derivative_ulps = 0,
           .values = {{inf, -inf}, {-inf, inf}, {nan, nan}},
           .slopes = {{nan, -1}},
           .smooth = {{-2, 2}}});
}

BOOST_AUTO_TEST_CASE(operators) {
    BOOST_TEST((value<float>([](auto x) { return x - 1; }, Tensor<double>{1, 2}) == Tensor<float>{0, 1}));
    BOOST_TEST((value<double>([](auto x) { return 1 - x; }, Tensor<double>{1, 2}) == Tensor<double>{0, -1}));
    BOOST_TEST((value<double>(
                    [](auto x) {
                        return x - Tensor<double>{10, 20};
                    },
                    Tensor<double>{1, 2}) == Tensor<double>{-9, -18}));
    BOOST_TEST((value<double>(
                    [](auto x) {
                        return Tensor<double>{10, 20} - x;
                    },
                    Tensor<double>{1, 2}) == Tensor<double>{9, 18}));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace pollen::test
