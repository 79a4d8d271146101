#pragma once

#include <algorithm>
#include <cstdint>

// Copies of a plane of pixels, one for each column of a kernel, shifted so that a convolution needs no index but that
// of the result. A tap is a number (u, v) of the kernel. The pixel that it multiplies in result k of a plane is number
// `at` + k of a block of memory, the room. So results are summed as one long line, tap by tap, without regard to where
// the lines of an image end. Pixels of the padding are zeros in the room. A kernel of 3 x 3 with stride 1 needs three
// copies: shifted by one pixel to the left, not at all, and by one to the right. Its rows read them at other offsets.
namespace pollen::kernels {

// One axis of a convolution, seen from the results: tap t reads pixel result * step + shift(t) of the source, if
// reads(t).
struct ShiftedAxis {
    std::int64_t results, source, taps, step;
    std::int64_t first, slope, divisor = 1;

    bool reads(std::int64_t tap) const { return (first + slope * tap) % divisor == 0; }
    std::int64_t shift(std::int64_t tap) const { return (first + slope * tap) / divisor; }
};

// y[i] reads x[i stride + t dilation - padding].
inline ShiftedAxis axis_of_y(std::int64_t y, std::int64_t x, std::int64_t taps, std::int64_t stride,
                             std::int64_t dilation, std::int64_t padding) {
    return {y, x, taps, stride, -padding, dilation, 1};
}

// The same from the other side, for the pixels phase, phase + stride, ... of dx.
inline ShiftedAxis axis_of_dx(std::int64_t y, std::int64_t x, std::int64_t taps, std::int64_t stride,
                              std::int64_t dilation, std::int64_t padding, std::int64_t phase) {
    return {(x - phase + stride - 1) / stride, y, taps, 1, phase + padding, -dilation, stride};
}

struct ShiftedTap {
    std::int64_t at, weight;  // where its pixels are in the room, and which number of the kernel it is
};

// Lines that are copied together.
struct ShiftedBand {
    std::int64_t at, lines;    // in the room
    std::int64_t row, column;  // shifts
    std::int64_t begin, end;   // of the columns that are not padding
};

class ShiftedPlanes {
  public:
    // For `channels` planes, whose kernels are weight_step numbers apart. `taps` and `bands` have room for as many
    // as the kernels of all channels have taps; they stay in use.
    ShiftedPlanes(const ShiftedAxis& rows, const ShiftedAxis& columns, std::int64_t channels, std::int64_t weight_step,
                  std::int64_t element_bytes, ShiftedTap* taps, ShiftedBand* bands);

    const ShiftedTap* begin() const { return taps_; }
    const ShiftedTap* end() const { return taps_ + count_; }
    std::int64_t taps() const { return count_; }

    // Results are made in strips of some lines, an even number, whose room is small enough for the first-level cache.
    std::int64_t lines() const { return lines_; }
    std::int64_t strips() const { return strips_; }
    std::int64_t lines_of(std::int64_t strip) const { return std::min(lines_, rows_.results - strip * lines_); }
    std::int64_t height() const { return rows_.results; }
    std::int64_t width() const { return columns_.results; }
    std::int64_t room() const { return channels_ * channel_room_ + slack; }

    // Copies what a strip needs to `room`, which was full of zeros when this object first used it.
    template <class T>
    void copy(const T* source, std::int64_t strip, T* room) const;

  private:
    static constexpr std::int64_t slack = 64;  // elements that vectors may read behind the last one

    ShiftedAxis rows_, columns_;
    std::int64_t channels_, channel_room_ = 0, lines_ = 0, strips_ = 0, count_ = 0, count_bands_ = 0;
    ShiftedTap* taps_;
    ShiftedBand* bands_;  // of one channel
};

}  // namespace pollen::kernels
