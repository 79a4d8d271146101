#include <pollen/nn/variational/low_rank_log_q.hpp>

#include <pollen/autograd/kernels/constants.hpp>
#include <pollen/autograd/math.hpp>
#include <pollen/autograd/parallel.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace pollen {

namespace {

using Int = std::int64_t;
using Numbers = std::vector<double>;

constexpr Int grain = 4096;

std::size_t at(Int i) { return static_cast<std::size_t>(i); }

// Below -30, log(1 + exp(rho)) and its slope are exp(rho) to all digits of a double. The width that V is divided by
// stops where a gradient with respect to V would be no number of type T.
template <Real T>
struct Width {
    double log, inverse, log_slope;  // log sigma, 1 / sigma, dlog sigma/drho

    explicit Width(T value) {
        const auto rho = static_cast<double>(value);
        const double least = std::numeric_limits<T>::digits < 30 ? 1e-30 : 1e-120;
        const double sigma = math::softplus(rho);
        log = rho < -30 ? rho : math::log(sigma);
        inverse = 1 / (sigma < least ? least : sigma);
        log_slope = rho < -30 ? 1 : inverse * math::sigmoid(rho);
    }
};

template <Real T>
struct LowRankTerms {
    Int n, rank;
    const T *rho, *factors, *eps;
    Numbers c, inverse;  // C = I + A'A, then L of C = L L' in its lower triangle; C^-1
    Numbers b, y;        // A'eps - z, C^-1 b
    double log_sigmas = 0, squares = 0, log_det = 0;

    LowRankTerms(const Tensor<T>& r, const Tensor<T>& v, const Tensor<T>& noise)
        : n(r.size()), rank(v.shape()[0]), rho(r.data()), factors(v.data()), eps(noise.data()) {
        sum();
        factorise();
        invert();
    }

    // Row i of A, and what V was multiplied by. A width below 1e-7 of the factors counts as that much: a few such rows
    // would hide all others in the digits of C.
    double row(Int i, double inverse_sigma, Numbers& a) const {
        double most = 0;
        for (Int k = 0; k < rank; ++k) {
            a[at(k)] = static_cast<double>(factors[k * n + i]);
            most = std::max(most, std::abs(a[at(k)]));
        }
        const double by = most * inverse_sigma > 1e7 ? 1e7 / most : inverse_sigma;
        for (double& x : a) x *= by;
        return by;
    }

    // The parts of all stretches are added in their order.
    void sum() {
        const Int parts = (n + grain - 1) / grain, width = rank * rank + rank + 2;
        Numbers sums(at(parts * width));
        parallel_for(n, grain, [&](Int begin, Int end) {
            Numbers a(at(rank));
            double* s = sums.data() + begin / grain * width;
            double *to_c = s + 2, *to_b = to_c + rank * rank;
            for (Int i = begin; i < end; ++i) {
                const Width<T> sigma(rho[i]);
                const auto e = static_cast<double>(eps[i]);
                s[0] += sigma.log;
                s[1] += e * e;
                row(i, sigma.inverse, a);
                for (Int k = 0; k < rank; ++k) {
                    to_b[k] += a[at(k)] * e;
                    for (Int l = 0; l <= k; ++l) to_c[k * rank + l] += a[at(k)] * a[at(l)];
                }
            }
        });
        Numbers all(at(width));
        for (Int p = 0; p < parts; ++p)
            for (Int j = 0; j < width; ++j) all[at(j)] += sums[at(p * width + j)];
        log_sigmas = all[0];
        squares = all[1];
        c.assign(all.begin() + 2, all.end() - rank);
        b.assign(all.end() - rank, all.end());
        for (Int k = 0; k < rank; ++k) {
            const auto z = static_cast<double>(eps[n + k]);
            c[at(k * rank + k)] += 1;
            b[at(k)] -= z;
            squares += z * z;
        }
    }

    // No pivot of I + A'A is less than 1, whatever rounding says.
    void factorise() {
        for (Int i = 0; i < rank; ++i)
            for (Int j = 0; j <= i; ++j) {
                double s = c[at(i * rank + j)];
                for (Int p = 0; p < j; ++p) s -= c[at(i * rank + p)] * c[at(j * rank + p)];
                c[at(i * rank + j)] = i == j ? std::sqrt(std::max(1.0, s)) : s / c[at(j * rank + j)];
            }
        for (Int i = 0; i < rank; ++i) log_det += 2 * math::log(c[at(i * rank + i)]);
    }

