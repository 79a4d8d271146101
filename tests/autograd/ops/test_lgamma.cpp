#include "elementwise_checks.hpp"

namespace pollen::test {

BOOST_AUTO_TEST_SUITE(lgamma)

BOOST_AUTO_TEST_CASE(values_and_gradients) {
    check({.op = [](auto x) { return pollen::lgamma(x); },
           .reference = [](long double x) { return std::lgamma(x); },
           .ranges = {{0.5, 3},
                      {0.999, 1.001},
                      {1.999, 2.001},
                      {3, 20},
                      {20, 1e305},
                      {1e-320, 1},
                      {-0.49, -1e-300},
                      {-20, -0.5, 32},
                      {-200, -20, 32}},
           .ulps = 6,
           .values = {{1, 0.0},
                      {2, 0.0},
                      {0.0, inf},
                      {-0.0, inf},
                      {-1, inf},
                      {-7, inf},
                      {-1e30, inf},
                      {inf, inf},
                      {-inf, inf},
                      {nan, nan}},
           .slopes = {{0.0, -inf}, {-1, nan}, {inf, inf}, {nan, nan}},
           .smooth = {{2, 9}, {0.8, 1.2}, {-0.6, -0.4}}});
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace pollen::test
