#include <pollen/autograd/math.hpp>
#include <pollen/samplers/diagnostics/detail/draws_math.hpp>

#include <array>
#include <cmath>

namespace pollen::detail {

namespace {

double polynomial(const std::array<double, 8>& c, double x) {
    double y = c[7];
    for (std::size_t k = 7; k-- > 0;) y = y * x + c[k];
    return y;
}

double ratio(const std::array<double, 8>& over, const std::array<double, 8>& under, double x) {
    return polynomial(over, x) / polynomial(under, x);
}

}  // namespace

// Wichura, Algorithm AS 241: the percentage points of the normal distribution (1988), routine PPND16.
double normal_quantile(double p) {
    static constexpr std::array<double, 8> middle_over{
        3.3871328727963666080e0,  1.3314166789178437745e+2, 1.9715909503065514427e+3, 1.3731693765509461125e+4,
        4.5921953931549871457e+4, 6.7265770927008700853e+4, 3.3430575583588128105e+4, 2.5090809287301226727e+3};
    static constexpr std::array<double, 8> middle_under{1.0,
                                                        4.2313330701600911252e+1,
                                                        6.8718700749205790830e+2,
                                                        5.3941960214247511077e+3,
                                                        2.1213794301586595867e+4,
                                                        3.9307895800092710610e+4,
                                                        2.8729085735721942674e+4,
                                                        5.2264952788528545610e+3};
    static constexpr std::array<double, 8> outer_over{
        1.42343711074968357734e0, 4.63033784615654529590e0,  5.76949722146069140550e0,  3.64784832476320460504e0,
        1.27045825245236838258e0, 2.41780725177450611770e-1, 2.27238449892691845833e-2, 7.74545014278341407640e-4};
    static constexpr std::array<double, 8> outer_under{1.0,
                                                       2.05319162663775882187e0,
                                                       1.67638483018380384940e0,
                                                       6.89767334985100004550e-1,
                                                       1.48103976427480074590e-1,
                                                       1.51986665636164571966e-2,
                                                       5.47593808499534494600e-4,
                                                       1.05075007164441684324e-9};
    static constexpr std::array<double, 8> far_over{
        6.65790464350110377720e0,  5.46378491116411436990e0,  1.78482653991729133580e0,  2.96560571828504891230e-1,
        2.65321895265761230930e-2, 1.24266094738807843860e-3, 2.71155556874348757815e-5, 2.01033439929228813265e-7};
    static constexpr std::array<double, 8> far_under{1.0,
                                                     5.99832206555887937690e-1,
                                                     1.36929880922735805310e-1,
                                                     1.48753612908506148525e-2,
                                                     7.86869131145613259100e-4,
                                                     1.84631831751005468180e-5,
                                                     1.42151175831644588870e-7,
                                                     2.04426310338993978564e-15};
    const double q = p - 0.5;
    if (std::abs(q) <= 0.425) return q * ratio(middle_over, middle_under, 0.180625 - q * q);
    const double r = std::sqrt(-math::log(q < 0 ? p : 1 - p));
    const double z = r <= 5 ? ratio(outer_over, outer_under, r - 1.6) : ratio(far_over, far_under, r - 5);
    return q < 0 ? -z : z;
}

namespace {

// I_x(a, b) = x^a (1-x)^b / (a B(a, b)) * 1 / (1 + d_1 / (1 + d_2 / ...)) by Lentz's method, quick for x below the
// mean.
double beta_continued_fraction(double x, double a, double b) {
    constexpr double tiny = 1e-300;
    double c = 1, d = 1 - (a + b) * x / (a + 1);
    d = 1 / (std::abs(d) < tiny ? tiny : d);
    double f = d;
    for (int k = 1; k < 100000; ++k) {
        const double m = k, two = 2 * m;
        for (const double term : {m * (b - m) * x / ((a + two - 1) * (a + two)),
                                  -(a + m) * (a + b + m) * x / ((a + two) * (a + two + 1))}) {
            d = 1 + term * d;
            c = 1 + term / c;
            d = 1 / (std::abs(d) < tiny ? tiny : d);
            if (std::abs(c) < tiny) c = tiny;
            f *= d * c;
        }
        if (std::abs(d * c - 1) < 1e-16) break;
    }
    return f;
}

struct BetaPoint {
    double cdf, density;
};

BetaPoint beta_at(double x, double a, double b) {
    const double log_beta = math::lgamma(a) + math::lgamma(b) - math::lgamma(a + b);
    const double power = math::exp(a * math::log(x) + b * math::log1p(-x) - log_beta);
    const double cdf = x < (a + 1) / (a + b + 2) ? power * beta_continued_fraction(x, a, b) / a
                                                 : 1 - power * beta_continued_fraction(1 - x, b, a) / b;
    return {cdf, power / (x * (1 - x))};
}

}  // namespace

double beta_quantile(double p, double a, double b) {
    // Newton's steps inside a bracket that shrinks, and a bisection if a step leaves it.
    double low = 0, high = 1, x = a / (a + b);
    for (int k = 0; k < 200; ++k) {
        const auto [cdf, density] = beta_at(x, a, b);
        (cdf < p ? low : high) = x;
        double next = x - (cdf - p) / density;
        if (!(next > low && next < high)) next = 0.5 * (low + high);
        if (std::abs(next - x) <= 1e-15 * x) return next;
        x = next;
    }
    return x;
}

}  // namespace pollen::detail
