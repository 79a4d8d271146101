#include "elementwise_checks.hpp"

namespace pollen::test {

BOOST_AUTO_TEST_SUITE(minimum)

BOOST_AUTO_TEST_CASE(values_and_gradients) {
    check(
        {.name = "minimum",
         .op = [](auto x, auto y) { return pollen::minimum(x, y); },
         .reference = [](long double x, long double y) { return x < y ? x : y; },
         .ranges = {{{-3, 3}, {-3, 3}}, {{1e-300, 1e300}, {1e-290, 1e290}}},
         .ulps = 0,
         .values = {{nan, 1, nan}, {1, nan, nan}, {inf, 1, 1}, {-inf, 1, -inf}, {inf, -inf, -inf}},
         .slopes = {{2, 2, 0.5, 0.5}, {1, 2, 1, 0}, {2, 1, 0, 1}, {inf, inf, 0.5, 0.5}, {nan, 1, 1, 1}, {1, nan, 1, 1}},
         .smooth = {{0, 0.9}, {1, 2}}});
}

BOOST_AUTO_TEST_CASE(one_input_twice) {
    check_gradients([](auto x) { return pollen::minimum(x, x); }, uniforms({3, 5}, 0.5, 2));
}

BOOST_AUTO_TEST_CASE(either_side) {
    check_gradients([](auto x) { return pollen::minimum(2 - x, 0.5 * x); }, uniforms({3, 5}, 0.5, 2));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace pollen::test
