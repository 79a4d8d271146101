#include "elementwise_checks.hpp"

namespace pollen::test {

BOOST_AUTO_TEST_SUITE(add)

BOOST_AUTO_TEST_CASE(values_and_gradients) {
    check({.name = "add",
           .op = [](auto x, auto y) { return pollen::add(x, y); },
           .reference = [](long double x, long double y) { return x + y; },
           .ranges = {{{-3, 3}, {-3, 3}}, {{1e-300, 1e300}, {-1e30, -1e-30}}},
           .ulps = 0.5,
           .values = {{inf, -inf, nan}, {nan, 1, nan}, {inf, 1, inf}, {-0.0, -0.0, -0.0}},
           .slopes = {{1, 2, 1, 1}, {inf, nan, 1, 1}},
           .smooth = {{-2, 2}, {-2, 2}}});
}

BOOST_AUTO_TEST_CASE(one_input_twice) {
    check_gradients([](auto x) { return pollen::add(x, x); }, uniforms({3, 5}, 0.5, 2));
}

BOOST_AUTO_TEST_CASE(a_number) {
    check({.op = [](auto x) { return pollen::add(x, 2.5); },
           .reference = [](long double x) { return x + 2.5L; },
           .derivative = [](long double) { return 1.0L; },
           .ranges = {{-3, 3}, {1e-40, 1e38}},
           .ulps = 0.5,
           .derivative_ulps = 0,
           .values = {{inf, inf}, {-inf, -inf}, {nan, nan}},
           .slopes = {{nan, 1}},
           .smooth = {{-2, 2}}});
}

BOOST_AUTO_TEST_CASE(operators) {
    BOOST_TEST((value<float>([](auto x) { return x + 1; }, Tensor<double>{1, 2}) == Tensor<float>{2, 3}));
    BOOST_TEST((value<double>([](auto x) { return 1 + x; }, Tensor<double>{1, 2}) == Tensor<double>{2, 3}));
    BOOST_TEST((value<double>(
                    [](auto x) {
                        return x + Tensor<double>{10, 20};
                    },
                    Tensor<double>{1, 2}) == Tensor<double>{11, 22}));
    BOOST_TEST((value<double>(
                    [](auto x) {
                        return Tensor<double>{10, 20} + x;
                    },
                    Tensor<double>{1, 2}) == Tensor<double>{11, 22}));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace pollen::test
