#include <pollen/autograd/kernels/winograd_lines.hpp>

#include <pollen/autograd/kernels/registers.hpp>
#include <pollen/autograd/kernels/transpose_tile.hpp>
#include <pollen/autograd/kernels/winograd_product.hpp>

#include <algorithm>

namespace pollen::kernels {

namespace {

using Int = std::int64_t;

constexpr Int side = TransposeSquare<float>::side;

// to[j][i] = from[i][j] for rows and columns of at least `side` numbers. The last squares may overlap those before
// them.
void transpose_by_squares(const float* from, Int ld_from, float* to, Int ld_to, Int rows, Int columns) {
    using Square = TransposeSquare<float>;
    each_stretch(rows, side, [&](Int i) {
        each_stretch(columns, side, [&](Int j) {
            const float* lines[side];
            Square::Row square[side];
            for (Int k = 0; k < side; ++k) lines[k] = from + (i + k) * ld_from + j;
            Square::transpose(lines, square);
            for (Int k = 0; k < side; ++k) std::memcpy(to + (j + k) * ld_to + i, &square[k], sizeof(Square::Row));
        });
    });
}

}  // namespace

void load_line(const Planes<const float>& from, Int y, Int first, Int pixels, float* to) {
    const Int begin = std::clamp<Int>(-first, 0, pixels), end = std::clamp<Int>(from.width - first, begin, pixels);
    if (y < 0 || y >= from.height || from.count < channel_block || begin == end) {
        std::fill_n(to, pixels * channel_block, 0.0f);
        if (y < 0 || y >= from.height) return;
    } else {
        std::fill_n(to, begin * channel_block, 0.0f);
        std::fill_n(to + end * channel_block, (pixels - end) * channel_block, 0.0f);
    }
    const Int plane = from.height * from.width, count = end - begin;
    const float* line = from.first + y * from.width + first + begin;
    to += begin * channel_block;
    if (from.count < channel_block || count < side)
        return transpose_tile<float, false>(line, plane, to, channel_block, count, from.count);
    transpose_by_squares(line, plane, to, channel_block, channel_block, count);
}

void store_line(const float* from, const Planes<float>& to, Int y, Int first, Int pixels, bool add) {
    if (y < 0 || y >= to.height) return;
    const Int begin = std::clamp<Int>(-first, 0, pixels), end = std::clamp<Int>(to.width - first, begin, pixels);
    const Int plane = to.height * to.width, count = end - begin;
    float* line = to.first + y * to.width + first + begin;
    from += begin * channel_block;
    if (add) return transpose_tile<float, true>(from, channel_block, line, plane, to.count, count);
    if (to.count < channel_block || count < side)
        return transpose_tile<float, false>(from, channel_block, line, plane, to.count, count);
    transpose_by_squares(from, channel_block, line, plane, count, channel_block);
}

}  // namespace pollen::kernels
