#include <pollen/nn/distributions/multivariate_normal.hpp>

#include <pollen/autograd/kernels/constants.hpp>
#include <pollen/autograd/kernels/triangular.hpp>
#include <pollen/autograd/math.hpp>
#include <pollen/autograd/support/checks.hpp>
#include <pollen/nn/distributions/detail/density_node.hpp>
#include <pollen/nn/distributions/detail/log_weights.hpp>
#include <pollen/nn/distributions/detail/noise.hpp>

namespace pollen::distributions {

namespace {

constexpr const char* normal_node = "multi_normal_cholesky_lpdf";

// sum_i log L_ii
template <Real T>
double log_diagonal(const T* l, std::int64_t d) {
    double sum = 0;
    for (std::int64_t i = 0; i < d; ++i) sum += math::log(static_cast<double>(l[i * d + i]));
    return sum;
}

// Y = L^-1 (x - mean)', (d, n): the n vectors are its columns.
template <Real T>
void whiten(const Shape& shape, const Arg<T>& x, const Arg<T>& mean, const T* l, Pool& pool, T* y) {
    const std::int64_t d = shape[shape.rank() - 1], n = d > 0 ? shape.size() / d : 0;
    Tensor<T> rows = Tensor<T>::empty(shape, pool), means = Tensor<T>::empty(shape, pool);
    kernels::repeat_into<T>({rows.fresh_data(), true}, shape, x.data(), x.shape());
    kernels::repeat_into<T>({means.fresh_data(), true}, shape, mean.data(), mean.shape());
    for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t j = 0; j < d; ++j) y[j * n + i] = rows.data()[i * d + j] - means.data()[i * d + j];
    if (n > 0) kernels::triangular_solve(kernels::Triangle::lower, false, false, d, n, l, d, y, n);
}

template <Real T>
void check_pivots(const T* l, std::int64_t d) {
    for (std::int64_t i = 0; i < d; ++i)
        if (const T pivot = l[i * d + i]; !(pivot > 0))
            throw DomainError("MultivariateNormal: the diagonal of cholesky is " + to_text(static_cast<double>(pivot)) +
                              " at row " + std::to_string(i) + "; it must be positive");
}

template <Real T>
Shape vectors_shape(const MultivariateNormal<T>& law, const Shape& x) {
    const Shape shape = broadcast(normal_node, x, law.location().shape());
    if (shape.rank() == 0 || shape[shape.rank() - 1] != law.dimension())
        throw ShapeError("MultivariateNormal: x has shape " + to_string(x) + ", cholesky " +
                         to_string(law.cholesky().shape()) + "; the last axis of x must be " +
                         std::to_string(law.dimension()));
    return shape;
}

// With W = L^-T Y, summed over the n vectors:
//     dlog p/dx = -W        dlog p/dmean = W        dlog p/dL = (lower triangle of W Y') - n / L_ii on the diagonal
template <Real T>
void pass_back(Backward<T>& b, const Tensor<T>& y) {
    const std::int64_t d = y.shape()[0], n = y.shape()[1];
    const T *l = b.input(2).data(), g = b.grad()[0];
    Tensor<T> solved = b.scratch(y.shape());
    T* w = solved.fresh_data();
    std::copy_n(y.data(), y.size(), w);
    if (n > 0) kernels::triangular_solve(kernels::Triangle::lower, true, false, d, n, l, d, w, n);
    const Shape shape = broadcast(normal_node, b.input(0).shape(), b.input(1).shape());
    for (int k = 0; k < 2; ++k) {
        if (!b.wants(k)) continue;
        Tensor<T> rows = b.scratch(shape);
        for (std::int64_t i = 0; i < n; ++i)
            for (std::int64_t j = 0; j < d; ++j) rows.fresh_data()[i * d + j] = (k == 0 ? -g : g) * w[j * n + i];
        kernels::sum_to(static_cast<const T*>(rows.data()), shape, b.slot(k), b.input(k).shape());
    }
    if (T* dl = b.accumulate(2)) {
        for (std::int64_t i = 0; i < d; ++i) {
            for (std::int64_t j = 0; j <= i; ++j) {
                T sum = 0;
                for (std::int64_t v = 0; v < n; ++v) sum += w[i * n + v] * y.data()[j * n + v];
                dl[i * d + j] += g * sum;
            }
            dl[i * d + i] -= g * static_cast<T>(n) / l[i * d + i];
        }
    }
}

// The lower triangle of a matrix, with zeros above.
template <Real T>
Var<T> lower_triangle(Var<T> l) {
    const std::int64_t d = l.shape()[0];
    Tensor<T> ones = Tensor<T>::zeros(l.shape());
    for (std::int64_t i = 0; i < d; ++i) std::fill_n(ones.mutable_data() + i * d, i + 1, T(1));
    return where(ones, l, l.state().leaf("constant", Tensor<T>::zeros(l.shape()), false));
}

void check_vectors(const Shape& shape, const Shape& mean, std::int64_t d) {
    if (shape.rank() == 0 || shape[shape.rank() - 1] != d)
        throw ShapeError("MultivariateNormal: draws of shape " + to_string(shape) +
                         " were asked for; the last axis must be " + std::to_string(d));
    check_sample_shape("MultivariateNormal", mean, shape);
}

}  // namespace

