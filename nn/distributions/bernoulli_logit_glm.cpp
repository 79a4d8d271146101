#include <pollen/nn/distributions/bernoulli_logit_glm.hpp>

#include <pollen/autograd/kernels/exp.hpp>
#include <pollen/autograd/kernels/log.hpp>
#include <pollen/autograd/support/checks.hpp>
#include <pollen/nn/distributions/detail/density_node.hpp>

#include <array>

namespace pollen {

namespace {

using kernels::Batch;
using kernels::each_part;
using kernels::Lanes;
using kernels::lanes;
using kernels::parts;
using kernels::sum_lanes;

constexpr const char* glm_node = "bernoulli_logit_glm_lpmf";

// Rows that are worked on together: read for the logits, and, still in the cache, for the gradient.
constexpr std::int64_t block = 32;

// Rows of one chunk of a parallel sum: fixed by the number of columns, and whole blocks.
std::int64_t chunk_rows(std::int64_t columns) {
    return std::max<std::int64_t>(2, kernels::grain_for(columns) / block) * block;
}

template <Real T>
struct Rows {
    const T* first;
    std::int64_t count, columns;
    const T* operator[](std::int64_t i) const { return first + i * columns; }
};

// `count` rows from row i on; where there are fewer, the last again.
template <bool whole, std::size_t count, Real T>
std::array<const T*, count> pick(const Rows<T>& rows, std::int64_t i) {
    std::array<const T*, count> row;
    for (std::size_t k = 0; k < count; ++k) {
        const std::int64_t at = i + static_cast<std::int64_t>(k);
        row[k] = rows[whole ? at : std::min(at, rows.count - 1)];
    }
    return row;
}

// x_i . beta for all rows of a block, several at once
template <bool whole, Real T>
void dots(const Rows<T>& rows, const T* beta, T* out) {
    constexpr std::int64_t width = sum_lanes<T>;
    const std::int64_t columns = rows.columns, left = columns % width;
    if (columns < width) {
        for (std::int64_t i = 0; i < rows.count; ++i) {
            T sum = 0;
            for (std::int64_t j = 0; j < columns; ++j) sum += rows[i][j] * beta[j];
            out[i] = sum;
        }
        return;
    }
    constexpr std::size_t together = 8 / parts<T>;
    for (std::int64_t i = 0; i < rows.count; i += together) {
        const auto row = pick<whole, together>(rows, i);
        std::array<Lanes<T>, together> dot;
        dot.fill(Lanes<T>(T(0)));
        for (std::int64_t j = 0; j + width <= columns; j += width)
            each_part<T>([&](std::size_t p) POLLEN_INLINE {
                const std::int64_t at = j + static_cast<std::int64_t>(p) * lanes<T>;
                const Batch<T> b = Batch<T>::load_unaligned(beta + at);
                for (std::size_t k = 0; k < together; ++k)
                    dot[k].part[p] = kernels::multiply_add(Batch<T>::load_unaligned(row[k] + at), b, dot[k].part[p]);
            });
        if (left > 0)
            each_part<T>([&](std::size_t p) POLLEN_INLINE {
                const std::int64_t part = static_cast<std::int64_t>(p), count = kernels::last_in_part<T>(left, part);
                if (count == 0) return;
                const std::int64_t at = columns - width + part * lanes<T>;
                const Batch<T> b = Batch<T>::load_unaligned(beta + at);
                for (std::size_t k = 0; k < together; ++k) {
                    const Batch<T> x = Batch<T>::load_unaligned(row[k] + at);
                    dot[k].part[p] += kernels::last_lanes<kernels::Sum>(count, Batch<T>(x * b));
                }
            });
        kernels::sums_of<T>(dot, out + i);
    }
}

// gradient += sum_i residual[i] x_i over a block, eight rows at a time. In the last columns, which do not fill all
// lanes, the sum over eight rows begins at 0.
template <bool whole, Real T>
void add_rows(const Rows<T>& rows, const T* residual, T* gradient) {
    const std::int64_t columns = rows.columns, filled = columns / sum_lanes<T> * sum_lanes<T>;
    if (filled == 0) {
        for (std::int64_t j = 0; j < columns; ++j) {
            std::array<T, 4> sum{};
            for (std::int64_t i = 0; i < rows.count; ++i)
                sum[static_cast<std::size_t>(i % 4)] += residual[i] * rows[i][j];
            gradient[j] += (sum[0] + sum[1]) + (sum[2] + sum[3]);
        }
        return;
    }
    for (std::int64_t i = 0; i < rows.count; i += 8) {
        const auto row = pick<whole, 8>(rows, i);
        std::array<Batch<T>, 8> r;
        for (std::size_t k = 0; k < 8; ++k) r[k] = Batch<T>(residual[i + static_cast<std::int64_t>(k)]);
        const auto eight = [&](std::int64_t j, Batch<T> sum) {
            for (std::size_t k = 0; k < 8; ++k)
                sum = kernels::multiply_add(r[k], Batch<T>::load_unaligned(row[k] + j), sum);
            return sum;
        };
        std::int64_t j = 0;
        for (; j < filled; j += lanes<T>)
            eight(j, Batch<T>::load_unaligned(gradient + j)).store_unaligned(gradient + j);
        for (; j < columns; j += lanes<T>) {
            const std::int64_t at = std::min(j, columns - lanes<T>);
            const Batch<T> before = Batch<T>::load_unaligned(gradient + at);
            const Batch<T> after = before + eight(at, Batch<T>(T(0)));
            kernels::last_lanes<T>(at + lanes<T> - j, after, before).store_unaligned(gradient + at);
        }
    }
}

// What a chunk of rows adds to the sum: the log likelihood, and its derivatives along alpha and beta.
template <Real T>
struct Sums {
    T* value;
    T* alpha;
    T* beta;  // null where no gradient is wanted
};

// With s = -logit for y = 1 and s = logit for y = 0, and e = exp(-|logit|):
//     log p(y) = -max(s, 0) - log(1 + e)        dlog p/dlogit = 1 / (1 + exp(-s)) with the sign of -s
// The logarithms of a block are one, of the product of its 1 + e. With p the product less 1, the next one is
// p + e + p e: nothing is lost where e is small.
template <bool whole, Real T, class Y>
void add_block(const Y* y, const Rows<T>& rows, T alpha, const T* beta, const Sums<T>& sums) {
    constexpr std::int64_t width = lanes<T>;
    const std::int64_t count = whole ? block : rows.count;
    const Batch<T> zero(T(0)), one(T(1));
    alignas(64) std::array<T, block> labels, logits, residuals;
    if (!whole)
        for (auto* held : {&labels, &logits, &residuals}) held->fill(T(0));
    for (std::int64_t i = 0; i < count; ++i) labels[static_cast<std::size_t>(i)] = static_cast<T>(y[i]);
    dots<whole>(rows, beta, logits.data());
    const auto counted = [&](std::int64_t i, const Batch<T>& v) {
        return whole || i + width <= count
                   ? v
                   : kernels::first_lanes<kernels::Sum>(std::max<std::int64_t>(0, count - i), v);
    };
    Lanes<T> product(T(0)), linear(T(0)), residual_sum(T(0));
    for (std::int64_t first = 0; first < count; first += sum_lanes<T>)
        each_part<T>([&](std::size_t k) POLLEN_INLINE {
            const std::int64_t i = first + static_cast<std::int64_t>(k) * width;
            const Batch<T> logit = Batch<T>::load_aligned(logits.data() + i) + Batch<T>(alpha);
            const auto is_one = Batch<T>::load_aligned(labels.data() + i) == one;
            const Batch<T> s = xsimd::select(is_one, kernels::negative(logit), logit);
            const Batch<T> e = kernels::exp<T>(kernels::negative(xsimd::abs(logit)));
            const Batch<T> q = xsimd::select(s < zero, e, one) / (one + e), share = counted(i, e);
            const Batch<T> r = counted(i, xsimd::select(is_one, q, kernels::negative(q)));
            Batch<T>& p = product.part[k];
            linear.part[k] += counted(i, xsimd::max(s, zero));
            p += kernels::multiply_add(p, share, share);
            residual_sum.part[k] += r;
            r.store_aligned(residuals.data() + i);
        });
    *sums.value -= sum_of(kernels::lanes_of<T>([&](std::int64_t k) {
        const auto at = static_cast<std::size_t>(k);
        return Batch<T>(linear.part[at] + kernels::log1p<T>(product.part[at]));
    }));
    *sums.alpha += sum_of(residual_sum);
    if (sums.beta) add_rows<whole>(rows, residuals.data(), sums.beta);
}

template <Real T, class Y>
void add_chunk(const Y* y, const Rows<T>& rows, T alpha, const T* beta, const Sums<T>& sums) {
    std::int64_t i = 0;
    for (; i + block <= rows.count; i += block)
        add_block<true>(y + i, Rows<T>{rows[i], block, rows.columns}, alpha, beta, sums);
    if (i < rows.count) add_block<false>(y + i, Rows<T>{rows[i], rows.count - i, rows.columns}, alpha, beta, sums);
}

// Everything, with the sums of the chunks summed again.
template <Real T, class Y>
void add_all(const Y* y, const Rows<T>& rows, T alpha, const T* beta, const Sums<T>& sums) {
    const std::int64_t each = chunk_rows(rows.columns);
    if (rows.count <= each) return add_chunk(y, rows, alpha, beta, sums);
    const std::int64_t chunks = (rows.count + each - 1) / each, room = 2 + (sums.beta ? rows.columns : 0);
    Tensor<T> partial = Tensor<T>::zeros(Shape{chunks, room}), total = Tensor<T>::zeros(Shape{room});
    T* held = partial.mutable_data();
    parallel_for(chunks, 1, [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t c = first; c < last; ++c) {
            T* own = held + c * room;
            const Rows<T> part{rows[c * each], std::min(each, rows.count - c * each), rows.columns};
            add_chunk(y + c * each, part, alpha, beta, Sums<T>{own, own + 1, sums.beta ? own + 2 : nullptr});
        }
    });
    kernels::reduce_axes<kernels::Sum, T>(held, partial.shape(), 1u, total.mutable_data());
    *sums.value = total.data()[0];
    *sums.alpha = total.data()[1];
    if (sums.beta) std::copy_n(total.data() + 2, rows.columns, sums.beta);
}

template <class Y>
void check_labels(const Tensor<Y>& y) {
    using B = Batch<Y>;
    std::int64_t i = 0;
    for (; i + static_cast<std::int64_t>(B::size) <= y.size(); i += B::size) {
        const B v = B::load_unaligned(y.data() + i);
        if (!xsimd::all(v == B(Y(0)) || v == B(Y(1)))) break;
    }
    for (; i < y.size(); ++i)
        if (!(y.data()[i] == Y(0) || y.data()[i] == Y(1)))
            throw ValueError(std::string(glm_node) + ": y is " + to_text(static_cast<double>(y.data()[i])) +
                             " at element " + std::to_string(i) + "; it must be 0 or 1");
}

template <Real T>
void check_shapes(const Shape& y, const Shape& x, const ArgRef<T>& alpha, const ArgRef<T>& beta) {
    const std::string start = std::string(glm_node) + ": ";
    if (x.rank() != 2) throw ShapeError(start + "x has shape " + to_string(x) + "; a matrix is needed");
    if (!(y == Shape{x[0]}))
        throw ShapeError(start + "y has shape " + to_string(y) + " and x " + to_string(x) + "; y needs shape (" +
                         std::to_string(x[0]) + ")");
    if (alpha.size() != 1)
        throw ShapeError(start + "alpha has shape " + to_string(*alpha.shape()) + "; one number is needed");
    const Shape b = beta.shape() ? *beta.shape() : Shape{};
    if (!(b == Shape{x[1]}))
        throw ShapeError(start + "beta has shape " + to_string(b) + " and x " + to_string(x) + "; beta needs shape (" +
                         std::to_string(x[1]) + ")");
}

template <Real T, class Y>
Var<T> record_glm(const Tensor<Y>& y, const Tensor<T>& x, const ArgRef<T>& alpha, const ArgRef<T>& beta) {
    const Args<T, 2> args{alpha, beta};
    TapeState<T>& tape = tape_of(glm_node, args);
    check_shapes(y.shape(), x.shape(), alpha, beta);
    check_labels(y);
    const std::int64_t columns = x.shape()[1];
    const std::int64_t alpha_room = alpha.needs_grad() ? padded<T>(1) : 0;
    const std::int64_t beta_room = beta.needs_grad() ? padded<T>(columns) : 0;
    const auto evaluate = [alpha_room, beta_room, count = x.shape()[0], columns](
                              const Y* labels, const T* data, const T* a, const T* b, T* value, T* slopes) {
        T unwanted = 0;
        const Sums<T> sums{value, alpha_room > 0 ? slopes : &unwanted, beta_room > 0 ? slopes + alpha_room : nullptr};
        *sums.value = *sums.alpha = 0;
        if (sums.beta) std::fill_n(sums.beta, columns, T(0));
        add_all(labels, Rows<T>{data, count, columns}, *a, b, sums);
    };
    if (tape.replays()) {
        const auto again = [evaluate, y, x](const char*, const Args<T, 2>& now, Pool&, T* value, T* slopes) {
            evaluate(y.data(), x.data(), now[0].data(), now[1].data(), value, slopes);
        };
        return record_replayed(glm_node, on_tape(args, tape), Shape{}, tape.empty(Shape{alpha_room + beta_room}),
                               no_bounds<T, 2>, again, pass_to_inputs<T>);
    }
    return record_sloped(glm_node, tape, args, alpha_room + beta_room, [&](T* value, T* slopes) {
        evaluate(y.data(), x.data(), alpha.data(), beta.data(), value, slopes);
    });
}

}  // namespace

template <Real T>
Var<T> bernoulli_logit_glm_lpmf(const Indices& y, const Tensor<T>& x, const std::type_identity_t<ArgRef<T>>& alpha,
                                const std::type_identity_t<ArgRef<T>>& beta) {
    return record_glm(y, x, alpha, beta);
}

template <Real T>
Var<T> bernoulli_logit_glm_lpmf(const Tensor<T>& y, const Tensor<T>& x, const std::type_identity_t<ArgRef<T>>& alpha,
                                const std::type_identity_t<ArgRef<T>>& beta) {
    return record_glm(y, x, alpha, beta);
}

#define POLLEN_INSTANTIATE_GLM(T, Y)                                                                     \
    template Var<T> bernoulli_logit_glm_lpmf(const Tensor<Y>&, const Tensor<T>&, const ArgRef<T>& alpha, \
                                             const ArgRef<T>& beta);
POLLEN_INSTANTIATE_GLM(float, float)
POLLEN_INSTANTIATE_GLM(float, std::int32_t)
POLLEN_INSTANTIATE_GLM(double, double)
POLLEN_INSTANTIATE_GLM(double, std::int32_t)

}  // namespace pollen
