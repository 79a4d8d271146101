#include "../../naive.hpp"
#include "same_bits.hpp"

using namespace pollen;
using namespace pollen::test;

BOOST_AUTO_TEST_SUITE(cumsum)

namespace {

Numbers reference(const Numbers& row) {
    Numbers sums;
    for (const long double x : row) sums.push_back((sums.empty() ? 0 : sums.back()) + x);
    return sums;
}

template <class T>
Tensor<T> run(const Tensor<T>& x, int axis) {
    return value<T>([&](auto v) { return pollen::cumsum(v, axis); }, x);
}

}  // namespace

BOOST_AUTO_TEST_CASE(values) {
    for (const Shape& shape : {Shape{1}, Shape{40}, Shape{0}, Shape{3, 0}, Shape{0, 3}, Shape{2, 3}, Shape{3, 300},
                               Shape{300, 3}, Shape{2, 9, 4}, Shape{2, 3, 4, 5}, Shape{70000}, Shape{200, 600}})
        for (int axis = 0; axis < shape.rank(); ++axis) {
            const Tensor<double> expected = map_rows_naively(whole_numbers<double>(shape), axis, reference);
            BOOST_TEST((run(whole_numbers<double>(shape), axis) == expected), shape << ", axis " << axis);
            BOOST_TEST((run(whole_numbers<float>(shape), axis) == cast<float>(expected)), shape << ", axis " << axis);
        }
    BOOST_TEST((run(Tensor<float>{{1, 2}, {3, 4}}, -1) == Tensor<float>{{1, 3}, {3, 7}}));
}

// One after the other, as numpy.cumsum: the rounding is the same too.
BOOST_AUTO_TEST_CASE(order) {
    const Tensor<float> x = cast<float>(normals(Shape{1000}));
    const Tensor<float> y = run(x, 0);
    float sum = 0;
    for (std::int64_t i = 0; i < x.size(); ++i) {
        sum += x(i);
        BOOST_TEST(y(i) == sum);
    }
}

BOOST_AUTO_TEST_CASE(special) {
    const Tensor<double> y = run(Tensor<double>{1, INFINITY, 2, -INFINITY, 3}, 0);
    BOOST_TEST(y(0) == 1);
    BOOST_TEST(y(2) == INFINITY);
    BOOST_TEST(std::isnan(y(3)));
    BOOST_TEST(std::isnan(y(4)));
}

BOOST_AUTO_TEST_CASE(gradients) {
    for (const Shape& shape : {Shape{1}, Shape{10}, Shape{3, 4}, Shape{2, 3, 300}, Shape{0, 3}})
        for (int axis = 0; axis < shape.rank(); ++axis)
            check_gradients([&](auto x) { return pollen::cumsum(x, axis); }, normals(shape));
    check_gradients([](auto x) { return pollen::cumsum(x, 0) * pollen::cumsum(x, 1); }, normals(Shape{3, 3}));
    for (const int axis : {0, 1})
        check_same_bits<float>([&](auto x) { return pollen::cumsum(x, axis); }, normals(Shape{301, 401}));
}

BOOST_AUTO_TEST_CASE(errors) {
    BOOST_TEST(error_of<ShapeError>([] {
                   run(Tensor<float>{1, 2}, 1);
               }) == "cumsum: axis 1 is out of range; a tensor of rank 1 has axes -1 to 0");
    BOOST_TEST(error_of<ShapeError>([] { run(Tensor<float>::scalar(1), 0); }) ==
               "cumsum: axis 0 is out of range; a scalar has no axes");
}

BOOST_AUTO_TEST_SUITE_END()
