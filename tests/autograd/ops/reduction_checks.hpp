#pragma once

#include "../../naive.hpp"
#include "same_bits.hpp"

// What every reduction over axes must stand. `op` is a generic callable (x, axes, keepdims).
namespace pollen::test {

// Values against `reference`, a function of each group of numbers, for every set of axes of many shapes. The numbers
// are between low and high, the same sign at best: then relative errors mean something.
template <class T, class Op>
void check_reduction_values(const Op& op, double low, double high, double ulps,
                            const std::function<long double(const Numbers&)>& reference, bool zero_sizes = true) {
    std::vector<Shape> shapes{{},        {1},       {3},       {8},        {37},         {1, 1},          {2, 3},
                              {5, 17},   {17, 5},   {2, 3, 4}, {3, 1, 19}, {2, 3, 2, 5}, {2, 1, 3, 2, 9}, {70, 600},
                              {600, 70}, {4000, 9}, {3, 20000}};
    if (zero_sizes) shapes.insert(shapes.end(), {{0}, {0, 3}, {3, 0}, {2, 0, 3}});
    for (const Shape& shape : shapes) {
        const Tensor<T> x = cast<T>(uniforms(shape, low, high));
        for (unsigned mask = 0; mask < 1u << shape.rank(); ++mask)
            for (const bool keepdims : {false, true}) {
                Tape<T> tape;
                check_close(op(tape.variable(x), axes_of(mask), keepdims).value(),
                            reduce_naively(x, mask, keepdims, reference), ulps);
            }
    }
}

// Gradients for every set of axes, for long and short rows, and for zero sizes.
template <class Op>
void check_reduction_gradients(const Op& op) {
    for (const Shape& shape :
         {Shape{}, Shape{1}, Shape{10}, Shape{2, 3, 4}, Shape{3, 20}, Shape{20, 3}, Shape{2, 1, 11}})
        for (unsigned mask = 0; mask < 1u << shape.rank(); ++mask)
            for (const bool keepdims : {false, true})
                check_gradients([&](auto x) { return op(x, axes_of(mask), keepdims); }, normals(shape));
    check_gradients([&](auto x) { return op(x, Axes(0), false) * op(x, Axes(0), false); }, normals(Shape{4, 3}));
    for (const unsigned mask : {1u, 2u, 3u})
        check_same_bits<float>([&](auto x) { return op(x, axes_of(mask), false); }, normals(Shape{301, 401}));
}

// Gradients of the shape of x where there are no numbers.
template <class Op>
void check_reduction_of_nothing(const Op& op, unsigned mask) {
    const auto all =
        value_and_gradients<float>([&](auto x) { return op(x, axes_of(mask), false); }, normals(Shape{0, 3}));
    BOOST_TEST((all[1].shape() == Shape{0, 3}));
}

template <class Op>
void check_reduction_errors(const std::string& name, const Op& op) {
    const auto error = [&](const Axes& axes) {
        return error_of<ShapeError>([&] {
            value<float>([&](auto x) { return op(x, axes, false); }, normals(Shape{2, 3}));
        });
    };
    BOOST_TEST(error(2) == name + ": axis 2 is out of range; a tensor of rank 2 has axes -2 to 1");
    BOOST_TEST(error({0, -2}) == name + ": axis 0 is named twice");
    BOOST_TEST(error_of<ShapeError>([&] {
                   value<float>([&](auto x) { return op(x, Axes(0), false); }, normals(Shape{}));
               }) == name + ": axis 0 is out of range; a scalar has no axes");
}

}  // namespace pollen::test
