#include <pollen/autograd/kernels/shifted_planes.hpp>

#include <pollen/autograd/kernels/registers.hpp>

#include <cstring>
#include <utility>

namespace pollen::kernels {

namespace {

using Int = std::int64_t;

constexpr Int room_bytes = 28 << 10;

Int round_up_to(Int n, Int multiple) { return (n + multiple - 1) / multiple * multiple; }

// The n lines, cut into strips of at most `most`, as equal as can be.
Int lines_of_strip(Int n, Int most) {
    const Int strips = (n + most - 1) / std::max<Int>(1, most);
    return std::max<Int>(2, round_up_to((n + strips - 1) / std::max<Int>(1, strips), 2));
}

template <class T, int n>
using Row __attribute__((vector_size(n * sizeof(T)))) = T;

// to[j] = from[2 j] for j < n. Reads nothing behind the last of them.
template <int n, class T>
POLLEN_INLINE inline void every_second(const T* from, T* to) {
    Row<T, n> a, b;
    std::memcpy(&a, from, sizeof a);
    std::memcpy(&b, from + n - 1, sizeof b);
    const auto row = [&]<std::size_t... I>(std::index_sequence<I...>) POLLEN_INLINE {
        return __builtin_shufflevector(a, b, static_cast<int>(I < n / 2 ? 2 * I : 2 * I + 1)...);
    }
    (std::make_index_sequence<n>());
    std::memcpy(to, &row, sizeof row);
}

// to[j] = from[step j] for n numbers of each of some lines.
template <class T>
void copy_lines(Int lines_to_copy, Int n, const T* from, Int step_line, Int step, T* to, Int width) {
    const auto each_line = [&](const auto& copy) {
        for (Int i = 0; i < lines_to_copy; ++i) copy(from + i * step_line, to + i * width);
    };
    constexpr int chunk = 32 / sizeof(T);
    if (step == 1 && n == width && n == step_line)
        std::copy_n(from, lines_to_copy * n, to);
    else if (step == 1 && n >= lanes<T>)
        each_line([&](const T* a, T* b) {
            each_stretch(n, lanes<T>, [&](Int j) { Batch<T>::load_unaligned(a + j).store_unaligned(b + j); });
        });
    else if (step == 1)
        each_line([&](const T* a, T* b) { store_first(b, load_first(a, n), n); });
    else if (step == 2 && n >= chunk)
        each_line(
            [&](const T* a, T* b) { each_stretch(n, chunk, [&](Int j) { every_second<chunk>(a + 2 * j, b + j); }); });
    else if (step == 2 && n >= chunk / 2)
        each_line([&](const T* a, T* b) {
            each_stretch(n, chunk / 2, [&](Int j) { every_second<chunk / 2>(a + 2 * j, b + j); });
        });
    else
        each_line([&](const T* a, T* b) {
            for (Int j = 0; j < n; ++j) b[j] = a[step * j];
        });
}

}  // namespace

// Lines overlap from tap to tap if the step is 1: then they are copied once for all rows of the kernel.
ShiftedPlanes::ShiftedPlanes(const ShiftedAxis& rows, const ShiftedAxis& columns, Int channels, Int weight_step,
                             Int element_bytes, ShiftedTap* taps, ShiftedBand* bands)
    : rows_(rows), columns_(columns), channels_(channels), taps_(taps), bands_(bands) {
    Int tap_rows = 0, tap_columns = 0, top = 0, bottom = 0;
    for (Int u = 0; u < rows.taps; ++u)
        if (rows.reads(u)) {
            top = tap_rows == 0 ? rows.shift(u) : std::min(top, rows.shift(u));
            bottom = tap_rows == 0 ? rows.shift(u) : std::max(bottom, rows.shift(u));
            ++tap_rows;
        }
    for (Int v = 0; v < columns.taps; ++v) tap_columns += columns.reads(v);
    const bool shared = rows.step == 1;
    const Int copies = std::max<Int>(1, channels * tap_columns * (shared ? 1 : tap_rows) * width());
    const Int most = room_bytes / element_bytes / copies - (shared ? bottom - top : 0);
    lines_ = lines_of_strip(height(), std::clamp<Int>(most, 8, std::max<Int>(8, height())));
    strips_ = (height() + lines_ - 1) / lines_;

    for (Int v = 0; v < columns.taps; ++v) {
        if (!columns.reads(v)) continue;
        const Int column = columns.shift(v), step = columns.step;
        const auto results_before = [&](Int pixel) {
            return pixel > column ? std::min(width(), (pixel - column + step - 1) / step) : 0;
        };
        const Int begin = results_before(0), end = std::max(begin, results_before(columns.source));
        for (Int u = 0; u < rows.taps; ++u) {
            if (!rows.reads(u)) continue;
            const Int row = shared ? top : rows.shift(u), lines = lines_ + (shared ? bottom - top : 0);
            if (!shared || count_bands_ == 0 || bands_[count_bands_ - 1].column != column) {
                bands_[count_bands_++] = {channel_room_, lines, row, column, begin, end};
                channel_room_ += round_up_to(lines * width(), 64 / element_bytes);
            }
            taps_[count_++] = {bands_[count_bands_ - 1].at + (rows.shift(u) - row) * width(), u * columns.taps + v};
        }
    }
    const Int each = count_;
    for (Int c = 1; c < channels; ++c)
        for (Int t = 0; t < each; ++t)
            taps_[count_++] = {taps_[t].at + c * channel_room_, taps_[t].weight + c * weight_step};
}

template <class T>
void ShiftedPlanes::copy(const T* source, Int strip, T* room) const {
    const Int plane = rows_.source * columns_.source, w = width();
    const auto first_at = [&](Int line, Int row) {  // the first line of a band that is not before `line`
        if (line <= row) return Int{0};
        return rows_.step == 1 ? line - row : (line - row + rows_.step - 1) / rows_.step;
    };
    for (Int c = 0; c < channels_; ++c, source += plane, room += channel_room_)
        for (const ShiftedBand* band = bands_; band < bands_ + count_bands_; ++band) {
            const Int row = strip * lines_ * rows_.step + band->row, n = band->end - band->begin;
            const Int first = std::min(band->lines, first_at(0, row)), last = first_at(rows_.source, row);
            const Int end = std::clamp(last, first, band->lines);
            T* to = room + band->at;
            if (strips() > 1) {
                std::fill_n(to, first * w, T(0));
                std::fill_n(to + end * w, (band->lines - end) * w, T(0));
            }
            if (n > 0 && first < end)
                copy_lines(
                    end - first, n,
                    source + (row + first * rows_.step) * columns_.source + band->begin * columns_.step + band->column,
                    rows_.step * columns_.source, columns_.step, to + first * w + band->begin, w);
        }
}

template void ShiftedPlanes::copy(const float*, Int, float*) const;
template void ShiftedPlanes::copy(const double*, Int, double*) const;

}  // namespace pollen::kernels
