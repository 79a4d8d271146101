#include "reduction_checks.hpp"

using namespace pollen;
using namespace pollen::test;

BOOST_AUTO_TEST_SUITE(max)

namespace {

const auto op = [](auto x, const Axes& axes, bool keepdims) { return pollen::max(x, axes, keepdims); };

long double reference(const Numbers& group) { return *std::max_element(group.begin(), group.end()); }

Tensor<double> gradient(const Tensor<double>& x, const Axes& axes) {
    Tape<double> tape;
    const Var<double> v = tape.variable(x);
    tape.backward(pollen::sum(pollen::max(v, axes)));
    return v.grad();
}

}  // namespace

BOOST_AUTO_TEST_CASE(values) {
    check_reduction_values<double>(op, -3, 3, 0, reference, false);
    check_reduction_values<float>(op, -3, 3, 0, reference, false);
}

BOOST_AUTO_TEST_CASE(gradients) { check_reduction_gradients(op); }

BOOST_AUTO_TEST_CASE(ties) {
    const Tensor<double> x{{1, 3, 3}, {2, 3, -1}};
    BOOST_TEST((gradient(x, {}) == Tensor<double>{{0, 1.0 / 3, 1.0 / 3}, {0, 1.0 / 3, 0}}));
    BOOST_TEST((gradient(x, 0) == Tensor<double>{{0, 0.5, 1}, {1, 0.5, 0}}));
    BOOST_TEST((gradient(x, 1) == Tensor<double>{{0, 0.5, 0.5}, {0, 1, 0}}));
    BOOST_TEST((gradient(Tensor<double>{0.0, -0.0}, {}) == Tensor<double>{0.5, 0.5}));
}

// NaN is chosen before all else, and gets the gradient.
BOOST_AUTO_TEST_CASE(special) {
    const Tensor<double> x{{1, NAN, 2, NAN}, {INFINITY, 1, 2, 3}, {-INFINITY, 4, 5, 6}};
    const Tensor<double> y = value<double>([](auto v) { return pollen::max(v, 1); }, x);
    BOOST_TEST(std::isnan(y(0)));
    BOOST_TEST(y(1) == INFINITY);
    BOOST_TEST(y(2) == 6);
    BOOST_TEST((gradient(x, 1) == Tensor<double>{{0, 0.5, 0, 0.5}, {1, 0, 0, 0}, {0, 0, 0, 1}}));
}

// As in NumPy, an axis without entries can be kept but not reduced, even where the result would be empty.
BOOST_AUTO_TEST_CASE(nothing) {
    const auto error = [](const Shape& shape, const Axes& axes) {
        return error_of<ShapeError>([&] { gradient(normals(shape), axes); });
    };
    BOOST_TEST(error({0, 3}, 0) == "max: x (0, 3) has no entries along axis 0; the maximum of nothing is not defined");
    BOOST_TEST(error({0}, {}) == "max: x (0) has no entries along axis 0; the maximum of nothing is not defined");
    BOOST_TEST(error({2, 0, 0}, 1) ==
               "max: x (2, 0, 0) has no entries along axis 1; the maximum of nothing is not defined");
    BOOST_TEST((gradient(normals(Shape{0, 3}), 1).shape() == Shape{0, 3}));
}

BOOST_AUTO_TEST_CASE(errors) { check_reduction_errors("max", op); }

BOOST_AUTO_TEST_SUITE_END()
