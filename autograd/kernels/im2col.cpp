#include <pollen/autograd/kernels/im2col.hpp>

#include <pollen/autograd/detail/scratch.hpp>
#include <pollen/autograd/kernels/registers.hpp>

#include <algorithm>
#include <cstring>

namespace pollen::kernels {

namespace {

using Int = std::int64_t;

// Rows of images are short and start anywhere: vectors of 32 bytes serve them best, also where longer ones exist.
template <class T>
using Chunk __attribute__((vector_size(32))) = T;
template <class T>
using HalfChunk __attribute__((vector_size(16))) = T;

template <class V, class T>
POLLEN_INLINE inline void copy_vector(const T* from, T* to) {
    V v;
    std::memcpy(&v, from, sizeof(V));
    std::memcpy(to, &v, sizeof(V));
}

template <class V, class T>
POLLEN_INLINE inline void add_vector(const T* from, T* to) {
    V v, sum;
    std::memcpy(&v, from, sizeof(V));
    std::memcpy(&sum, to, sizeof(V));
    sum += v;
    std::memcpy(to, &sum, sizeof(V));
}

template <class T>
constexpr Int chunk = 32 / sizeof(T);
template <class T>
constexpr Int half = 16 / sizeof(T);

// Where a chunk, or a shorter run, of neighbouring columns is in the block's first row and in x.
struct Piece {
    Int block, x, length;
};

// Calls f(piece) for the runs of a block: neighbouring columns that lie in one row of one image.
template <class F>
void each_run(const Convolution& s, Int column, Int columns, const F& f) {
    Int image = column / s.pixels(), pixel = column % s.pixels();
    Int i = pixel / s.out_w, j = pixel % s.out_w;
    for (Int done = 0; done < columns;) {
        const Int length = std::min(s.out_w - j, columns - done);
        f(Piece{done, image * s.image() + i * s.stride_h * s.width + j * s.stride_w, length});
        done += length;
        j = 0;
        if (++i == s.out_h) {
            i = 0;
            ++image;
        }
    }
}

// Hands whole chunks on in threes, so that a row's entry in the table is read once for three of them: many(pieces) with
// an array of three, and one(piece) for those left over.
template <class Many, class One>
class Threes {
  public:
    Threes(const Many& many, const One& one) : many_(many), one_(one) {}
    void add(const Piece& piece) {
        pieces_[count_++] = piece;
        if (count_ < 3) return;
        many_(pieces_);
        count_ = 0;
    }
    void finish() {
        for (int k = 0; k < count_; ++k) one_(pieces_[k]);
    }

