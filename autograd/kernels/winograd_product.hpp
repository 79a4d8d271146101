#pragma once

#include <pollen/autograd/kernels/registers.hpp>

// The products of Winograd's convolution, one for each point: C = A B, or C = C + A B, in float.
//
// A sum runs over chains of 16 products, which start at 0. The sums of the chains are added in order. Short chains have
// smaller errors, which makes up for what the transforms add (winograd_transforms.hpp).
namespace pollen::kernels {

inline constexpr std::int64_t winograd_chain = 16;

// Channels are counted in blocks of 16 on every CPU; what is missing in the last block is filled with zeros.
inline constexpr std::int64_t channel_block = 16;

inline std::int64_t whole_blocks(std::int64_t channels) {
    return (channels + channel_block - 1) / channel_block * channel_block;
}

// How far rows of `channels` numbers are apart: no multiple of 1 kB, or many rows crowd into a few lines of the cache.
inline std::int64_t row_stride(std::int64_t channels) {
    const std::int64_t n = whole_blocks(channels);
    return n % 256 == 0 ? n + channel_block : n;
}

// How far the matrices of two points are apart that have `size` numbers: an odd number of lines of the cache.
inline std::int64_t point_stride(std::int64_t size) {
    const std::int64_t lines = (size + channel_block - 1) / channel_block;
    return (lines + (lines % 2 == 0 ? 1 : 0)) * channel_block;
}

// B in panels of columns, panel by panel, each row of a panel after the other. `size` is of whole panels.
struct ColumnPanels {
    std::int64_t rows, columns;
    std::int64_t size() const;
    // Where the vector is that begins with column j of row i; j is a multiple of lanes<float>.
    std::int64_t at(std::int64_t i, std::int64_t j) const;
};

// C = A B        A m x k with rows `lda` apart, B k x n in panels, C m x n with rows `ldc` apart; n in whole blocks
void winograd_product(std::int64_t m, std::int64_t n, std::int64_t k, const float* a, std::int64_t lda, const float* b,
                      float* c, std::int64_t ldc);

// C = A' B, or C = C + A' B        A k x m, B k x n, C m x n; n in whole blocks
void winograd_sum(std::int64_t m, std::int64_t n, std::int64_t k, const float* a, std::int64_t lda, const float* b,
                  std::int64_t ldb, float* c, std::int64_t ldc, bool add);

}  // namespace pollen::kernels
