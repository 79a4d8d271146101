#pragma once

#include "same_bits.hpp"

namespace pollen::test {

// What conv2d computes, by its definition: one multiplication after another, f(n, o, c in the group, y, x, w indices).
template <class F>
void each_product(const Shape& x, const Shape& w, const Shape& y, const Conv2dOptions& o, const F& f) {
    const std::int64_t out = w[0] / o.groups;
    for (std::int64_t n = 0; n < y[0]; ++n)
        for (std::int64_t k = 0; k < y[1]; ++k)
            for (std::int64_t i = 0; i < y[2]; ++i)
                for (std::int64_t j = 0; j < y[3]; ++j)
                    for (std::int64_t c = 0; c < w[1]; ++c)
                        for (std::int64_t u = 0; u < w[2]; ++u)
                            for (std::int64_t v = 0; v < w[3]; ++v) {
                                const std::int64_t row = i * o.stride[0] + u * o.dilation[0] - o.padding[0];
                                const std::int64_t column = j * o.stride[1] + v * o.dilation[1] - o.padding[1];
                                if (row < 0 || row >= x[2] || column < 0 || column >= x[3]) continue;
                                const std::int64_t channel = k / out * w[1] + c;
                                f(((n * y[1] + k) * y[2] + i) * y[3] + j,
                                  ((n * x[1] + channel) * x[2] + row) * x[3] + column,
                                  ((k * w[1] + c) * w[2] + u) * w[3] + v);
                            }
}

inline Shape naive_shape(const Shape& x, const Shape& w, const Conv2dOptions& o) {
    const auto size = [&](std::size_t k) {
        const int axis = static_cast<int>(k) + 2;
        return (x[axis] + 2 * o.padding[k] - (w[axis] - 1) * o.dilation[k] - 1) / o.stride[k] + 1;
    };
    return Shape{x[0], w[0], size(0), size(1)};
}

// y, dL/dx and dL/dw for the seed that value_and_gradients uses.
inline std::vector<Tensor<double>> naive_conv2d(const Tensor<double>& x, const Tensor<double>& w,
                                                const Conv2dOptions& o) {
    const Shape shape = naive_shape(x.shape(), w.shape(), o);
    const Tensor<double> g = normals(shape, 11);
    Tensor<double> y = Tensor<double>::zeros(shape), dx = Tensor<double>::zeros(x.shape());
    Tensor<double> dw = Tensor<double>::zeros(w.shape());
    double *py = y.mutable_data(), *px = dx.mutable_data(), *pw = dw.mutable_data();
    each_product(x.shape(), w.shape(), shape, o, [&](std::int64_t iy, std::int64_t ix, std::int64_t iw) {
        py[iy] += x.data()[ix] * w.data()[iw];
        px[ix] += g.data()[iy] * w.data()[iw];
        pw[iw] += g.data()[iy] * x.data()[ix];
    });
    return {y, dx, dw};
}

// ((k i) mod m) - m / 2: small whole numbers, whose sums are exact.
inline Tensor<double> whole_numbers(const Shape& shape, std::int64_t k, std::int64_t m) {
    Tensor<double> t = Tensor<double>::zeros(shape);
    double* numbers = t.mutable_data();
    const std::int64_t half = m / 2;
    for (std::int64_t i = 0; i < t.size(); ++i) numbers[i] = static_cast<double>(k * i % m - half);
    return t;
}

}  // namespace pollen::test
