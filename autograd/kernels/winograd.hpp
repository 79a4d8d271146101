#pragma once

#include <pollen/autograd/kernels/max_pool.hpp>
#include <pollen/autograd/pool.hpp>

// Convolution with fewer multiplications, in float, for kernels of 3 x 3 and 5 x 5 and stride 1: F(4 x 4, 3 x 3) and
// F(2 x 2, 5 x 5) of Winograd (winograd_transforms.hpp). Images are not padded beforehand. A product of the values at
// each point takes the place of the product with the matrix of patches:
//
//     Y = A' [U . V] A,  U = G W G',  V = B' X B        dX = B [U . (A dY A')] B'        dW = G' [V . (A dY A')] G
//
// The products are sums over channels, or in dW over tiles. For each tile and pair of channels Y takes 36 products. dX
// takes 49, because its errors would be too large otherwise. dW takes 36 for kernels of 3 x 3 and images of at least 16
// tiles, otherwise 49 for the same reason. Direct sums take 144 (3 x 3) or 100 (5 x 5).
//
// The root mean square error, against double, is at most 3 times that of the direct sums
// (tests/autograd/test_winograd.cpp). An image's Y and dX do not depend on the other images. The same bits on every
// CPU, at any number of threads. An infinite pixel gives NaN in its whole tile, where direct sums give infinities in
// some results; a NaN gives NaN in both.
//
// Memory does not grow with the batch. P is the number of products above, 36 or 49. Channels, in and out, are filled up
// to whole blocks (winograd_product.hpp).
// - From the pool, during the call: for Y and dX the kernels at the points, P in out numbers; for dW the sums and the
//   tiles of a wave, P (in out + tiles (in + out)) numbers. A wave has at most 256 tiles, or with few channels at most
//   256 (128 / (in + out)).
// - Scratch memory of each thread: for Y and dX some tiles, P tiles (in + out) numbers. They are at most 84, or one row
//   of tiles, which has at most 256. For all three, lines on their way: at most 240 numbers for each pixel of a line.
namespace pollen::kernels {

struct WinogradShape {
    std::int64_t batch, in, out;        // channels
    std::int64_t height, width;         // of x, without its padding
    std::int64_t taps;                  // 3 or 5, along each axis
    std::int64_t pad_h = 0, pad_w = 0;  // at each side
    std::int64_t out_h() const { return height + 2 * pad_h - taps + 1; }
    std::int64_t out_w() const { return width + 2 * pad_w - taps + 1; }
};

// Whether a layer's products are faster this way, and accurate enough, by its shape; the batch does not matter.
bool winograd_use(const WinogradShape& s);

void winograd_y(const WinogradShape& s, const float* x, const float* w, const Finish<float>& finish, float* y,
                Pool& pool);
void winograd_dx(const WinogradShape& s, const float* dy, const float* w, float beta, float* dx, Pool& pool);
void winograd_dw(const WinogradShape& s, const float* x, const float* dy, float beta, float* dw, Pool& pool);

}  // namespace pollen::kernels
