#include <pollen/nn/distributions/detail/incomplete.hpp>

#include <pollen/autograd/math.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace pollen::kernels {

namespace {

constexpr double eps = std::numeric_limits<double>::epsilon();
constexpr double stirling_from = 10;
constexpr int most_terms = 100'000'000;

// lgamma(x) - ((x - 1/2) log x - x + log(2 pi) / 2) for x >= stirling_from
double stirling_rest(double x) {
    const double w = 1 / x, z = w * w;
    return w *
           (1.0 / 12 - z * (1.0 / 360 - z * (1.0 / 1260 - z * (1.0 / 1680 - z * (1.0 / 1188 - z * 691.0 / 360360)))));
}

// x^a exp(-x) / Gamma(a + 1)
double gamma_term(double a, double x) {
    if (a < stirling_from) return math::exp(a * math::log(x) - x - math::lgamma(a + 1));
    const double t = (x - a) / a, log_ratio = std::abs(t) < 0.5 ? math::log1p(t) : math::log(x / a);
    return math::exp(-a * (t - log_ratio) - stirling_rest(a)) / std::sqrt(2 * std::numbers::pi * a);
}

// A number and its derivative with respect to a.
struct Dual {
    double value, slope;
};

// sum_n x^n / ((a + 1) ... (a + n)), all terms positive: P = gamma_term(a, x) times this
Dual gamma_series(double a, double x) {
    Dual sum{1, 0};
    double term = 1, harmonic = 0;
    for (int n = 1; n < most_terms && term > eps * sum.value / 8; ++n) {
        term *= x / (a + n);
        harmonic += 1 / (a + n);
        sum.value += term;
        sum.slope -= term * harmonic;
    }
    return sum;
}

// 1 / (x + 1 - a - 1 (1 - a) / (x + 3 - a - 2 (2 - a) / (x + 5 - a - ...))) by Lentz's method: Q = a gamma_term(a, x)
// times this
Dual gamma_fraction(double a, double x) {
    Dual b{x + 1 - a, -1};
    Dual d{1 / b.value, 1 / (b.value * b.value)}, h = d, c{1e300, 0};
    for (int i = 1; i < most_terms; ++i) {
        const Dual an{-i * (i - a), static_cast<double>(i)};
        b.value += 2;
        const double d_new = 1 / (an.value * d.value + b.value);
        d = {d_new, -d_new * d_new * (an.slope * d.value + an.value * d.slope + b.slope)};
        c = {b.value + an.value / c.value, b.slope + (an.slope - an.value * c.slope / c.value) / c.value};
        const Dual ratio{c.value * d.value, c.slope * d.value + c.value * d.slope};
        h = {h.value * ratio.value, h.slope * ratio.value + h.value * ratio.slope};
        if (std::abs(ratio.value - 1) <= eps && std::abs(ratio.slope * h.value) <= eps * std::abs(h.slope)) break;
    }
    return h;
}

// log B(a, b)
double log_beta(double a, double b) {
    const double lo = std::min(a, b), hi = std::max(a, b);
    if (hi < stirling_from) return math::lgamma(a) + math::lgamma(b) - math::lgamma(a + b);
    return math::lgamma(lo) - ((hi - 0.5) * math::log1p(lo / hi) + lo * math::log(lo + hi) - lo +
                               stirling_rest(lo + hi) - stirling_rest(hi));
}

// x^a y^b / B(a, b)
double beta_term(double a, double b, double x, double y) {
    if (std::min(a, b) < stirling_from) {
        const double log_x = y < 0.5 ? math::log1p(-y) : math::log(x), log_y = x < 0.5 ? math::log1p(-x) : math::log(y);
        return math::exp(a * log_x + b * log_y - log_beta(a, b));
    }
    const double ta = (x * b - y * a) / a, tb = (y * a - x * b) / b, n = a + b;
    const double la = std::abs(ta) < 0.5 ? math::log1p(ta) : math::log(x * n / a);
    const double lb = std::abs(tb) < 0.5 ? math::log1p(tb) : math::log(y * n / b);
    return math::exp(a * la + b * lb + stirling_rest(n) - stirling_rest(a) - stirling_rest(b)) *
           std::sqrt(a / n * b / (2 * std::numbers::pi));
}

// The continued fraction of I_x(a, b) (Abramowitz and Stegun 26.5.8) by Lentz's method; x < (a + 1) / (a + b + 2)
double beta_fraction(double a, double b, double x) {
    constexpr double tiny = 1e-300;
    const auto kept = [](double v) { return std::abs(v) < tiny ? tiny : v; };
    double c = 1, d = 1 / kept(1 - (a + b) * x / (a + 1)), h = d;
    for (int m = 1; m < most_terms; ++m) {
        const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        d = 1 / kept(1 + even * d);
        c = kept(1 + even / c);
        h *= d * c;
        const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        d = 1 / kept(1 + odd * d);
        c = kept(1 + odd / c);
        h *= d * c;
        if (std::abs(d * c - 1) <= eps) break;
    }
    return h;
}

}  // namespace

double gamma_p(double a, double x) {
    if (std::isnan(a + x)) return a + x;
    if (x <= 0) return 0;
    if (std::isinf(x)) return 1;
    if (x < a + 1) return gamma_term(a, x) * gamma_series(a, x).value;
    return 1 - a * gamma_term(a, x) * gamma_fraction(a, x).value;
}

double gamma_q(double a, double x) {
    if (std::isnan(a + x)) return a + x;
    if (x <= 0) return 1;
    if (std::isinf(x)) return 0;
    if (x < a + 1) return 1 - gamma_term(a, x) * gamma_series(a, x).value;
    return a * gamma_term(a, x) * gamma_fraction(a, x).value;
}

double beta_p(double a, double b, double x, double y) {
    if (std::isnan(a + b + x)) return a + b + x;
    if (x <= 0) return 0;
    if (y <= 0) return 1;
    if (x < (a + 1) / (a + b + 2)) return beta_term(a, b, x, y) * beta_fraction(a, b, x) / a;
    return 1 - beta_term(a, b, x, y) * beta_fraction(b, a, y) / b;
}

// With the exponential factor common to P and p divided out:
//     x < a + 1    dlog x/da = -((log x - digamma(a + 1)) S + dS/da) / a        P = x p(x) / a S
//     else         dlog x/da = (log x - digamma(a)) h + dh/da                   Q = x p(x) h
// In both all terms have the same sign. For large a the draw is x = a + z sqrt(a) + (z^2 - 1) / 3 + ... with z fixed.
double log_gamma_slope(double a, double log_x) {
    const double x = math::exp(log_x);
    if (a > 1e7) {
        const double root = std::sqrt(a), z0 = (x - a) / root, z = z0 - (z0 * z0 - 1) / (3 * root);
        return (1 + z / (2 * root) - (z * z - 7) * z / (72 * a * root)) / x;
    }
    if (x < a + 1) {
        const Dual s = gamma_series(a, x);
        return -((log_x - math::digamma(a + 1)) * s.value + s.slope) / a;
    }
    const Dual h = gamma_fraction(a, x);
    return (log_x - math::digamma(a)) * h.value + h.slope;
}

}  // namespace pollen::kernels
