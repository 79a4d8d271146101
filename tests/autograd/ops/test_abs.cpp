#include "elementwise_checks.hpp"

namespace pollen::test {

BOOST_AUTO_TEST_SUITE(abs)

BOOST_AUTO_TEST_CASE(values_and_gradients) {
    check({.op = [](auto x) { return pollen::abs(x); },
           .reference = [](long double x) { return std::abs(x); },
           .derivative = [](long double x) { return x < 0   ? -1.0L
                                                    : x > 0 ? 1.0L
                                                            : 0.0L; },
           .ranges = {{1e-320, 1e308}, {-3, -1e-3}},
           .ulps = 0,
           .derivative_ulps = 0,
           .values = {{-0.0, 0.0}, {-inf, inf}, {nan, nan}},
           .slopes = {{0, 0}, {-0.0, 0}, {inf, 1}, {-inf, -1}, {nan, nan}},
           .smooth = {{0.5, 2}, {-2, -0.5}}});
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace pollen::test
