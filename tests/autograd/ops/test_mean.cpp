#include "reduction_checks.hpp"

using namespace pollen;
using namespace pollen::test;

BOOST_AUTO_TEST_SUITE(mean)

namespace {

const auto op = [](auto x, const Axes& axes, bool keepdims) { return pollen::mean(x, axes, keepdims); };

long double reference(const Numbers& group) {
    long double total = 0;
    for (const long double x : group) total += x;
    return total / static_cast<long double>(group.size());
}

}  // namespace

// The mean of nothing is NaN, as in NumPy.
BOOST_AUTO_TEST_CASE(values) {
    check_reduction_values<double>(op, 0.5, 1.5, 8, reference);
    check_reduction_values<float>(op, 0.5, 1.5, 8, reference);
    Tape<double> tape;
    const Var<double> x = tape.constant(Tensor<double>{{1, 2, 3}, {4, 5, 9}});
    BOOST_TEST(pollen::mean(x).item() == 4);
    BOOST_TEST((pollen::mean(x, 1).value() == Tensor<double>{2, 6}));
}

BOOST_AUTO_TEST_CASE(gradients) {
    check_reduction_gradients(op);
    for (const unsigned mask : {0u, 1u, 2u, 3u}) check_reduction_of_nothing(op, mask);
}

BOOST_AUTO_TEST_CASE(errors) { check_reduction_errors("mean", op); }

BOOST_AUTO_TEST_SUITE_END()
