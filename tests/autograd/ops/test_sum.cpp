#include "reduction_checks.hpp"

using namespace pollen;
using namespace pollen::test;

BOOST_AUTO_TEST_SUITE(sum)

namespace {

const auto op = [](auto x, const Axes& axes, bool keepdims) { return pollen::sum(x, axes, keepdims); };

long double reference(const Numbers& group) {
    long double total = 0;
    for (const long double x : group) total += x;
    return total;
}

}  // namespace

BOOST_AUTO_TEST_CASE(values) {
    check_reduction_values<double>(op, 0.5, 1.5, 8, reference);
    check_reduction_values<float>(op, 0.5, 1.5, 8, reference);
    // numpy.arange(24).reshape(2, 3, 4).sum(axis)
    Tape<float> tape;
    const Var<float> x = reshape(tape.constant(Tensor<float>::arange(24)), {2, 3, 4});
    BOOST_TEST(pollen::sum(x).item() == 276);
    BOOST_TEST((pollen::sum(x, 0).value() == Tensor<float>{{12, 14, 16, 18}, {20, 22, 24, 26}, {28, 30, 32, 34}}));
    BOOST_TEST((pollen::sum(x, -1).value() == Tensor<float>{{6, 22, 38}, {54, 70, 86}}));
    BOOST_TEST((pollen::sum(x, {0, 2}).value() == Tensor<float>{60, 92, 124}));
    BOOST_TEST((pollen::sum(x, {1}, true).shape() == Shape{2, 1, 4}));
}

BOOST_AUTO_TEST_CASE(gradients) { check_reduction_gradients(op); }

BOOST_AUTO_TEST_CASE(special) {
    BOOST_TEST(std::isnan(value<double>([](auto x) { return pollen::sum(x); }, Tensor<double>{1, NAN, 2}).item()));
    BOOST_TEST(value<float>([](auto x) { return pollen::sum(x); }, Tensor<double>{1, INFINITY}).item() == INFINITY);
    BOOST_TEST(value<float>([](auto x) { return pollen::sum(x); }, normals(Shape{0})).item() == 0);
    for (const unsigned mask : {0u, 1u, 2u, 3u}) check_reduction_of_nothing(op, mask);
}

BOOST_AUTO_TEST_CASE(errors) { check_reduction_errors("sum", op); }

BOOST_AUTO_TEST_SUITE_END()
