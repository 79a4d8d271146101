#include <pollen/autograd/symmetric_eigen.hpp>

#include <pollen/autograd/support/checks.hpp>
#include <pollen/autograd/support/detail/allocate.hpp>
#include <pollen/autograd/support/error.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

namespace pollen {

namespace {

using Int = std::int64_t;

// A rotation by the angle that makes a_pq zero:
//     tan t = sign(tau) / (|tau| + sqrt(1 + tau^2)),  tau = (a_qq - a_pp) / (2 a_pq)
template <class T>
struct Rotation {
    T c, s, tangent;
    Rotation(T pp, T pq, T qq) {
        const T tau = (qq - pp) / (2 * pq);
        tangent = std::copysign(T(1), tau) / (std::abs(tau) + std::sqrt(1 + tau * tau));
        c = 1 / std::sqrt(1 + tangent * tangent);
        s = tangent * c;
    }
    // Rows, or columns, x and y of n numbers each, `stride` apart: x = c x - s y, y = s x + c y
    void turn(Int n, T* x, T* y, Int stride) const {
        for (Int i = 0; i < n; ++i, x += stride, y += stride) {
            const T u = *x, v = *y;
            *x = c * u - s * v;
            *y = s * u + c * v;
        }
    }
};

// One sweep over all pairs. Returns whether any number off the diagonal was large enough to be rotated away.
template <class T>
bool sweep(Int n, T* a, T* v) {
    bool turned = false;
    for (Int p = 0; p < n; ++p)
        for (Int q = p + 1; q < n; ++q) {
            const T pp = a[p * n + p], pq = a[p * n + q], qq = a[q * n + q];
            const T least = std::numeric_limits<T>::epsilon() * std::sqrt(std::abs(pp)) * std::sqrt(std::abs(qq));
            if (std::abs(pq) <= std::max(least, std::numeric_limits<T>::min())) continue;
            turned = true;
            const Rotation<T> r(pp, pq, qq);
            r.turn(n, a + p, a + q, n);
            r.turn(n, a + p * n, a + q * n, 1);
            a[p * n + p] = pp - r.tangent * pq;
            a[q * n + q] = qq + r.tangent * pq;
            a[p * n + q] = a[q * n + p] = 0;
            r.turn(n, v + p * n, v + q * n, 1);
        }
    return turned;
}

}  // namespace

template <Real T>
SymmetricEigen<T> symmetric_eigen(const Tensor<T>& matrix) {
    const Shape& shape = matrix.shape();
    if (shape.rank() != 2 || shape[0] != shape[1])
        throw ShapeError("symmetric_eigen: a has shape " + to_string(shape) + "; a square matrix is needed");
    const Int n = shape[0];
    T largest_number = 0;
    std::vector<T> a, rows;
    for (std::vector<T>* square : {&a, &rows})
        detail::resize(*square, static_cast<std::size_t>(n * n), "symmetric_eigen");
    for (Int i = 0; i < n; ++i)
        for (Int j = 0; j <= i; ++j) {
            const T x = matrix.data()[i * n + j];
            if (!std::isfinite(x))
                throw ValueError("symmetric_eigen: a[" + std::to_string(i) + ", " + std::to_string(j) + "] is " +
                                 to_text(static_cast<double>(x)) + "; it must be finite");
            a[static_cast<std::size_t>(i * n + j)] = a[static_cast<std::size_t>(j * n + i)] = x;
            largest_number = std::max(largest_number, std::abs(x));
        }
    // The sweeps work on numbers up to 2, so that none of theirs overflows. A power of two changes no digit.
    const int exponent = largest_number > 0 ? std::ilogb(largest_number) : 0;
    for (T& x : a) x = std::ldexp(x, -exponent);
    for (Int i = 0; i < n; ++i) rows[static_cast<std::size_t>(i * n + i)] = 1;
    constexpr int most_sweeps = 60;  // about ten are enough
    for (int k = 0; k < most_sweeps && sweep(n, a.data(), rows.data()); ++k) {
    }

    std::vector<Int> order(static_cast<std::size_t>(n));
    std::iota(order.begin(), order.end(), Int{0});
    const auto value = [&](Int i) { return a[static_cast<std::size_t>(i * n + i)]; };
    std::stable_sort(order.begin(), order.end(), [&](Int i, Int j) { return value(i) < value(j); });
    SymmetricEigen<T> out{Tensor<T>::zeros({n}), Tensor<T>::zeros({n, n})};
    for (Int k = 0; k < n; ++k) {
        const Int from = order[static_cast<std::size_t>(k)];
        const T* row = rows.data() + from * n;
        const T largest = *std::max_element(row, row + n, [](T x, T y) { return std::abs(x) < std::abs(y); });
        out.values.mutable_data()[k] = std::ldexp(value(from), exponent);
        for (Int i = 0; i < n; ++i) out.vectors.mutable_data()[i * n + k] = largest < 0 ? -row[i] : row[i];
    }
    return out;
}

template SymmetricEigen<float> symmetric_eigen(const Tensor<float>&);
template SymmetricEigen<double> symmetric_eigen(const Tensor<double>&);

}  // namespace pollen
