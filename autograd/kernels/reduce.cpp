#include <pollen/autograd/kernels/reduce.hpp>

namespace pollen::kernels {

namespace {

// Columns that one task reduces at a time, about the elements of one task, and the length to which short rows are
// strung together, where the reduced axis is not the last.
constexpr std::int64_t column_block = 2048;
constexpr std::int64_t column_task = 65536;
constexpr std::int64_t narrow = 256;

// Rows of at most this length are reduced number by number, several rows side by side.
constexpr std::int64_t short_row = 32;

// out[i] = Op over x[i * r], ..., x[i * r + r - 1], for i < rows, with r at most short_row.
template <class Op, class T>
void reduce_short_rows(const T* x, std::int64_t rows, std::int64_t r, T* out) {
    std::int64_t i = 0;
    for (; i + 4 <= rows; i += 4, x += 4 * r) {
        T a = x[0], b = x[r], c = x[2 * r], d = x[3 * r];
        for (std::int64_t k = 1; k < r; ++k) {
            a = Op::combine(a, x[k]);
            b = Op::combine(b, x[r + k]);
            c = Op::combine(c, x[2 * r + k]);
            d = Op::combine(d, x[3 * r + k]);
        }
        out[i] = a;
        out[i + 1] = b;
        out[i + 2] = c;
        out[i + 3] = d;
    }
    for (; i < rows; ++i, x += r) {
        out[i] = x[0];
        for (std::int64_t k = 1; k < r; ++k) out[i] = Op::combine(out[i], x[k]);
    }
}

// (a, r) -> (a). Where r is long it is first cut into chunks: (a, r) -> (a, chunks) -> (a).
template <class Op, class T>
void reduce_last(const T* x, std::int64_t a, std::int64_t r, T* out) {
    if (r <= reduce_chunk) {
        parallel_for(a, grain_for(r, reduce_grain), [&](std::int64_t begin, std::int64_t end) {
            if (r <= short_row) return reduce_short_rows<Op>(x + begin * r, end - begin, r, out + begin);
            for (std::int64_t i = begin; i < end; ++i) out[i] = reduce_serial<Op, T>(r, Keep{}, Stream<T>{x + i * r});
        });
        return;
    }
    const std::int64_t chunks = (r + reduce_chunk - 1) / reduce_chunk;
    Tensor<T> partial = Tensor<T>::empty(Shape{a, chunks});
    T* to = partial.fresh_data();
    parallel_for(a * chunks, reduce_grain / reduce_chunk, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t task = begin; task < end; ++task) {
            const std::int64_t first = task % chunks * reduce_chunk;
            to[task] = reduce_serial<Op, T>(std::min(reduce_chunk, r - first), Keep{},
                                            Stream<T>{x + task / chunks * r + first});
        }
    });
    reduce_last<Op>(to, a, chunks, out);
}

// out[j] = Op over i < rows of x[i * stride + j], for j < columns: the first row, then each four rows combined in
// pairs, then the rest one by one; fewer than sum_lanes columns all one by one.
template <class Op, class T>
void reduce_rows(const T* x, std::int64_t rows, std::int64_t stride, std::int64_t columns, T* out) {
    using V = Batch<T>;
    constexpr std::int64_t W = lanes<T>;
    const auto reduced = [&](const auto& row) {
        V sum = row(0);
        std::int64_t i = 1;
        if (columns >= sum_lanes<T>)
            for (; i + 4 <= rows; i += 4)
                sum =
                    Op::combine(sum, Op::combine(Op::combine(row(i), row(i + 1)), Op::combine(row(i + 2), row(i + 3))));
        for (; i < rows; ++i) sum = Op::combine(sum, row(i));
        return sum;
    };
    // Narrow rows one vector after the other, whose sum stays in a register.
    if (columns <= narrow) {
        std::int64_t j = 0;
        for (; j + W <= columns; j += W)
            reduced([&](std::int64_t i) { return V::load_unaligned(x + i * stride + j); }).store_unaligned(out + j);
        if (const std::int64_t rest = columns - j; rest > 0)
            store_first(out + j, reduced([&](std::int64_t i) { return load_first(x + i * stride + j, rest); }), rest);
        return;
    }
    std::copy_n(x, columns, out);
    const auto two = [](const V& a, const V& b) { return Op::combine(a, b); };
    const auto five = [](const V& a, const V& b, const V& c, const V& d, const V& e) {
        return Op::combine(a, Op::combine(Op::combine(b, c), Op::combine(d, e)));
    };
    std::int64_t i = 1;
    for (; i + 4 <= rows; i += 4) {
        const T* row = x + i * stride;
        map_serial(columns, out, five, Stream<T>{out}, Stream<T>{row}, Stream<T>{row + stride},
                   Stream<T>{row + 2 * stride}, Stream<T>{row + 3 * stride});
    }
    for (; i < rows; ++i) map_serial(columns, out, two, Stream<T>{out}, Stream<T>{x + i * stride});
}

// The same for rows that lie end to end. Short ones are strung together to long ones, whose sum is then cut up again.
template <class Op, class T>
void reduce_adjacent_rows(const T* x, std::int64_t rows, std::int64_t columns, T* out) {
    const std::int64_t strung = narrow / columns;
    if (strung < 2 || rows < 2 * strung) return reduce_rows<Op>(x, rows, columns, columns, out);
    alignas(64) T held[narrow];
    reduce_rows<Op>(x, rows / strung, strung * columns, strung * columns, held);
    reduce_rows<Op>(held, strung, columns, columns, out);
    const std::int64_t left = rows % strung;
    if (left == 0) return;
    reduce_rows<Op>(x + (rows - left) * columns, left, columns, columns, held);
    for (std::int64_t j = 0; j < columns; ++j) out[j] = Op::combine(out[j], held[j]);
}

