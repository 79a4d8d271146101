#include "elementwise_checks.hpp"

namespace pollen::test {

BOOST_AUTO_TEST_SUITE(pow)

BOOST_AUTO_TEST_CASE(values_and_gradients) {
    check({.name = "pow",
           .op = [](auto x, auto y) { return pollen::pow(x, y); },
           .reference = [](long double x, long double y) { return std::pow(x, y); },
           .ranges = {{{0.1, 10}, {-5, 5}}, {{1e-320, 1e308}, {-1, 1}}, {{0.5, 2}, {-1020, 1020}}, {{-9, -1}, {-8, 8}}},
           .ulps = 2,
           .values = {{nan, 0, 1},     {1, nan, 1},      {1, inf, 1},       {-1, inf, 1},     {-1, -inf, 1},
                      {0, 0, 1},       {inf, 0, 1},      {nan, 1, nan},     {2, nan, nan},    {0.0, 2, 0.0},
                      {-0.0, 3, -0.0}, {-0.0, 2, 0.0},   {0.0, -1, inf},    {-0.0, -1, -inf}, {-0.0, -2, inf},
                      {0, 0.5, 0.0},   {-2, 3, -8},      {-2, 2, 4},        {-2, -1, -0.5},   {-2, 0.5, nan},
                      {-inf, 3, -inf}, {-inf, 0.5, inf}, {-inf, -3, -0.0},  {2, inf, inf},    {2, -inf, 0.0},
                      {0.5, inf, 0.0}, {0.5, -inf, inf}, {inf, 2, inf},     {inf, -2, 0.0},   {-2, inf, inf},
                      {2, 1e6, inf},   {2, -1e6, 0.0},   {-2, 100001, -inf}},
           .slopes = {{0, 0, 0, 0},
                      {0, 1, 1, 0},
                      {0, 2, 0, 0},
                      {0, 0.5, inf, 0},
                      {-2, 3, 12, nan},
                      {-2, 2, -4, nan},
                      {1, 5, 5, 0}},
           .smooth = {{1, 2}, {-2, 2}}});
}

BOOST_AUTO_TEST_CASE(one_input_twice) {
    check_gradients([](auto x) { return pollen::pow(x, x); }, uniforms({3, 5}, 0.5, 2));
}

BOOST_AUTO_TEST_CASE(a_number) {
    check({.op = [](auto x) { return pollen::pow(x, 2.25); },
           .reference = [](long double x) { return std::pow(x, 2.25L); },
           .derivative = [](long double x) { return 2.25L * std::pow(x, 1.25L); },
           .ranges = {{0.1, 10}, {1e-10, 1e10}},
           .ulps = 1.5,
           .derivative_ulps = 3,
           .values = {{0.0, 0.0}, {inf, inf}, {-1, nan}, {nan, nan}, {1, 1}},
           .slopes = {{0, 0}, {inf, inf}, {-1, nan}},
           .smooth = {{0.5, 2}}});
}

BOOST_AUTO_TEST_CASE(whole_numbers) {
    check({.op = [](auto x) { return pollen::pow(x, 3); },
           .reference = [](long double x) { return x * x * x; },
           .derivative = [](long double x) { return 3 * x * x; },
           .ranges = {{-3, 3}, {1e-100, 1e100}},
           .ulps = 1.5,
           .derivative_ulps = 3,
           .values = {{-2, -8}, {0, 0.0}, {-0.0, -0.0}, {-inf, -inf}, {nan, nan}},
           .slopes = {{0, 0}, {-2, 12}, {nan, nan}},
           .smooth = {{-2, 2}}});
}

BOOST_AUTO_TEST_CASE(zero_and_two) {
    check({.op = [](auto x) { return pollen::pow(x, 2); },
           .values = {{-3, 9}, {-0.0, 0.0}, {-inf, inf}, {nan, nan}},
           .slopes = {{-3, -6}, {0, 0}},
           .smooth = {{-2, 2}}});
    check({.op = [](auto x) { return pollen::pow(x, 0); },
           .values = {{-3, 1}, {0, 1}, {inf, 1}, {nan, 1}},
           .slopes = {{-3, 0}, {0, 0}, {inf, 0}, {nan, 0}},
           .smooth = {{-2, 2}}});
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace pollen::test
