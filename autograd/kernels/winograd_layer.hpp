#pragma once

#include <pollen/autograd/kernels/product.hpp>
#include <pollen/autograd/kernels/winograd.hpp>
#include <pollen/autograd/kernels/winograd_tiles.hpp>
#include <pollen/autograd/kernels/winograd_transforms.hpp>

// What the three products of a layer share: the tiles of its images, and the transforms of an algorithm A.
namespace pollen::kernels {

// The transforms of an algorithm as types, for to_points and from_points.
template <class A>
struct DataTransform {
    template <int n, int p>
    POLLEN_INLINE static void run(const Batch<float> (&d)[n], Batch<float> (&t)[p]) {
        A::data(d, t);
    }
};
template <class A>
struct DataTransposed {
    template <int n, int p>
    POLLEN_INLINE static void run(const Batch<float> (&t)[p], Batch<float> (&d)[n]) {
        A::data_transposed(t, d);
    }
};
template <class A>
struct ResultTransform {
    template <int n, int p>
    POLLEN_INLINE static void run(const Batch<float> (&t)[p], Batch<float> (&y)[n]) {
        A::result(t, y);
    }
};
template <class A>
struct ResultTransposed {
    template <int n, int p>
    POLLEN_INLINE static void run(const Batch<float> (&y)[n], Batch<float> (&t)[p]) {
        A::result_transposed(y, t);
    }
};

template <class A>
TileRows rows_of_y(const WinogradShape& s) {
    return {parts_of(s.out_h(), A::results), parts_of(s.out_w(), A::results), s.out_h(), s.out_w(), s.out};
}
template <class A>
TileRows rows_of_x(const WinogradShape& s) {
    const TileRows y = rows_of_y<A>(s);
    return {y.rows, y.columns, s.height, s.width, s.in, s.pad_h, s.pad_w};
}

}  // namespace pollen::kernels
