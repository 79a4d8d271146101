#include "softmax_checks.hpp"

using namespace pollen;
using namespace pollen::test;

BOOST_AUTO_TEST_SUITE(softmax)

namespace {

const auto op = [](auto x, int axis) { return pollen::softmax(x, axis); };

Tensor<double> rows(const Tensor<double>& x) {
    return value<double>([](auto v) { return pollen::softmax(v); }, x);
}

}  // namespace

BOOST_AUTO_TEST_CASE(values) {
    check_softmax_values<double>(op, false, 12);
    check_softmax_values<float>(op, false, 12);
    // torch.softmax(x, 1)
    check_close(rows({{1, -2, 0.5}, {3, 3, -1}, {-0.25, 4, 2}}),
                Tensor<double>(Shape{3, 3}, {0.6037488961486258, 0.030058887569574023, 0.3661922162818002,
                                             0.4954626425778431, 0.4954626425778431, 0.009074714844313747,
                                             0.012408002696814375, 0.8698681454589867, 0.11772385184419898}),
                4);
}

// Far from 0, where exp(x) is infinite or 0; and, as in SciPy, NaN where the largest number is infinite or NaN.
BOOST_AUTO_TEST_CASE(special) {
    const double inf = INFINITY;
    BOOST_TEST((rows({{1e6, 1e6}, {-1e6, -1e6}, {1e6, -1e6}, {-inf, 3}}) ==
                Tensor<double>{{0.5, 0.5}, {0.5, 0.5}, {1, 0}, {0, 1}}));
    for (const Tensor<double>& row : {Tensor<double>{inf, 1}, Tensor<double>{-inf, -inf}, Tensor<double>{NAN, 1}})
        for (const double p : rows(row)) BOOST_TEST(std::isnan(p));
    for (const std::int64_t n : {20, 200}) {
        Tensor<double> row = normals(Shape{n});
        row.mutable_at(n - 1) = NAN;
        for (const double p : rows(row)) BOOST_TEST(std::isnan(p));
    }
}

BOOST_AUTO_TEST_CASE(gradients) { check_softmax_gradients(op); }

BOOST_AUTO_TEST_CASE(errors) { check_softmax_errors("softmax", op); }

BOOST_AUTO_TEST_SUITE_END()
