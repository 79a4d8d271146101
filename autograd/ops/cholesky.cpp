#include <pollen/autograd/kernels/gemm.hpp>
#include <pollen/autograd/kernels/triangular.hpp>
#include <pollen/autograd/ops.hpp>
#include <pollen/autograd/ops/detail/matrix_stacks.hpp>

#include <atomic>
#include <cstdio>
#include <string>
#include <vector>

namespace pollen {

namespace {

// Pivot k of a matrix whose factorisation broke down there: a_kk - sum_{p<k} l_kp^2.
template <Real T>
double pivot(const T* a, std::int64_t n, std::int64_t k) {
    std::vector<double> l(static_cast<std::size_t>((k + 1) * (k + 1)));
    const auto at = [&](std::int64_t i, std::int64_t j) -> double& {
        return l[static_cast<std::size_t>(i * (k + 1) + j)];
    };
    double sum = 0;
    for (std::int64_t i = 0; i <= k; ++i)
        for (std::int64_t j = 0; j <= i; ++j) {
            sum = static_cast<double>(a[i * n + j]);
            for (std::int64_t p = 0; p < j; ++p) sum -= at(i, p) * at(j, p);
            at(i, j) = i == j ? std::sqrt(sum) : sum / at(j, j);
        }
    return sum;
}

template <Real T>
[[noreturn]] void fail(const Tensor<T>& a, std::int64_t n, std::int64_t matrix, std::int64_t k) {
    char value[32];
    std::snprintf(value, sizeof value, "%g", pivot(a.data() + matrix * n * n, n, k));
    throw DomainError("cholesky: matrix " + std::to_string(matrix) + " of a " + to_string(a.shape()) +
                      " is not positive definite: pivot " + std::to_string(k) + " is " + value);
}

// L over a copy of the lower triangle of a. Returns the pivot that is not positive (NaN is not), or -1.
template <Real T>
std::int64_t factorise(std::int64_t n, const T* a, T* l) {
    for (std::int64_t i = 0; i < n; ++i) {
        std::copy_n(a + i * n, i + 1, l + i * n);
        std::fill_n(l + i * n + i + 1, n - i - 1, T(0));
    }
    if (const std::int64_t info = kernels::cholesky(n, l, n)) return info - 1;
    for (std::int64_t i = 0; i < n; ++i)
        if (!(l[i * n + i] > T(0))) return i;
    return -1;
}

// S = L'^-1 P L^-1 with P = the lower triangle of L' G, its diagonal halved, made symmetric: for a symmetric P two
// solves with L' and a transposition between them. p and s have room for a matrix each; the result is in s, up to
// rounding symmetric.
template <Real T>
void pull_back(std::int64_t n, const T* l, const T* g, T* p, T* s) {
    for (std::int64_t i = 0; i < n; ++i) {
        std::copy_n(g + i * n, i + 1, p + i * n);
        std::fill_n(p + i * n + i + 1, n - i - 1, T(0));
    }
    kernels::gemm(true, false, n, n, n, T(0.5), l, p, T(0), s);
    for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t j = 0; j <= i; ++j) p[i * n + j] = p[j * n + i] = s[i * n + j];
    kernels::triangular_solve(kernels::Triangle::lower, true, false, n, n, l, n, p, n);
    for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t j = 0; j < n; ++j) s[i * n + j] = p[j * n + i];
    kernels::triangular_solve(kernels::Triangle::lower, true, false, n, n, l, n, s, n);
}

std::int64_t matrices_per_task(std::int64_t n) {
    const double flops = static_cast<double>(n) * static_cast<double>(n) * static_cast<double>(n);
    return std::max<std::int64_t>(1, static_cast<std::int64_t>(1.5e6 / (flops + 100)));
}

}  // namespace

// A = L L'        dL/dA += L'^-1 P L^-1        P = the lower triangle of L' dL/dL, its diagonal halved, made symmetric
//
// (I. Murray, Differentiation of the Cholesky decomposition, 2016, eq. 9 and 10)
template <Real T>
Var<T> cholesky(Var<T> a) {
    const Shape& shape = a.shape();
    if (shape.rank() < 2 || shape[shape.rank() - 1] != shape[shape.rank() - 2])
        throw ShapeError("cholesky: a " + to_string(shape) + "; the last two sizes must be equal");
    const std::int64_t n = shape[shape.rank() - 1], count = leading(shape).size();
    const auto forward = [n, count](Forward<T>& node) {
        const Tensor<T>& in = node.input(0);
        T* l = node.value();
        std::atomic<std::int64_t> bad{count};
        parallel_for(count, matrices_per_task(n), [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t k = begin; k < end; ++k) {
                if (factorise(n, in.data() + k * n * n, l + k * n * n) < 0) continue;
                std::int64_t first = bad.load();
                while (k < first && !bad.compare_exchange_weak(first, k)) {
                }
            }
        });
        if (const std::int64_t k = bad.load(); k < count)
            fail(in, n, k, factorise(n, in.data() + k * n * n, l + k * n * n));
    };
    return record("cholesky", {a}, shape, forward, [n, count](Backward<T>& b) {
        const GradientSlot<T> slot = b.slot(0);
        if (!slot) return;
        const T *l_data = b.value().data(), *g = b.grad();
        Tensor<T> room_p = b.scratch(b.value().shape()), room_s = b.scratch(b.value().shape());
        T *p_data = room_p.fresh_data(), *s_data = room_s.fresh_data();
        parallel_for(count, matrices_per_task(n), [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t k = begin; k < end; ++k) {
                const std::int64_t at = k * n * n;
                T *s = s_data + at, *da = slot.data + at;
                pull_back(n, l_data + at, g + at, p_data + at, s);
                for (std::int64_t i = 0; i < n; ++i)
                    for (std::int64_t j = 0; j < n; ++j) {
                        const T both = T(0.5) * (s[i * n + j] + s[j * n + i]);
                        da[i * n + j] = slot.fresh ? both : da[i * n + j] + both;
                    }
            }
        });
    });
}

template Var<float> cholesky(Var<float>);
template Var<double> cholesky(Var<double>);

}  // namespace pollen