    void invert() {
        inverse.resize(at(rank * rank));
        Numbers x(at(rank));
        for (Int column = 0; column < rank; ++column) {
            for (Int i = 0; i < rank; ++i) {
                double s = i == column ? 1 : 0;
                for (Int p = 0; p < i; ++p) s -= c[at(i * rank + p)] * x[at(p)];
                x[at(i)] = s / c[at(i * rank + i)];
            }
            for (Int i = rank - 1; i >= 0; --i) {
                double s = x[at(i)];
                for (Int p = i + 1; p < rank; ++p) s -= c[at(p * rank + i)] * x[at(p)];
                x[at(i)] = s / c[at(i * rank + i)];
            }
            for (Int i = 0; i < rank; ++i) inverse[at(i * rank + column)] = x[at(i)];
        }
        y.resize(at(rank));
        for (Int i = 0; i < rank; ++i)
            for (Int j = 0; j < rank; ++j) y[at(i)] += inverse[at(i * rank + j)] * b[at(j)];
    }

    double log_q() const {
        double explained = 0;
        for (Int k = 0; k < rank; ++k) explained += b[at(k)] * y[at(k)];
        return -0.5 * (squares - explained + log_det) - log_sigmas - static_cast<double>(n) * kernels::log_sqrt_2pi;
    }

    // With a the row i of A, r = eps_i - a'y and h = C^-1 a:
    //     dlog q/dlog sigma_i = -(1 + r (eps_i - r) - a'h)        dlog q/dV_i = (r y - h) / sigma_i
    void pass_back(double g, T* to_rho, T* to_factors) const {
        parallel_for(n, grain, [&](Int begin, Int end) {
            Numbers a(at(rank)), h(at(rank));
            for (Int i = begin; i < end; ++i) {
                const Width<T> sigma(rho[i]);
                const double by = row(i, sigma.inverse, a);
                const auto e = static_cast<double>(eps[i]);
                double r = e, ah = 0;
                for (Int k = 0; k < rank; ++k) {
                    r -= a[at(k)] * y[at(k)];
                    h[at(k)] = 0;
                    for (Int l = 0; l < rank; ++l) h[at(k)] += inverse[at(k * rank + l)] * a[at(l)];
                    ah += a[at(k)] * h[at(k)];
                }
                if (to_rho) to_rho[i] += static_cast<T>(-g * (1 + r * (e - r) - ah) * sigma.log_slope);
                for (Int k = 0; to_factors && k < rank; ++k)
                    to_factors[k * n + i] += static_cast<T>(g * (r * y[at(k)] - h[at(k)]) * by);
            }
        });
    }
};

}  // namespace

// With D = diag(sigma^2), A = D^-1/2 V, C = I + A'A and w - mu = D^1/2 (eps + A z),
//
//     log det(D + V V') = log det D + log det C
//     (w - mu)'(D + V V')^-1 (w - mu) = eps'eps + z'z - b'C^-1 b,  b = A'eps - z
//
// where no term is much larger than the result, however small sigma is against V.
template <Real T>
Var<T> low_rank_log_q(Var<T> rho, Var<T> factors, Var<T> noise, bool value) {
    const auto forward = [value](Forward<T>& node) {
        node.value()[0] = value ? static_cast<T>(LowRankTerms<T>(node.input(0), node.input(1), node.input(2)).log_q())
                                : std::numeric_limits<T>::quiet_NaN();
    };
    return record("low_rank_log_q", {rho, factors, noise}, Shape{}, forward, [](Backward<T>& b) {
        const LowRankTerms<T> terms(b.input(0), b.input(1), b.input(2));
        terms.pass_back(static_cast<double>(b.grad()[0]), b.accumulate(0), b.accumulate(1));
    });
}

template Var<float> low_rank_log_q(Var<float>, Var<float>, Var<float>, bool);
template Var<double> low_rank_log_q(Var<double>, Var<double>, Var<double>, bool);

}  // namespace pollen
