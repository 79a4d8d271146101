#include <pollen/nn/distributions/transform.hpp>

#include <pollen/autograd/math.hpp>
#include <pollen/autograd/support/checks.hpp>

#include <cmath>

namespace pollen {

namespace {

template <Real T>
[[noreturn]] void refuse(const char* transform, T x, std::int64_t i, const std::string& needed) {
    throw ValueError(std::string(transform) + ": x is " + to_text(static_cast<double>(x)) + " at element " +
                     std::to_string(i) + "; it must be " + needed);
}

// f on every element for which fine(x) holds; the others are refused.
template <Real T, class Fine, class F>
Tensor<T> inverse(const char* transform, const Tensor<T>& x, const std::string& needed, const Fine& fine, const F& f) {
    Tensor<T> y = Tensor<T>::empty(x.shape());
    for (std::int64_t i = 0; i < x.size(); ++i) {
        const double at = static_cast<double>(x.data()[i]);
        if (!(fine(at) && std::isfinite(at))) refuse(transform, x.data()[i], i, needed);
        y.fresh_data()[i] = static_cast<T>(f(at));
    }
    return y;
}

std::int64_t last_axis(const char* transform, const Shape& shape, std::int64_t least) {
    if (shape.rank() == 0 || shape[shape.rank() - 1] < least)
        throw ShapeError(std::string(transform) + ": shape " + to_string(shape) + "; a last axis of at least " +
                         std::to_string(least) + " is needed");
    return shape[shape.rank() - 1];
}

void check_finite(const char* transform, const char* what, double bound) {
    if (!std::isfinite(bound))
        throw ValueError(std::string(transform) + ": " + what + " is " + to_text(bound) + "; it must be finite");
}

}  // namespace

// log dx/dy = y
template <Real T>
Constrained<T> Positive<T>::constrain(Var<T> y) const {
    return {exp(y), sum(y)};
}

template <Real T>
Tensor<T> Positive<T>::unconstrain(const Tensor<T>& x) const {
    return inverse(
        "Positive", x, "positive", [](double at) { return at > 0; }, [](double at) { return math::log(at); });
}

template <Real T>
LowerBound<T>::LowerBound(Number<T> low) : low_(low) {
    check_finite("LowerBound", "low", static_cast<double>(low));
}

template <Real T>
Constrained<T> LowerBound<T>::constrain(Var<T> y) const {
    return {exp(y) + low_, sum(y)};
}

template <Real T>
Tensor<T> LowerBound<T>::unconstrain(const Tensor<T>& x) const {
    const double low = static_cast<double>(low_);
    return inverse(
        "LowerBound", x, "above " + to_text(low), [low](double at) { return at > low; },
        [low](double at) { return math::log(at - low); });
}

template <Real T>
UpperBound<T>::UpperBound(Number<T> high) : high_(high) {
    check_finite("UpperBound", "high", static_cast<double>(high));
}

template <Real T>
Constrained<T> UpperBound<T>::constrain(Var<T> y) const {
    return {high_ - exp(y), sum(y)};
}

template <Real T>
Tensor<T> UpperBound<T>::unconstrain(const Tensor<T>& x) const {
    const double high = static_cast<double>(high_);
    return inverse(
        "UpperBound", x, "below " + to_text(high), [high](double at) { return at < high; },
        [high](double at) { return math::log(high - at); });
}

template <Real T>
Interval<T>::Interval(Number<T> low, Number<T> high) : low_(low), high_(high) {
    if (!(low < high && std::isfinite(high - low)))
        throw ValueError("Interval: from " + to_text(static_cast<double>(low)) + " to " +
                         to_text(static_cast<double>(high)) + "; the first must be below the second, and both finite");
}

// log dx/dy = log(high - low) - log(1 + exp(-y)) - log(1 + exp(y))
template <Real T>
Constrained<T> Interval<T>::constrain(Var<T> y) const {
    const T width = high_ - low_, constant = static_cast<T>(y.size()) * math::log(width);
    const Var<T> x = sigmoid(y) * width + low_, a = log_sigmoid(y), b = log_sigmoid(-y);
    return {x, sum(a + b) + constant};
}

template <Real T>
Tensor<T> Interval<T>::unconstrain(const Tensor<T>& x) const {
    const double low = static_cast<double>(low_), high = static_cast<double>(high_);
    return inverse(
        "Interval", x, "between " + to_text(low) + " and " + to_text(high),
        [=](double at) { return at > low && at < high; },
        [=](double at) { return math::log((at - low) / (high - at)); });
}

// log |det dx/dy| = y_1 + ... + y_{K-1}
template <Real T>
Constrained<T> Ordered<T>::constrain(Var<T> y) const {
    const std::int64_t k = last_axis("Ordered", y.shape(), 1);
    const Var<T> first = slice(y, -1, 0, 1), steps = slice(y, -1, 1, k);
    return {cumsum(concat({first, exp(steps)}, -1), -1), sum(steps)};
}

template <Real T>
Tensor<T> Ordered<T>::unconstrain(const Tensor<T>& x) const {
    const std::int64_t k = last_axis("Ordered", x.shape(), 1);
    Tensor<T> y = Tensor<T>::empty(x.shape());
    for (std::int64_t i = 0; i < x.size(); ++i) {
        const T at = x.data()[i];
        if (!std::isfinite(at)) refuse("Ordered", at, i, "finite");
        if (i % k > 0 && !(at > x.data()[i - 1]))
            refuse("Ordered", at, i, "above the one before it, " + to_text(static_cast<double>(x.data()[i - 1])));
        y.fresh_data()[i] = i % k == 0 ? at : math::log(at - x.data()[i - 1]);
    }
    return y;
}

// With u_k = y_k - log(K - 1 - k), a_k = log_sigmoid(u_k) and b_k = log_sigmoid(-u_k), the logarithm of what is left
// before part k is s_k = b_0 + ... + b_{k-1}, and
//     log x_k = s_k + a_k        log x_{K-1} = s_{K-1}        log |det dx/dy| = sum_k s_k + a_k + b_k
template <Real T>
Constrained<T> Simplex<T>::constrain(Var<T> y) const {
    const std::int64_t k = last_axis("Simplex", y.shape(), 1);
    Tensor<T> offsets = Tensor<T>::empty(Shape{k});
    for (std::int64_t i = 0; i < k; ++i) offsets.fresh_data()[i] = math::log(static_cast<T>(k - i));
    const Var<T> u = y - offsets, a = log_sigmoid(u), b = log_sigmoid(-u), left = cumsum(b, -1);
    const Var<T> log_x = left - b + a;
    return {exp(concat({log_x, slice(left, -1, k - 1, k)}, -1)), sum(log_x + b)};
}

template <Real T>
Tensor<T> Simplex<T>::unconstrain(const Tensor<T>& x) const {
    const std::int64_t k = last_axis("Simplex", x.shape(), 2), rows = x.size() / k;
    std::array<std::int64_t, max_rank> sizes{};
    std::copy(x.shape().sizes().begin(), x.shape().sizes().end(), sizes.begin());
    sizes[x.shape().sizes().size() - 1] = k - 1;
    Tensor<T> y = Tensor<T>::empty(Shape(std::span<const std::int64_t>(sizes).first(x.shape().sizes().size())));
    for (std::int64_t r = 0; r < rows; ++r) {
        const T* row = x.data() + r * k;
        double rest = 0;
        for (std::int64_t i = k - 1; i >= 0; --i) {
            const double at = static_cast<double>(row[i]);
            if (!(at > 0 && at < 1)) refuse("Simplex", row[i], r * k + i, "between 0 and 1");
            if (i < k - 1)
                y.fresh_data()[r * (k - 1) + i] =
                    static_cast<T>(math::log(at / rest) + math::log(static_cast<double>(k - 1 - i)));
            rest += at;
        }
        if (std::abs(rest - 1) > 1e-5)
            throw ValueError("Simplex: row " + std::to_string(r) + " of x sums to " + to_text(rest) + "; it must be 1");
    }
    return y;
}

template class Positive<float>;
template class Positive<double>;
template class LowerBound<float>;
template class LowerBound<double>;
template class UpperBound<float>;
template class UpperBound<double>;
template class Interval<float>;
template class Interval<double>;
template class Ordered<float>;
template class Ordered<double>;
template class Simplex<float>;
template class Simplex<double>;

}  // namespace pollen
