#include <pollen/nn/pruning/kernels/sparse_conv2d.hpp>

#include <pollen/autograd/detail/scratch.hpp>
#include <pollen/autograd/parallel.hpp>
#include <pollen/nn/pruning/kernels/sparse_rows.hpp>

#include <algorithm>

namespace pollen::kernels {

namespace {

using Int = std::int64_t;

constexpr Int task_work = Int{1} << 19;  // products in one task

// The places of an image's output pixels in strips without gaps: one strip for all, or one for each row where rows are
// skipped. Vectors may go over the end of a strip.
template <class T>
struct Layout {
    static constexpr int V = 4;
    static constexpr Int vectors = V * lanes<T>;
    static constexpr Int room = V * sum_lanes<T>;  // behind the last place; also what dvalues sums at a time

    explicit Layout(const SparseConvolution& c)
        : s(c.s),
          pad_h(c.pad_h),
          pad_w(c.pad_w),
          row((s.out_w - 1) * s.stride_w + 1),
          strips(s.stride_h == 1 ? 1 : s.out_h),
          step(s.stride_h * s.width),
          length(s.stride_h == 1 ? (s.out_h - 1) * s.width + row : row) {}

    const Convolution& s;
    Int pad_h, pad_w, row;
    Int strips, step, length;

    Int places() const { return (s.out_h - 1) * step + row + room; }
    Int padded() const { return s.image() + room; }  // numbers of a padded image, with room behind it
    Int plain() const { return s.groups * s.in * (s.height - 2 * pad_h) * (s.width - 2 * pad_w); }
    Int pixels_of_image() const { return s.groups * s.out * s.pixels(); }

