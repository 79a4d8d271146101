#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

// Small dense matrices in double, for the laws that tests compare with.
namespace pollen::test {

using Matrix = std::vector<std::vector<double>>;

inline Matrix matrix(std::size_t n, double diagonal = 0) {
    Matrix m(n, std::vector<double>(n));
    for (std::size_t i = 0; i < n; ++i) m[i][i] = diagonal;
    return m;
}

// x A B', and x A
inline Matrix times_transposed(const Matrix& a, const Matrix& b, double x = 1) {
    Matrix c = matrix(a.size());
    for (std::size_t i = 0; i < a.size(); ++i)
        for (std::size_t j = 0; j < a.size(); ++j)
            for (std::size_t k = 0; k < a.size(); ++k) c[i][j] += x * a[i][k] * b[j][k];
    return c;
}
inline Matrix transposed(const Matrix& a) {
    Matrix c = a;
    for (std::size_t i = 0; i < a.size(); ++i)
        for (std::size_t j = 0; j < a.size(); ++j) c[i][j] = a[j][i];
    return c;
}
inline Matrix times(const Matrix& a, const Matrix& b) { return times_transposed(a, transposed(b)); }
inline Matrix sum(const Matrix& a, const Matrix& b, double x = 1) {
    Matrix c = a;
    for (std::size_t i = 0; i < a.size(); ++i)
        for (std::size_t j = 0; j < a.size(); ++j) c[i][j] += x * b[i][j];
    return c;
}

// x A^-1, by Gauss and Jordan, for a positive definite A.
inline Matrix inverse(Matrix a, double x = 1) {
    Matrix b = matrix(a.size(), x);
    for (std::size_t p = 0; p < a.size(); ++p) {
        const double pivot = a[p][p];
        for (std::size_t j = 0; j < a.size(); ++j) {
            a[p][j] /= pivot;
            b[p][j] /= pivot;
        }
        for (std::size_t i = 0; i < a.size(); ++i) {
            const double factor = a[i][p];
            if (i == p) continue;
            for (std::size_t j = 0; j < a.size(); ++j) {
                a[i][j] -= factor * a[p][j];
                b[i][j] -= factor * b[p][j];
            }
        }
    }
    return b;
}

// P = A P A' + Q = Q + A Q A' + A^2 Q A'^2 + ...; each turn doubles the number of terms.
inline Matrix lyapunov(Matrix a, Matrix q) {
    for (int turn = 0; turn < 40; ++turn) {
        q = sum(q, times_transposed(times(a, q), a));
        a = times(a, a);
    }
    return q;
}

}  // namespace pollen::test