template <Real T>
MultivariateNormal<T>::MultivariateNormal(Arg<T> mean, Arg<T> cholesky)
    : mean_(std::move(mean)), cholesky_(std::move(cholesky)) {
    const Shape shape = cholesky_.shape();
    if (shape.rank() != 2 || shape[0] != shape[1])
        throw ShapeError("MultivariateNormal: cholesky has shape " + to_string(shape) + "; a square matrix is needed");
    check_pivots(cholesky_.data(), shape[0]);
    const Shape m = mean_.shape();
    if (m.rank() > 0 && m[m.rank() - 1] != 1 && m[m.rank() - 1] != shape[0])
        throw ShapeError("MultivariateNormal: mean has shape " + to_string(m) + ", cholesky " + to_string(shape) +
                         "; the last axis of the mean must be " + std::to_string(shape[0]));
}

template <Real T>
Tensor<T> MultivariateNormal<T>::log_prob_each(const Tensor<T>& x) const {
    const Shape shape = vectors_shape(*this, x.shape());
    const std::int64_t d = dimension(), n = d > 0 ? shape.size() / d : 0;
    Tensor<T> y = Tensor<T>::empty(Shape{d, n});
    whiten<T>(shape, x, mean_, cholesky_.data(), Pool::global(), y.fresh_data());
    const double constant = -log_diagonal(cholesky_.data(), d) - static_cast<double>(d) * kernels::log_sqrt_2pi;
    Tensor<T> out = Tensor<T>::empty(kernels::without_last(shape));
    for (std::int64_t i = 0; i < n; ++i) {
        double squares = 0;
        for (std::int64_t j = 0; j < d; ++j) {
            const double v = static_cast<double>(y.data()[j * n + i]);
            squares += v * v;
        }
        out.fresh_data()[i] = static_cast<T>(constant - 0.5 * squares);
    }
    return out;
}

template <Real T>
Var<T> MultivariateNormal<T>::log_prob(const Arg<T>& x) const {
    TapeState<T>& tape = tape_of(normal_node, Args<T, 3>{x, mean_, cholesky_});
    const Shape shape = vectors_shape(*this, x.shape());
    const std::int64_t d = dimension(), n = d > 0 ? shape.size() / d : 0;
    Tensor<T> y = tape.empty(Shape{d, n});
    // Both closures hold y: a replay writes the new one to where backward reads it.
    const auto forward = [shape, d, n, y, to = y.fresh_data()](Forward<T>& f) {
        const T* l = f.input(2).data();
        check_pivots(l, d);
        whiten<T>(shape, f.input_var(0), f.input_var(1), l, f.pool(), to);
        const T squares = kernels::reduce_all<kernels::Sum, T>(
            d * n, [](const kernels::Batch<T>& v) { return v * v; }, kernels::Stream<T>{to});
        f.value()[0] = static_cast<T>(-0.5 * static_cast<double>(squares) -
                                      static_cast<double>(n) *
                                          (log_diagonal(l, d) + static_cast<double>(d) * kernels::log_sqrt_2pi));
    };
    return record(normal_node, {x.on(tape), mean_.on(tape), cholesky_.on(tape)}, Shape{}, forward,
                  [y](Backward<T>& b) { pass_back(b, y); });
}

