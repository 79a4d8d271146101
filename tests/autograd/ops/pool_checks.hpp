#pragma once

#include "naive_conv2d.hpp"

// What the tests of max_pool2d and avg_pool2d share.
namespace pollen::test {

// check_values(shape, options) for windows of all kinds.
template <class F>
void check_windows(const F& check_values) {
    for (std::int64_t size = 2; size <= 40; ++size) check_values(Shape{2, 3, 5, size}, Pool2dOptions{});
    for (const std::int64_t size : {1, 2, 3})
        for (const std::int64_t stride : {0, 1, 2, 3}) {
            check_values(Shape{2, 2, 7, 8},
                         Pool2dOptions{.size = {size, 2}, .stride = {stride, 1}, .padding = {size / 2, 1}});
            check_values(Shape{2, 2, 8, 7}, Pool2dOptions{.size = {3, size}, .stride = {2, stride}});
        }
    check_values(Shape{1, 1, 1, 1}, Pool2dOptions{.size = {1, 1}});
    check_values(Shape{40, 4, 24, 24}, Pool2dOptions{});
}

// The message of the error of type E that op(x) throws for images of this shape.
template <class E, class F>
std::string pool_error(const F& op, const Shape& x) {
    return error_of<E>([&] {
        Tape<float> tape;
        op(tape.constant(Tensor<float>::zeros(x)));
    });
}

}  // namespace pollen::test
