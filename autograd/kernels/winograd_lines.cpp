#include <pollen/autograd/kernels/winograd_lines.hpp>

#include <pollen/autograd/kernels/transpose_tile.hpp>
#include <pollen/autograd/kernels/winograd_product.hpp>

#include <algorithm>

namespace pollen::kernels {

namespace {

using Int = std::int64_t;
using Square = TransposeSquare<float>;
constexpr Int side = Square::side;

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
    // The last square may overlap the one before it.
    for (Int i = 0; i < count; i = i + side < count ? std::min(i + side, count - side) : count)
        for (Int j = 0; j < channel_block; j += side) {
            const float* rows[side];
            Square::Row square[side];
            for (Int k = 0; k < side; ++k) rows[k] = line + (j + k) * plane + i;
            Square::transpose(rows, square);
            for (Int k = 0; k < side; ++k)
                std::memcpy(to + (i + k) * channel_block + j, &square[k], sizeof(Square::Row));
        }
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
    for (Int i = 0; i < count; i = i + side < count ? std::min(i + side, count - side) : count)
        for (Int j = 0; j < channel_block; j += side) {
            const float* rows[side];
            Square::Row square[side];
            for (Int k = 0; k < side; ++k) rows[k] = from + (i + k) * channel_block + j;
            Square::transpose(rows, square);
            for (Int k = 0; k < side; ++k) std::memcpy(line + (j + k) * plane + i, &square[k], sizeof(Square::Row));
        }
}

}  // namespace pollen::kernels