    // f(first place) for every V vectors of places.
    template <class F>
    POLLEN_INLINE void each(const F& f) const {
        for (Int strip = 0; strip < strips; ++strip)
            for (Int at = 0; at < length; at += vectors) f(strip * step + at);
    }
    // The same in one go over all places, `room` at a time: nothing is met twice, as it may be behind the end of a
    // strip.
    template <class F>
    POLLEN_INLINE void each_once(const F& f) const {
        for (Int at = 0; at < places() - room; at += room) f(at);
    }
    // f(row of the padded image, row of the plain one, its length)
    template <class F>
    void each_line(const F& f) const {
        const Int h = s.height - 2 * pad_h, w = s.width - 2 * pad_w;
        for (Int channel = 0; channel < s.groups * s.in; ++channel)
            for (Int i = 0; i < h; ++i)
                f(channel * s.plane() + (i + pad_h) * s.width + pad_w, (channel * h + i) * w, w);
    }
    void pad(const T* x, T* image) const {
        each_line([&](Int to, Int from, Int n) { std::copy(x + from, x + from + n, image + to); });
    }
    // The pixels of one channel of dy at their places, and zeros at all others.
    void spread(const T* dy, T* to) const {
        std::fill(to, to + places(), T(0));
        for (Int i = 0; i < s.out_h; ++i)
            for (Int j = 0; j < s.out_w; ++j) to[i * step + j * s.stride_w] = dy[i * s.out_w + j];
    }
    // How far the image is moved for a column of W.
    Int offset(Int column) const {
        const Int channel = column / s.taps(), tap = column % s.taps();
        return channel * s.plane() + tap / s.kernel_w * s.dilation_h * s.width + tap % s.kernel_w * s.dilation_w;
    }
    Int base(Int channel) const { return channel / s.out * s.in * s.plane(); }  // of an output channel's group
};

// One row of W: offsets and numbers, one behind the other. Returns how many.
template <class T>
Int gather(const Layout<T>& layout, const SparsePattern& w, Int p, const T* values, Int* offset, T* number) {
    Int n = 0;
    each_number(w.numbers(p), [&](Int k) {
        offset[n] = layout.offset(w.column()[k]);
        number[n++] = values[k];
    });
    return n;
}

// How images and rows of W are shared out: images alone where there are enough of them.
struct Shares {
    Int images, pieces, rows;
    Shares(Int batch, Int all_rows, Int work) {
        images = std::max<Int>(1, task_work / std::max<Int>(1, work));
        pieces = batch >= 8 ? 1 : std::clamp<Int>(work / task_work, 1, std::min<Int>(8, std::max<Int>(1, all_rows)));
        rows = (all_rows + pieces - 1) / pieces;
    }
};

}  // namespace

template <class T>
void sparse_convolve(const SparseConvolution& c, const SparsePattern& w, const T* values, const T* x, const T* bias,
                     T* y) {
    const Layout<T> layout(c);
    const Convolution& s = c.s;
    if (s.batch == 0 || s.pixels() == 0) return;
    const Shares share(s.batch, w.rows(), w.size() * layout.strips * layout.length);
    const Int groups = (s.batch + share.images - 1) / share.images;
    parallel_for(groups * share.pieces, 1, [&](Int task, Int) {
        const Int first = task / share.pieces * share.images, last = std::min(s.batch, first + share.images);
        const Int begin = task % share.pieces * share.rows, end = std::min(w.rows(), begin + share.rows);
        T* image = scratch<T, struct SparseImage>(layout.padded());
        T* result = scratch<T, struct SparsePixels>(layout.places());
        T* number = scratch<T, struct SparseNumbers>(w.columns());
        Int* offset = scratch<Int, struct SparseOffsets>(w.columns());
        std::fill(image, image + layout.padded(), T(0));
        for (Int n = first; n < last; ++n) {
            layout.pad(x + n * layout.plain(), image);
            for (Int p = begin; p < end; ++p) {
                const Int o = w.row(p), count = gather(layout, w, p, values, offset, number);
                const T* from = image + layout.base(o);
                layout.each([&](Int place) {
                    RowSums<T, Layout<T>::V> sum(bias ? bias[o] : T(0));
                    sum.add(number, 0, 1, count, [=](Int k) POLLEN_INLINE { return from + place + offset[k]; });
                    sum.store(result + place);
                });
                T* to = y + n * layout.pixels_of_image() + o * s.pixels();
                for (Int i = 0; i < s.out_h; ++i)
                    for (Int j = 0; j < s.out_w; ++j) *to++ = result[i * layout.step + j * s.stride_w];
            }
        }
    });
}

template <class T>
void sparse_convolve_dx(const SparseConvolution& c, const SparsePattern& w, const T* values, const T* dy, T beta,
                        T* dx) {
    const Layout<T> layout(c);
    parallel_for(c.s.batch, 1, [&](Int n, Int) {
        T* image = scratch<T, struct SparseImage>(layout.padded());
        T* g = scratch<T, struct SparsePixels>(layout.places());
        std::fill(image, image + layout.padded(), T(0));
        for (Int p = 0; p < w.rows(); ++p) {
            layout.spread(dy + n * layout.pixels_of_image() + w.row(p) * c.s.pixels(), g);
            each_number(w.numbers(p), [&](Int k) {
                T* to = image + layout.base(w.row(p)) + layout.offset(w.column()[k]);
                const Batch<T> value(values[k]);
                layout.each_once([&](Int place) {
                    for (Int at = place; at < place + layout.room; at += lanes<T>)
                        multiply_add(value, Batch<T>::load_unaligned(g + at), Batch<T>::load_unaligned(to + at))
                            .store_unaligned(to + at);
                });
            });
        }
        T* out = dx + n * layout.plain();
        layout.each_line([&](Int from, Int to, Int length) {
            for (Int i = 0; i < length; ++i)
                out[to + i] = beta == T(0) ? image[from + i] : out[to + i] + image[from + i];
        });
    });
}

template <class T>
void sparse_convolve_dvalues(const SparseConvolution& c, const SparsePattern& w, const T* dy, const T* x, T beta,
                             T* dv) {
    const Layout<T> layout(c);
    if (beta == T(0)) std::fill(dv, dv + w.size(), T(0));
    parallel_for(w.rows(), std::max<Int>(1, w.rows() / 8), [&](Int begin, Int end) {
        T* image = scratch<T, struct SparseImage>(layout.padded());
        T* g = scratch<T, struct SparsePixels>(layout.places());
        std::fill(image, image + layout.padded(), T(0));
        for (Int n = 0; n < c.s.batch; ++n) {
            layout.pad(x + n * layout.plain(), image);
            for (Int p = begin; p < end; ++p) {
                layout.spread(dy + n * layout.pixels_of_image() + w.row(p) * c.s.pixels(), g);
                const T* from = image + layout.base(w.row(p));
                each_number(w.numbers(p), [&](Int k) {
                    const T* moved = from + layout.offset(w.column()[k]);
                    layout.each_once([&](Int at) { dv[k] += dot_of_vectors(layout.room, g + at, moved + at); });
                });
            }
        }
    });
}

#define POLLEN_INSTANTIATE(T)                                                                                        \
    template void sparse_convolve(const SparseConvolution&, const SparsePattern&, const T*, const T*, const T*, T*); \
    template void sparse_convolve_dx(const SparseConvolution&, const SparsePattern&, const T*, const T*, T, T*);     \
    template void sparse_convolve_dvalues(const SparseConvolution&, const SparsePattern&, const T*, const T*, T, T*);
POLLEN_INSTANTIATE(float)
POLLEN_INSTANTIATE(double)

}  // namespace pollen::kernels