  private:
    const Many& many_;
    const One& one_;
    Piece pieces_[3];
    int count_ = 0;
};

}  // namespace

RowBlocks::RowBlocks(const Convolution& s, Int max_rows, Int ld, Order order) : s_(s) {
    // n things into as few parts as `most` allows, as equal as can be.
    const auto part = [](Int n, Int most) {
        const Int parts = (n + std::max<Int>(1, most) - 1) / std::max<Int>(1, most);
        return parts == 0 ? 1 : (n + parts - 1) / parts;
    };
    channels_ = part(s.in, max_rows / s.taps());
    lines_ = channels_ > 1 ? s.kernel_h : part(s.kernel_h, max_rows / s.kernel_w);
    RowBlock::Row* table = scratch<RowBlock::Row, RowBlocks>(2 * rows());
    fill(channels_, lines_, ld, order, table);
    if (lines_ == s.kernel_h)
        fill(s.in % channels_, lines_, ld, order, table + rows());
    else
        fill(1, s.kernel_h % lines_, ld, order, table + rows());
    table_ = table;
}

// For col2im, taps of one line of the kernel are far apart: v and v + 1 add to almost the same numbers, and an addition
// that follows another one closely has to wait until what that one has written can be read again.
void RowBlocks::fill(Int channels, Int lines, Int ld, Order order, RowBlock::Row* row) const {
    const auto add = [&](Int c, Int u, Int v) {
        *row++ = {((c * lines + u) * s_.kernel_w + v) * ld,
                  c * s_.plane() + u * s_.dilation_h * s_.width + v * s_.dilation_w};
    };
    if (order == Order::ascending) {
        for (Int c = 0; c < channels; ++c)
            for (Int u = 0; u < lines; ++u)
                for (Int v = 0; v < s_.kernel_w; ++v) add(c, u, v);
    } else {
        for (Int v = 0; v < s_.kernel_w; ++v)
            for (Int c = 0; c < channels; ++c)
                for (Int u = 0; u < lines; ++u) add(c, u, v);
    }
}

RowBlock RowBlocks::operator()(Int group, Int channel_block, Int cut) const {
    const Int c = channel_block * channels_, channels = std::min(channels_, s_.in - c);
    const Int u = cut * lines_, lines = std::min(lines_, s_.kernel_h - u);
    const bool whole = channels == channels_ && lines == lines_;
    return {.row = c * s_.taps() + u * s_.kernel_w,
            .rows = channels * lines * s_.kernel_w,
            .x = (group * s_.in + c) * s_.plane() + u * s_.dilation_h * s_.width,
            .table = whole ? table_ : table_ + rows()};
}

template <class T>
void im2col(const Convolution& s, const RowBlock& block, Int column, Int columns, const T* x, T* out) {
    const RowBlock::Row *rows = block.table, *end = rows + block.rows;
    x += block.x;
    const auto one = [&](const Piece& p) {
        for (const auto* r = rows; r < end; ++r) copy_vector<Chunk<T>>(x + p.x + r->x, out + p.block + r->block);
    };
    const auto three = [&](const Piece* p) {
        const T *x0 = x + p[0].x, *x1 = x + p[1].x, *x2 = x + p[2].x;
        T *y0 = out + p[0].block, *y1 = out + p[1].block, *y2 = out + p[2].block;
        for (const auto* r = rows; r < end; ++r) {
            copy_vector<Chunk<T>>(x0 + r->x, y0 + r->block);
            copy_vector<Chunk<T>>(x1 + r->x, y1 + r->block);
            copy_vector<Chunk<T>>(x2 + r->x, y2 + r->block);
        }
    };
    Threes chunks(three, one);
    // The last chunk, or half chunk, of a run may repeat some of the one before.
    each_run(s, column, columns, [&](const Piece& p) {
        if (s.stride_w == 1 && p.length >= chunk<T>) {
            for (Int j = 0; j < p.length; j += chunk<T>) {
                const Int at = std::min(j, p.length - chunk<T>);
                chunks.add({p.block + at, p.x + at, chunk<T>});
            }
            return;
        }
        for (const auto* r = rows; r < end; ++r) {
            const T* from = x + p.x + r->x;
            T* to = out + p.block + r->block;
            if (s.stride_w == 1 && p.length >= half<T>) {
                copy_vector<HalfChunk<T>>(from, to);
                copy_vector<HalfChunk<T>>(from + p.length - half<T>, to + p.length - half<T>);
            } else {
                for (Int j = 0; j < p.length; ++j) to[j] = from[j * s.stride_w];
            }
        }
    });
    chunks.finish();
}

template <class T>
void col2im(const Convolution& s, const RowBlock& block, Int column, Int columns, const T* in, T* x) {
    const RowBlock::Row *rows = block.table, *end = rows + block.rows;
    x += block.x;
    const auto one = [&](const Piece& p) {
        for (const auto* r = rows; r < end; ++r) add_vector<Chunk<T>>(in + p.block + r->block, x + p.x + r->x);
    };
    const auto three = [&](const Piece* p) {
        T *x0 = x + p[0].x, *x1 = x + p[1].x, *x2 = x + p[2].x;
        const T *y0 = in + p[0].block, *y1 = in + p[1].block, *y2 = in + p[2].block;
        for (const auto* r = rows; r < end; ++r) {
            add_vector<Chunk<T>>(y0 + r->block, x0 + r->x);
            add_vector<Chunk<T>>(y1 + r->block, x1 + r->x);
            add_vector<Chunk<T>>(y2 + r->block, x2 + r->x);
        }
    };
    Threes chunks(three, one);
    each_run(s, column, columns, [&](const Piece& p) {
        Int done = 0;
        if (s.stride_w == 1)
            for (; done + chunk<T> <= p.length; done += chunk<T>) chunks.add({p.block + done, p.x + done, chunk<T>});
        if (done == p.length) return;
        for (const auto* r = rows; r < end; ++r) {
            const T* from = in + p.block + r->block;
            T* to = x + p.x + r->x;
            Int j = done;
            if (s.stride_w == 1 && j + half<T> <= p.length) {
                add_vector<HalfChunk<T>>(from + j, to + j);
                j += half<T>;
            }
            for (; j < p.length; ++j) to[j * s.stride_w] += from[j];
        }
    });
    chunks.finish();
}

template void im2col(const Convolution&, const RowBlock&, Int, Int, const float*, float*);
template void im2col(const Convolution&, const RowBlock&, Int, Int, const double*, double*);
template void col2im(const Convolution&, const RowBlock&, Int, Int, const float*, float*);
template void col2im(const Convolution&, const RowBlock&, Int, Int, const double*, double*);

}  // namespace pollen::kernels
