#include "softmax_checks.hpp"

using namespace pollen;
using namespace pollen::test;

BOOST_AUTO_TEST_SUITE(log_softmax)

namespace {

const auto op = [](auto x, int axis) { return pollen::log_softmax(x, axis); };

Tensor<double> rows(const Tensor<double>& x) {
    return value<double>([](auto v) { return pollen::log_softmax(v); }, x);
}

}  // namespace

BOOST_AUTO_TEST_CASE(values) {
    check_softmax_values<double>(op, true, 4);
    check_softmax_values<float>(op, true, 4);
    // torch.log_softmax(x, 0)
    check_close(value<double>([](auto x) { return op(x, 0); }, Tensor<double>{{1, -2, 0.5}, {3, 3, -1}, {-0.25, 4, 2}}),
                Tensor<double>(Shape{3, 3}, {-2.1605099803180896, -6.315072160665252, -1.7413112966571571,
                                             -0.16050998031808966, -1.3150721606652511, -3.241311296657157,
                                             -3.4105099803180896, -0.31507216066525123, -0.24131129665715703}),
                4);
}

// No probability is rounded to 0: log_softmax(0, -1000) is -1000, where log(softmax) would be -inf.
BOOST_AUTO_TEST_CASE(special) {
    const double inf = INFINITY;
    BOOST_TEST((rows({{0, -1000}, {1e6, 1e6 - 1000}, {3, -inf}}) == Tensor<double>{{0, -1000}, {0, -1000}, {0, -inf}}));
    for (const Tensor<double>& row : {Tensor<double>{inf, inf}, Tensor<double>{-inf, -inf}, Tensor<double>{NAN, 1}})
        for (const double p : rows(row)) BOOST_TEST(std::isnan(p));
}

BOOST_AUTO_TEST_CASE(gradients) { check_softmax_gradients(op); }

BOOST_AUTO_TEST_CASE(errors) { check_softmax_errors("log_softmax", op); }

BOOST_AUTO_TEST_SUITE_END()
