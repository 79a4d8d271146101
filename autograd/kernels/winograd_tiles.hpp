#pragma once

#include <pollen/autograd/detail/scratch.hpp>
#include <pollen/autograd/kernels/winograd_lines.hpp>
#include <pollen/autograd/kernels/winograd_product.hpp>

#include <algorithm>

// Tiles of images, to and from their values at the points of Winograd's algorithms. A tile of y has m x m pixels, and
// the tile of x below it 6 x 6: neighbours of these overlap. Tiles are counted row of tiles by row of tiles, over all
// images. Vectors run over channels, so that a line is transformed without moving numbers between lanes.
namespace pollen::kernels {

// How images of one tensor are cut into rows of tiles.
struct TileRows {
    std::int64_t rows, columns;            // tiles of an image
    std::int64_t height, width, channels;  // of the images in memory
    std::int64_t top = 0, left = 0;        // lines and pixels of the first tile that are outside of the image: padding

    template <class T>
    Planes<T> planes(T* images, std::int64_t row, std::int64_t channel) const {
        return {images + ((row / rows) * channels + channel) * height * width,
                std::min(channel_block, channels - channel), height, width};
    }
};

// Numbers at the points: point p of tile t and channel c is at values[p * stride + t * ld + c].
struct PointValues {
    float* values;
    std::int64_t stride, ld;
};

struct LinesOfTiles;
struct ColumnsOfTiles;

// Transforms the tiles of the rows from `begin` to `end`, a block of channels at a time. Transform takes `size` numbers
// of a line to `points`; a tile begins `step` pixels after the one before it.
template <class Transform, int size, int step, int points>
void to_points(const TileRows& s, const float* images, std::int64_t begin, std::int64_t end, std::int64_t channel,
               const PointValues& to) {
    using Int = std::int64_t;
    using Vector = Batch<float>;
    const Int span = (s.columns - 1) * step + size;
    float* lines = scratch<float, LinesOfTiles>(size * span * channel_block);
    float* columns = scratch<float, ColumnsOfTiles>(points * span * channel_block);
    const auto line = [&](Int y) { return lines + y % size * span * channel_block; };
    for (Int row = begin; row < end; ++row) {
        const Planes<const float> planes = s.planes(images, row, channel);
        const Int y = row % s.rows * step;
        for (Int i = row > begin && y > 0 ? size - step : 0; i < size; ++i)
            load_line(planes, y + i - s.top, -s.left, span, line(y + i));
        const float* from[size];
        for (int i = 0; i < size; ++i) from[i] = line(y + i);
        for (Int at = 0; at < span * channel_block; at += lanes<float>) {
            Vector d[size], t[points];
            unroll<size>([&](auto i) POLLEN_INLINE { d[i] = Vector::load_aligned(from[i] + at); });
            Transform::run(d, t);
            unroll<points>([&](auto p) POLLEN_INLINE { t[p].store_aligned(columns + p * span * channel_block + at); });
        }
        for (Int tile = 0; tile < s.columns; ++tile)
            for (Int at = 0; at < channel_block; at += lanes<float>) {
                float* out = to.values + ((row - begin) * s.columns + tile) * to.ld + channel + at;
                const float* in = columns + tile * step * channel_block + at;
                for (int q = 0; q < points; ++q, in += span * channel_block) {
                    Vector d[size], t[points];
                    unroll<size>([&](auto i) POLLEN_INLINE { d[i] = Vector::load_aligned(in + i * channel_block); });
                    Transform::run(d, t);
                    unroll<points>([&](auto p)
                                       POLLEN_INLINE { t[p].store_aligned(out + (q * points + p) * to.stride); });
                }
            }
    }
}

// The reverse: Transform takes the values at `points` to the `size` numbers of a line. Where tiles overlap, their
// numbers are added, along a line and then from row to row. store(row, line, numbers, pixels, again) gets each line,
// [pixel][channel], once it is complete, and may change its numbers. `again` is true if a call for the rows before
// `begin` has stored this line; the numbers must then be added to it.
template <class Transform, int size, int step, int points, class Store>
void from_points(const TileRows& s, const PointValues& from, std::int64_t begin, std::int64_t end, std::int64_t channel,
                 const Store& store) {
    using Int = std::int64_t;
    using Vector = Batch<float>;
    constexpr int overlap = size - step;
    const Int span = (s.columns - 1) * step + size, first_line = begin % s.rows * step;
    float* lines = scratch<float, LinesOfTiles>(size * span * channel_block);
    const auto line = [&](Int y) { return lines + y % size * span * channel_block; };
    for (Int row = begin; row < end; ++row) {
        const Int y = row % s.rows * step;
        const bool continued = row > begin && y > 0;
        float* to[size];
        for (int i = 0; i < size; ++i) to[i] = line(y + i);
        for (Int tile = 0; tile < s.columns; ++tile)
            for (Int at = 0; at < channel_block; at += lanes<float>) {
                const float* in = from.values + ((row - begin) * s.columns + tile) * from.ld + channel + at;
                Vector half[points][size];
                unroll<points>([&](auto q) POLLEN_INLINE {
                    Vector t[points];
                    unroll<points>([&](auto p) POLLEN_INLINE {
                        t[p] = Vector::load_aligned(in + (p * points + q) * from.stride);
                    });
                    Transform::run(t, half[q]);
                });
                unroll<size>([&](auto i) POLLEN_INLINE {
                    Vector t[points], y_line[size];
                    unroll<points>([&](auto q) POLLEN_INLINE { t[q] = half[q][i]; });
                    Transform::run(t, y_line);
                    float* out = to[i] + tile * step * channel_block + at;
                    const bool there = i < overlap && continued;
                    unroll<size>([&](auto j) POLLEN_INLINE {
                        float* pixel = out + j * channel_block;
                        Vector v = y_line[j];
                        if (overlap > 0 && (there || (j < overlap && tile > 0))) v = Vector::load_aligned(pixel) + v;
                        v.store_aligned(pixel);
                    });
                });
            }
        const bool last = row + 1 == end || row % s.rows + 1 == s.rows;
        for (int i = 0; i < step + static_cast<int>(last) * overlap; ++i) {
            const bool again = first_line > 0 && y + i < first_line + overlap && row / s.rows == begin / s.rows;
            store(row, y + i, to[i], span, again);
        }
    }
}

}  // namespace pollen::kernels
