#include <pollen/autograd/kernels/erf.hpp>
#include <pollen/autograd/kernels/lgamma.hpp>
#include <pollen/autograd/kernels/pow.hpp>
#include <pollen/autograd/math.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace pollen::math {

namespace {

using kernels::Batch;
using kernels::Pair;

// a + b exactly
struct Sum {
    double value, rest;
    Sum(double a, double b) : value(a + b) {
        const double from_b = value - a;
        rest = (a - (value - from_b)) + (b - from_b);
    }
};

// log(x) times `factor`, which is 1 / log(base) in two parts. x > 0 and finite.
double scaled_log(double x, double factor, double factor_low) {
    const Pair<double> log = kernels::extended_log(Batch<double>(x));
    const double high = log.high.get(0), low = log.low.get(0), product = high * factor;
    return product + (std::fma(high, factor, -product) + (high * factor_low + low * factor));
}

double log_to_base(double x, double factor, double factor_low) {
    const bool plain = x > 0 && x < std::numeric_limits<double>::infinity();
    return plain ? scaled_log(x, factor, factor_low) : math::log(x);
}

// 2^x = exp(x log 2)
double exp2_of(double x) {
    constexpr double log_2 = 0x1.62e42fefa39efp-1, log_2_low = 0x1.abc9e3b39803fp-56;
    const double v = std::clamp(x, -1100.0, 1100.0), high = v * log_2;
    const double low = std::fma(v, log_2_low, std::fma(v, log_2, -high));
    return kernels::exp(Batch<double>(high), Batch<double>(low)).get(0);
}

// exp(a) / 2 for a >= 1. The difference is exact.
double half_exp(double a) {
    using Log2 = kernels::Log2<double>;
    return kernels::exp(Batch<double>(a - Log2::high), Batch<double>(-Log2::low)).get(0);
}

constexpr double only_exp = 20;  // from here on exp(-a) is nothing beside exp(a)

// sinh|x| = (e + e / (e + 1)) / 2 with e = exp|x| - 1
double sinh_of(double x) {
    const double a = std::abs(x);
    if (a > only_exp) return std::copysign(half_exp(a), x);
    const double e = math::expm1(a);
    return std::copysign(0.5 * (e + e / (e + 1)), x);
}

double cosh_of(double x) {
    const double a = std::abs(x);
    if (a > only_exp) return half_exp(a);
    const double e = math::exp(a);
    return 0.5 * (e + 1 / e);
}

// erfc(x) = 2 exp(-x^2) m(sqrt(2) x) with m of kernels/erf.hpp; x^2 is needed to more digits than a double has.
double erfc_of(double x) {
    if (x < 0.47) return 1 - math::erf(x);
    const double v = std::min(28.0, x), high = v * v, low = std::fma(v, v, -high);
    const double ratio = kernels::mills_ratio(Batch<double>(1.41421356237309504880 * v)).get(0);
    return std::isnan(x) ? x : kernels::exp(Batch<double>(-high), Batch<double>(-low)).get(0) * (2 * ratio);
}

// (atan(t) - t) / t^3 in powers of t^2, |t| < 0.41425: the interpolation at the Chebyshev points
constexpr double atan_series[] = {-0x1.5555555555555p-2, 0x1.9999999999953p-3,  -0x1.249249248d7cep-3,
                                  0x1.c71c71c303356p-4,  -0x1.745d165da91ffp-4, 0x1.3b1392d173949p-4,
                                  -0x1.110e8772ab5dfp-4, 0x1.e19a06174e7cep-5,  -0x1.ac7a2f207b2a9p-5,
                                  0x1.74dc0a03cb392p-5,  -0x1.1b2f1f4ea25c5p-5, 0x1.0ac937e0f1a27p-6};

// The angle of the point (d, n) with n, d >= 0, or of (-d, n) if `mirrored`. Of 0, pi/4 and pi/2 the nearest is taken
// off, and what remains is atan(t) with
//     t = n / d        t = (n - d) / (n + d)        t = -d / n
double angle(double n, double d, bool mirrored) {
    constexpr double pi = 0x1.921fb54442d18p+1, pi_low = 0x1.1a62633145c07p-53;
    constexpr double three_quarters = 0x1.2d97c7f3321d2p+1, three_quarters_low = 0x1.a79394c9e8a0ap-54;
    constexpr double part = 0.4142;  // tan(pi/8)
    double base = mirrored ? pi : 0, base_low = mirrored ? pi_low : 0;
    Sum top(n, 0), bottom(d, 0);
    if (d < part * n) {
        base = pi / 2, base_low = pi_low / 2;
        top = Sum(-d, 0), bottom = Sum(n, 0);
    } else if (n > part * d) {
        base = mirrored ? three_quarters : pi / 4, base_low = mirrored ? three_quarters_low : pi_low / 4;
        top = Sum(n, -d), bottom = Sum(n, d);
    }
    const double t = top.value / bottom.value;
    const double t_low = (std::fma(-t, bottom.value, top.value) + (top.rest - t * bottom.rest)) / bottom.value;
    const double z = t * t, bent = t * z * kernels::polynomial(Batch<double>(z), atan_series).get(0) + t_low;
    return mirrored ? base - (t + (bent - base_low)) : base + (t + (bent + base_low));
}

double atan2_of(double y, double x) {
    if (std::isnan(x) || std::isnan(y)) return x + y;
    double n = std::abs(y), d = std::abs(x);
    if (std::isinf(n) || std::isinf(d)) {
        n = std::isinf(n) ? 1 : 0;
        d = std::isinf(d) ? 1 : 0;
    } else if (n == 0 && d == 0) {
        d = 1;
    }
    const int exponent = std::ilogb(std::max(n, d));  // so that nothing overflows
    return std::copysign(angle(std::ldexp(n, -exponent), std::ldexp(d, -exponent), std::signbit(x)), y);
}

// The square root of a sum that is known to twice the digits, by one Newton step.
double hypot_of(double x, double y) {
    if (std::isinf(x) || std::isinf(y)) return std::numeric_limits<double>::infinity();
    if (std::isnan(x) || std::isnan(y)) return x + y;
    const double most = std::max(std::abs(x), std::abs(y));
    if (most == 0) return 0;
    const int exponent = std::ilogb(most);
    const double a = std::ldexp(x, -exponent), b = std::ldexp(y, -exponent), aa = a * a, bb = b * b;
    const Sum sum(aa, bb);
    const double low = sum.rest + (std::fma(a, a, -aa) + std::fma(b, b, -bb)), root = std::sqrt(sum.value);
    return std::ldexp(root + (std::fma(-root, root, sum.value) + low) / (2 * root), exponent);
}

}  // namespace

