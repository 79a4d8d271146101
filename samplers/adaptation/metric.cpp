#include <pollen/samplers/adaptation/metric.hpp>

#include <pollen/autograd/kernels/triangular.hpp>
#include <pollen/autograd/support/checks.hpp>
#include <pollen/autograd/support/error.hpp>
#include <pollen/samplers/adaptation/detail/symmetric.hpp>
#include <pollen/samplers/detail/dot.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace pollen {

using detail::dot;

template <Real T>
Metric<T>::Metric(MetricKind kind, std::int64_t size) : kind_(kind), size_(size) {
    if (kind == MetricKind::unit) return;
    const std::int64_t stride = kind == MetricKind::diagonal ? 1 : size + 1;
    inverse_.assign(static_cast<std::size_t>(kind == MetricKind::diagonal ? size : size * size), T(0));
    for (std::int64_t i = 0; i < size; ++i) inverse_[static_cast<std::size_t>(i * stride)] = T(1);
    root_ = inverse_;
}

// Returns -1, or which number of the diagonal, or which pivot, is not a positive number of type T; nothing has changed
// then. The factor is that of the rounded matrix, in double: rounding is all that T adds to it.
template <Real T>
std::int64_t Metric<T>::assign(std::span<const double> inverse) {
    std::vector<T> rounded(inverse.size());
    std::transform(inverse.begin(), inverse.end(), rounded.begin(), [](double x) { return static_cast<T>(x); });
    const std::int64_t stride = kind_ == MetricKind::dense ? size_ + 1 : 1;
    std::vector<double> root(rounded.begin(), rounded.end());
    for (std::size_t i = 0; i < root.size(); i += static_cast<std::size_t>(stride))
        if (!(root[i] > 0) || std::isinf(root[i])) return static_cast<std::int64_t>(i) / stride;
    if (kind_ == MetricKind::dense) {
        if (const std::int64_t bad = kernels::cholesky(size_, root.data(), size_); bad != 0) return bad - 1;
        for (std::int64_t i = 0; i < size_; ++i)
            std::fill(root.begin() + i * size_ + i + 1, root.begin() + (i + 1) * size_, 0.0);
    } else {
        for (double& x : root) x = std::sqrt(x);
    }
    inverse_ = std::move(rounded);
    std::transform(root.begin(), root.end(), root_.begin(), [](double x) { return static_cast<T>(x); });
    return -1;
}

template <Real T>
void Metric<T>::set_inverse(std::span<const double> inverse, const std::string& who) {
    if (inverse.size() != inverse_.size())
        throw ShapeError(who + ": inverse_metric has " + std::to_string(inverse.size()) + " numbers; a " +
                         to_string(kind_) + " metric of " + std::to_string(size_) + " dimensions has " +
                         std::to_string(inverse_.size()));
    if (kind_ != MetricKind::dense) {
        if (const std::int64_t bad = assign(inverse); bad >= 0)
            throw ValueError(who + ": inverse_metric[" + std::to_string(bad) + "] is " +
                             to_text(inverse[static_cast<std::size_t>(bad)]) + "; it must be positive");
        return;
    }
    if (const std::int64_t bad = assign(detail::symmetric(who, "inverse_metric", size_, inverse)); bad >= 0)
        throw ValueError(who + ": inverse_metric is not positive definite: pivot " + std::to_string(bad) +
                         " is not positive");
}

template <Real T>
bool Metric<T>::estimate_inverse(std::vector<double> inverse) {
    if (kind_ == MetricKind::dense) {
        const double ridge = std::sqrt(static_cast<double>(std::numeric_limits<T>::epsilon()));
        for (std::size_t i = 0; i < inverse.size(); i += static_cast<std::size_t>(size_ + 1)) inverse[i] *= 1 + ridge;
    }
    return assign(inverse) < 0;
}

template <Real T>
std::vector<double> Metric<T>::inverse() const {
    return std::vector<double>(inverse_.begin(), inverse_.end());
}