template <Real T>
Tensor<T> MultivariateNormal<T>::sample(const Shape& shape, const RandomKey& key) const {
    const std::int64_t d = dimension();
    check_vectors(shape, mean_.shape(), d);
    const Tensor<T> z = normal_noise<T>(shape, key);
    Tensor<T> out = Tensor<T>::empty(shape);
    T* to = out.fresh_data();
    kernels::repeat_into<T>({to, true}, shape, mean_.data(), mean_.shape());
    kernels::parallel_rows(d > 0 ? shape.size() / d : 0, d * d, [&](std::int64_t v) {
        for (std::int64_t i = 0; i < d; ++i)
            for (std::int64_t j = 0; j <= i; ++j) to[v * d + i] += cholesky_.data()[i * d + j] * z.data()[v * d + j];
    });
    return out;
}

// x = mean + L z
template <Real T>
Var<T> MultivariateNormal<T>::rsample(const Shape& shape, const RandomKey& key) const {
    check_vectors(shape, mean_.shape(), dimension());
    TapeState<T>& tape = tape_of("rsample", Args<T, 2>{mean_, cholesky_});
    const Var<T> z = tape.leaf("noise", normal_noise<T>(shape, key), false);
    const Var<T> moved = matmul(z, lower_triangle(cholesky_.on(tape)), {.transpose_y = true});
    return mean_.on(tape) + moved;
}

template <Real T>
Tensor<T> MultivariateNormal<T>::mean() const {
    const Shape shape = broadcast(normal_node, mean_.shape(), Shape{dimension()});
    Tensor<T> out = Tensor<T>::empty(shape);
    kernels::repeat_into<T>({out.fresh_data(), true}, shape, mean_.data(), mean_.shape());
    return out;
}

template <Real T>
Tensor<T> MultivariateNormal<T>::covariance() const {
    const std::int64_t d = dimension();
    const T* l = cholesky_.data();
    Tensor<T> out = Tensor<T>::zeros(Shape{d, d});
    for (std::int64_t i = 0; i < d; ++i)
        for (std::int64_t j = 0; j < d; ++j)
            for (std::int64_t k = 0; k <= std::min(i, j); ++k)
                out.mutable_data()[i * d + j] += l[i * d + k] * l[j * d + k];
    return out;
}

template <Real T>
Tensor<T> MultivariateNormal<T>::variance() const {
    const std::int64_t d = dimension();
    const Tensor<T> all = covariance();
    Tensor<T> out = Tensor<T>::empty(Shape{d});
    for (std::int64_t i = 0; i < d; ++i) out.fresh_data()[i] = all.data()[i * d + i];
    return out;
}

// With L and M the factors of p and q, for each of the n vectors:
//     KL = (|M^-1 L|^2 - d + |M^-1 (mean_p - mean_q)|^2) / 2 + sum_i log M_ii - sum_i log L_ii
template <Real T>
Var<T> kl(const MultivariateNormal<T>& p, const MultivariateNormal<T>& q) {
    const std::int64_t d = p.dimension();
    if (q.dimension() != d)
        throw ShapeError("kl: MultivariateNormals of " + std::to_string(d) + " and " + std::to_string(q.dimension()) +
                         " dimensions");
    TapeState<T>& tape = tape_of("kl", Args<T, 4>{p.location(), p.cholesky(), q.location(), q.cholesky()});
    const Var<T> l = lower_triangle(p.cholesky().on(tape)), m = q.cholesky().on(tape);
    const Shape shape = broadcast("kl", broadcast("kl", p.location().shape(), q.location().shape()), Shape{d});
    const std::int64_t n = shape.size() / d;
    const Var<T> from = p.location().on(tape), to = q.location().on(tape);
    const Var<T> distance = reshape(broadcast_to(from - to, shape), {n, d});
    const Var<T> moved = triangular_solve(m, transpose(distance)), spread = triangular_solve(m, l);
    const Var<T> squares = sum(square(spread)), logdet_m = cholesky_logdet(m), logdet_l = cholesky_logdet(l);
    const Var<T> logdets = logdet_m - logdet_l, same = (squares + logdets - T(d)) * T(n);
    return (sum(square(moved)) + same) * T(0.5);
}

template class MultivariateNormal<float>;
template class MultivariateNormal<double>;
template Var<float> kl(const MultivariateNormal<float>&, const MultivariateNormal<float>&);
template Var<double> kl(const MultivariateNormal<double>&, const MultivariateNormal<double>&);

}  // namespace pollen::distributions