// Of a kernel, one lane.
#define POLLEN_OF_KERNEL(name, formula)  \
    template <Real T>                    \
    T name(T x) {                        \
        const Batch<T> v(x);             \
        return Batch<T>(formula).get(0); \
    }

POLLEN_OF_KERNEL(exp, kernels::exp(v))
POLLEN_OF_KERNEL(expm1, kernels::expm1(v))
POLLEN_OF_KERNEL(log, kernels::log(v))
POLLEN_OF_KERNEL(log1p, kernels::log1p(v))
POLLEN_OF_KERNEL(sin, kernels::sin(v))
POLLEN_OF_KERNEL(cos, kernels::cos(v))
POLLEN_OF_KERNEL(tanh, kernels::tanh(v))
POLLEN_OF_KERNEL(erf, kernels::erf(v))
POLLEN_OF_KERNEL(lgamma, kernels::lgamma(v))
POLLEN_OF_KERNEL(digamma, kernels::digamma(v))
POLLEN_OF_KERNEL(sigmoid, kernels::sigmoid(v))
POLLEN_OF_KERNEL(softplus, xsimd::select(v > Batch<T>(T(0)), v, Batch<T>(T(0))) + kernels::log1p_exp_minus_abs(v))

template <Real T>
T pow(T x, std::type_identity_t<T> y) {
    return kernels::pow(Batch<T>(x), Batch<T>(y)).get(0);
}

// What has no kernel is computed in double; a float is a double, rounded.
#define POLLEN_IN_DOUBLE(name, formula) \
    template <Real T>                   \
    T name(T of) {                      \
        const double x{of};             \
        return static_cast<T>(formula); \
    }

POLLEN_IN_DOUBLE(exp2, exp2_of(x))
POLLEN_IN_DOUBLE(log2, log_to_base(x, 0x1.71547652b82fep+0, 0x1.777d0ffda0d24p-56))
POLLEN_IN_DOUBLE(log10, log_to_base(x, 0x1.bcb7b1526e50ep-2, 0x1.95355baaafad3p-57))
POLLEN_IN_DOUBLE(sinh, sinh_of(x))
POLLEN_IN_DOUBLE(cosh, cosh_of(x))
POLLEN_IN_DOUBLE(atan, atan2_of(x, 1))
POLLEN_IN_DOUBLE(erfc, erfc_of(x))

template <Real T>
T atan2(T y, std::type_identity_t<T> x) {
    return static_cast<T>(atan2_of(y, x));
}

template <Real T>
T hypot(T x, std::type_identity_t<T> y) {
    return static_cast<T>(hypot_of(x, y));
}

#define POLLEN_ONE(name)        \
    template float name(float); \
    template double name(double);
#define POLLEN_TWO(name)               \
    template float name(float, float); \
    template double name(double, double);

POLLEN_ONE(exp)
POLLEN_ONE(exp2)
POLLEN_ONE(expm1)
POLLEN_ONE(log)
POLLEN_ONE(log1p)
POLLEN_ONE(log2)
POLLEN_ONE(log10)
POLLEN_TWO(pow)
POLLEN_ONE(sin)
POLLEN_ONE(cos)
POLLEN_ONE(atan)
POLLEN_TWO(atan2)
POLLEN_ONE(sinh)
POLLEN_ONE(cosh)
POLLEN_ONE(tanh)
POLLEN_ONE(erf)
POLLEN_ONE(erfc)
POLLEN_ONE(lgamma)
POLLEN_ONE(digamma)
POLLEN_TWO(hypot)
POLLEN_ONE(sigmoid)
POLLEN_ONE(softplus)

}  // namespace pollen::math