// Dense: p = L^-T z, from the last number up.
template <Real T>
void Metric<T>::draw_momentum(Random& random, std::span<T> p) const {
    random.fill_normal(p);
    const auto n = p.size();
    if (kind_ == MetricKind::diagonal)
        for (std::size_t i = 0; i < n; ++i) p[i] /= root_[i];
    if (kind_ == MetricKind::dense) {
        for (std::size_t i = n; i-- > 0;) {
            const T* row = root_.data() + i * n;
            const T x = p[i] / row[i];
            p[i] = x;
            for (std::size_t j = 0; j < i; ++j) p[j] -= row[j] * x;
        }
    }
}

// Dense: v = L z, from the last number up, which needs the ones before it alone.
template <Real T>
void Metric<T>::draw_velocity(Random& random, std::span<T> v) const {
    random.fill_normal(v);
    const auto n = v.size();
    if (kind_ == MetricKind::diagonal)
        for (std::size_t i = 0; i < n; ++i) v[i] *= root_[i];
    if (kind_ == MetricKind::dense)
        for (std::size_t i = n; i-- > 0;)
            v[i] = static_cast<T>(dot(static_cast<std::int64_t>(i + 1), root_.data() + i * n, v.data()));
}

template <Real T>
void Metric<T>::velocity(const T* p, T* v) const {
    if (kind_ == MetricKind::unit) {
        std::copy_n(p, size_, v);
    } else if (kind_ == MetricKind::diagonal) {
        for (std::int64_t i = 0; i < size_; ++i) v[i] = inverse_[static_cast<std::size_t>(i)] * p[i];
    } else {
        // The matrix is symmetric: its rows are its columns.
        std::fill_n(v, size_, T(0));
        for (std::int64_t j = 0; j < size_; ++j) {
            const T* row = inverse_.data() + j * size_;
            const T x = p[j];
            for (std::int64_t i = 0; i < size_; ++i) v[i] += row[i] * x;
        }
    }
}

template <Real T>
double Metric<T>::kinetic(const T* p, const T* v) const {
    return dot(size_, p, v) / 2;
}

// Dense: |L^-1 v|^2.
template <Real T>
double Metric<T>::squared_length(const T* v, std::span<T> scratch) const {
    std::copy_n(v, size_, scratch.data());
    if (kind_ == MetricKind::diagonal)
        for (std::size_t i = 0; i < scratch.size(); ++i) scratch[i] /= root_[i];
    if (kind_ == MetricKind::dense)
        kernels::triangular_solve(kernels::Triangle::lower, false, false, size_, 1, root_.data(), size_, scratch.data(),
                                  1);
    return dot(size_, scratch.data(), scratch.data());
}

template <Real T>
void Metric<T>::open(T kick, T step, const T* g, T* p, T* q, T* v) const {
    const std::int64_t n = size_;
    if (kind_ == MetricKind::diagonal) {
        const T* m = inverse_.data();
        for (std::int64_t i = 0; i < n; ++i) {
            const T x = p[i] - kick * g[i];
            p[i] = x;
            q[i] += step * (m[i] * x);
        }
        return;
    }
    for (std::int64_t i = 0; i < n; ++i) p[i] -= kick * g[i];
    velocity(p, v);
    for (std::int64_t i = 0; i < n; ++i) q[i] += step * v[i];
}

template <Real T>
double Metric<T>::close(T kick, const T* g, T* p, T* v) const {
    if (kind_ == MetricKind::diagonal) {
        const T* m = inverse_.data();
        for (std::int64_t i = 0; i < size_; ++i) {
            const T x = p[i] - kick * g[i];
            p[i] = x;
            v[i] = m[i] * x;
        }
    } else {
        for (std::int64_t i = 0; i < size_; ++i) p[i] -= kick * g[i];
        velocity(p, v);
    }
    return dot(size_, p, v) / 2;
}

template <Real T>
void Metric<T>::visit(StateVisitor& visitor) {
    if (kind_ == MetricKind::unit) return;
    visitor.vector("inverse_metric", inverse_);
    visitor.vector("metric_root", root_);
}

template class Metric<float>;
template class Metric<double>;

}  // namespace pollen
