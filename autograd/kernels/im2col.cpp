#include <pollen/autograd/kernels/im2col.hpp>

#include <pollen/autograd/kernels/registers.hpp>

#include <algorithm>

namespace pollen::kernels {

namespace {

using Int = std::int64_t;

// Calls f(x, column, length) for the runs of a block: neighbouring columns that lie in one row of one image. x is where
// the run's first number is in the block's first row.
template <class F>
void each_run(const Convolution& s, const PatchBlock& block, const F& f) {
    Int image = block.column / s.pixels(), pixel = block.column % s.pixels();
    Int i = pixel / s.out_w, j = pixel % s.out_w;
    for (Int done = 0; done < block.columns;) {
        const Int length = std::min(s.out_w - j, block.columns - done);
        f(image * s.image() + block.channel * s.plane() + i * s.stride_h * s.width + j * s.stride_w, done, length);
        done += length;
        j = 0;
        if (++i == s.out_h) {
            i = 0;
            ++image;
        }
    }
}

}  // namespace

// Taps of one row of the kernel come last, because col2im adds in this order: v and v + 1 touch almost the same numbers,
// and an addition that follows another one closely has to wait until what that one has written can be read again.
void patch_rows(const Convolution& s, Int channels, PatchRow* rows) {
    for (Int v = 0; v < s.kernel_w; ++v)
        for (Int c = 0; c < channels; ++c)
            for (Int u = 0; u < s.kernel_h; ++u)
                *rows++ = {(c * s.kernel_h + u) * s.kernel_w + v,
                           c * s.plane() + u * s.dilation_h * s.width + v * s.dilation_w};
}

template <class T>
void im2col(const Convolution& s, const PatchBlock& block, const PatchRow* rows, const T* x, T* out, Int ld) {
    constexpr Int W = lanes<T>;
    const PatchRow* end = rows + block.channels * s.taps();
    each_run(s, block, [&](Int at, Int column, Int length) {
        const T* from = x + at;
        T* to = out + column;
        Int j = 0;
        if (s.stride_w == 1 && length >= W) {
            for (; j < length; j = j + W < length ? std::min(j + W, length - W) : length)
                for (const PatchRow* r = rows; r < end; ++r)
                    Batch<T>::load_unaligned(from + r->x + j).store_unaligned(to + r->row * ld + j);
            return;
        }
        for (const PatchRow* r = rows; r < end; ++r)
            for (j = 0; j < length; ++j) to[r->row * ld + j] = from[r->x + j * s.stride_w];
    });
}

template <class T>
void col2im(const Convolution& s, const PatchBlock& block, const PatchRow* rows, const T* in, Int ld, T* x) {
    constexpr Int W = lanes<T>;
    const PatchRow* end = rows + block.channels * s.taps();
    each_run(s, block, [&](Int at, Int column, Int length) {
        T* to = x + at;
        const T* from = in + column;
        Int j = 0;
        if (s.stride_w == 1)
            for (; j + W <= length; j += W)
                for (const PatchRow* r = rows; r < end; ++r) {
                    T* sum = to + r->x + j;
                    (Batch<T>::load_unaligned(sum) + Batch<T>::load_unaligned(from + r->row * ld + j)).store_unaligned(sum);
                }
        if (j == length) return;
        for (const PatchRow* r = rows; r < end; ++r)
            for (Int k = j; k < length; ++k) to[r->x + k * s.stride_w] += from[r->row * ld + k];
    });
}

template void im2col(const Convolution&, const PatchBlock&, const PatchRow*, const float*, float*, Int);
template void im2col(const Convolution&, const PatchBlock&, const PatchRow*, const double*, double*, Int);
template void col2im(const Convolution&, const PatchBlock&, const PatchRow*, const float*, Int, float*);
template void col2im(const Convolution&, const PatchBlock&, const PatchRow*, const double*, Int, double*);

}  // namespace pollen::kernels
