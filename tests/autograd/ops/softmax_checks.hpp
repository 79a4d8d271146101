#pragma once

#include "../../naive.hpp"
#include "same_bits.hpp"

// What softmax and log_softmax must stand. `op` is a generic callable (x, axis).
namespace pollen::test {

// exp(x - max) / sum exp(x - max) of one row, or its logarithm.
inline Numbers softmax_row(const Numbers& row, bool logarithm) {
    long double top = -INFINITY, total = 0;
    for (const long double x : row) top = std::max(top, x);
    for (const long double x : row) total += std::exp(x - top);
    Numbers result;
    for (const long double x : row) result.push_back(logarithm ? x - top - std::log(total) : std::exp(x - top) / total);
    return result;
}

// Short, middling and very long rows take different ways through the code. Logarithms near 0 are differences of numbers
// near 1: their errors count relative to 1.
template <class T, class Op>
void check_softmax_values(const Op& op, bool logarithm, double ulps) {
    std::vector<Shape> shapes{{1},        {2, 3},  {3, 2, 4}, {2, 3, 2, 5}, {4000, 10}, {40, 1000}, {1000, 40},
                              {2, 17000}, {50000}, {0},       {0, 3},       {3, 0},     {2, 0, 3}};
    for (std::int64_t n = 1; n <= 40; ++n) shapes.push_back(Shape{3, n});
    const auto check = [&](const Tensor<T>& got, const Tensor<double>& expected) {
        const double tolerance = ulps * static_cast<double>(std::numeric_limits<T>::epsilon());
        if (logarithm)
            BOOST_TEST(allclose(cast<double>(got), expected, tolerance, tolerance), "shape " << expected.shape());
        else
            check_close(got, expected, ulps);
    };
    for (const Shape& shape : shapes) {
        const Tensor<T> x = cast<T>(uniforms(shape, -4, 4));
        for (int axis = 0; axis < shape.rank(); ++axis) {
            Tape<T> tape;
            const Tensor<double> expected =
                map_rows_naively(x, axis, [&](const Numbers& row) { return softmax_row(row, logarithm); });
            check(op(tape.variable(x), axis).value(), expected);
            if (axis == shape.rank() - 1) check(op(tape.variable(x), -1).value(), expected);
        }
    }
}

template <class Op>
void check_softmax_gradients(const Op& op) {
    for (const Shape& shape :
         {Shape{1}, Shape{10}, Shape{3, 20}, Shape{20, 3}, Shape{2, 3, 4}, Shape{2, 17, 2}, Shape{0, 3}})
        for (int axis = 0; axis < shape.rank(); ++axis)
            check_gradients([&](auto x) { return op(x, axis); }, normals(shape));
    check_gradients([&](auto x) { return op(x, 0) * op(x, 1); }, normals(Shape{3, 3}));
    for (const int axis : {0, 1})
        for (const Shape& shape : {Shape{301, 401}, Shape{9001, 7}, Shape{2, 20000}})
            check_same_bits<float>([&](auto x) { return op(x, axis); }, normals(shape));
}

template <class Op>
void check_softmax_errors(const std::string& name, const Op& op) {
    BOOST_TEST(error_of<ShapeError>([&] {
                   value<float>([&](auto x) { return op(x, 2); }, normals(Shape{2, 3}));
               }) == name + ": axis 2 is out of range; a tensor of rank 2 has axes -2 to 1");
    BOOST_TEST(error_of<ShapeError>([&] { value<float>([&](auto x) { return op(x, -1); }, normals(Shape{})); }) ==
               name + ": axis -1 is out of range; a scalar has no axes");
}

}  // namespace pollen::test