// (a, r, b) -> (a, b). Where r is long it is first cut into chunks: (a, r, b) -> (a, chunks, b) -> (a, b).
template <class Op, class T>
void reduce_middle(const T* x, std::int64_t a, std::int64_t r, std::int64_t b, T* out) {
    const std::int64_t blocks = (b + column_block - 1) / column_block, columns = (b + blocks - 1) / blocks;
    const std::int64_t chunk = std::max<std::int64_t>(32, column_task / columns), chunks = (r + chunk - 1) / chunk;
    Tensor<T> partial = chunks > 1 ? Tensor<T>::empty(Shape{a, chunks, b}) : Tensor<T>();
    T* to = chunks > 1 ? partial.fresh_data() : out;
    const std::int64_t grain = grain_for(std::min(chunk, r) * columns, reduce_grain);
    parallel_for(a * chunks * blocks, grain, [&](std::int64_t begin, std::int64_t end) {
        std::int64_t block = begin % blocks, c = begin / blocks % chunks, i = begin / blocks / chunks;
        for (std::int64_t task = begin; task < end; ++task) {
            const std::int64_t rows = std::min(chunk, r - c * chunk), first = block * columns;
            const T* from = x + (i * r + c * chunk) * b + first;
            T* target = to + (i * chunks + c) * b + first;
            if (blocks == 1)
                reduce_adjacent_rows<Op>(from, rows, b, target);
            else
                reduce_rows<Op>(from, rows, b, std::min(columns, b - first), target);
            if (++block == blocks) {
                block = 0;
                if (++c == chunks) c = 0, ++i;
            }
        }
    });
    if (chunks > 1) reduce_middle<Op>(to, a, chunks, b, out);
}

}  // namespace

template <class Op, class T>
void reduce_axes(const T* x, const Shape& shape, unsigned mask, T* out) {
    if (mask == (1u << shape.rank()) - 1u) {
        *out = reduce_all<Op, T>(shape.size(), Keep{}, Stream<T>{x});
        return;
    }
    if (shape.size() == 0) {
        std::fill_n(out, reduced_shape(shape, mask, false).size(), Op::template identity<T>);
        return;
    }
    // One run of neighbouring reduced axes after the other, the last one first.
    Shape now = shape;
    Tensor<T> held;
    while (true) {
        int end = now.rank();
        while (end > 0 && !((mask >> (end - 1)) & 1u)) --end;
        int begin = end;
        while (begin > 0 && ((mask >> (begin - 1)) & 1u)) --begin;
        std::int64_t a = 1, r = 1, b = 1;
        for (int axis = 0; axis < now.rank(); ++axis) (axis < begin ? a : axis < end ? r : b) *= now[axis];
        const unsigned run = ((1u << end) - 1u) & ~((1u << begin) - 1u);
        mask &= ~run;
        Tensor<T> partial = mask ? Tensor<T>::empty(reduced_shape(now, run, false)) : Tensor<T>();
        T* to = mask ? partial.fresh_data() : out;
        if (b == 1)
            reduce_last<Op>(x, a, r, to);
        else
            reduce_middle<Op>(x, a, r, b, to);
        if (!mask) return;
        held = std::move(partial);
        x = held.data();
        now = held.shape();
    }
}

template <class T>
void sum_to(const T* x, const Shape& from, const GradientSlot<T>& out, const Shape& to) {
    if (!out) return;
    if (to.size() == from.size()) return map_into(out, to.size(), Keep{}, Stream<T>{x});
    if (to.size() == 1) {
        const T sum = reduce_all<Sum, T>(from.size(), Keep{}, Stream<T>{x});
        out.data[0] = out.fresh ? sum : out.data[0] + sum;
        return;
    }
    unsigned mask = 0;
    const int extra = from.rank() - to.rank();
    for (int axis = 0; axis < from.rank(); ++axis) {
        if (axis < extra || to[axis - extra] != from[axis]) mask |= 1u << axis;
    }
    if (out.fresh) return reduce_axes<Sum>(x, from, mask, out.data);
    // Few numbers need no memory of a pool, which threads would have to wait for.
    constexpr std::int64_t few = 512;
    alignas(64) T on_stack[few];
    Tensor<T> held;
    T* sum = on_stack;
    if (to.size() > few) sum = (held = Tensor<T>::empty(to)).fresh_data();
    reduce_axes<Sum>(x, from, mask, sum);
    map_into(out, to.size(), Keep{}, Stream<T>{sum});
}

#define POLLEN_INSTANTIATE(T)                                             \
    template void reduce_axes<Sum>(const T*, const Shape&, unsigned, T*); \
    template void reduce_axes<Max>(const T*, const Shape&, unsigned, T*); \
    template void reduce_axes<Min>(const T*, const Shape&, unsigned, T*); \
    template void sum_to(const T*, const Shape&, const GradientSlot<T>&, const Shape&);
POLLEN_INSTANTIATE(float)
POLLEN_INSTANTIATE(double)

}  // namespace pollen::kernels
