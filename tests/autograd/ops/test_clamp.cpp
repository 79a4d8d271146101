#include "elementwise_checks.hpp"

namespace pollen::test {

BOOST_AUTO_TEST_SUITE(clamp)

BOOST_AUTO_TEST_CASE(values_and_gradients) {
    check({.op = [](auto x) { return pollen::clamp(x, -1, 2); },
           .reference = [](long double x) { return x < -1  ? -1.0L
                                                   : x > 2 ? 2.0L
                                                           : x; },
           .derivative = [](long double x) { return x < -1 || x > 2 ? 0.0L : 1.0L; },
           .ranges = {{-3, 3}, {1e-320, 1e308}},
           .ulps = 0,
           .derivative_ulps = 0,
           .values = {{-1, -1}, {2, 2}, {inf, 2}, {-inf, -1}, {nan, nan}, {-0.0, -0.0}},
           .slopes = {{-1, 1}, {2, 1}, {-1.5, 0}, {2.5, 0}, {inf, 0}, {nan, 0}},
           .smooth = {{-0.9, 1.9}, {2.1, 4}, {-4, -1.1}}});
}

BOOST_AUTO_TEST_CASE(bounds) {
    Tape<double> tape;
    const Var<double> x = tape.variable({1, 2, 3});
    BOOST_TEST((pollen::clamp(x, 2, 2).value() == Tensor<double>{2, 2, 2}));
    BOOST_TEST(error_of<ValueError>([&] { pollen::clamp(x, 2, 1.5); }) ==
               "clamp: low is 2 and high is 1.5; low must not be above high");
    BOOST_TEST(error_of<ValueError>([&] { pollen::clamp(x, nan, 1); }) ==
               "clamp: low is nan and high is 1; low must not be above high");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace pollen::test
