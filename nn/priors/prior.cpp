#include <pollen/nn/priors/prior.hpp>

#include <pollen/autograd/kernels/exp.hpp>
#include <pollen/autograd/kernels/log.hpp>
#include <pollen/autograd/kernels/reduce.hpp>
#include <pollen/autograd/support/checks.hpp>

#include <numbers>

namespace pollen {

using kernels::Batch;
using kernels::Stream;

namespace {

const double log_sqrt_2pi = 0.5 * std::log(2 * std::numbers::pi);

// The sum of f(w_i), and out_i = f(w_i).
template <class T, class F>
double total(const T* w, std::int64_t n, const F& f) {
    return n > 0 ? static_cast<double>(kernels::reduce_serial<kernels::Sum, T>(n, f, Stream<T>{w})) : 0;
}
template <class T, class F>
void each(const T* w, std::int64_t n, T* out, const F& f) {
    kernels::map_serial(n, out, f, Stream<T>{w});
}

template <class T>
Batch<T> splat(double x) {
    return Batch<T>(static_cast<T>(x));
}

}  // namespace

// log p = -w^2 / (2 sd^2) - log sd - log(2 pi) / 2        slope -w / sd^2
template <Real T>
double GaussianPrior::log_prob(const T* w, std::int64_t n) const {
    const Batch<T> inverse = splat<T>(1 / sd);
    const double squares = total(w, n, [=](const Batch<T>& x) { return (x * inverse) * (x * inverse); });
    return -0.5 * squares - static_cast<double>(n) * (std::log(sd) + log_sqrt_2pi);
}
template <Real T>
void GaussianPrior::slopes(const T* w, std::int64_t n, T* out) const {
    const Batch<T> inverse = splat<T>(-1 / (sd * sd));
    each(w, n, out, [=](const Batch<T>& x) { return x * inverse; });
}
template <Real T>
double GaussianPrior::descent(const T* w, std::int64_t n, T* out) const {
    const T precision = static_cast<T>(1 / (sd * sd)), inverse = static_cast<T>(1 / sd);
    constexpr std::int64_t width = Batch<T>::size;
    const std::int64_t whole = n - n % (4 * width);
    Batch<T> sums[4] = {Batch<T>(T(0)), Batch<T>(T(0)), Batch<T>(T(0)), Batch<T>(T(0))};
    for (std::int64_t i = 0; i < whole; i += 4 * width)
        for (std::int64_t k = 0; k < 4; ++k) {
            const auto x = Batch<T>::load_unaligned(w + i + k * width);
            const Batch<T> z = x * inverse;
            sums[k] += z * z;
            (x * precision).store_unaligned(out + i + k * width);
        }
    auto squares = static_cast<double>(xsimd::hadd((sums[0] + sums[1]) + (sums[2] + sums[3])));
    for (std::int64_t i = whole; i < n; ++i) {
        const T z = w[i] * inverse;
        squares += static_cast<double>(z * z);
        out[i] = w[i] * precision;
    }
    return -0.5 * squares - static_cast<double>(n) * (std::log(sd) + log_sqrt_2pi);
}

namespace {

// With a = log(pi N(w | 0, sd1^2)) and b = log((1 - pi) N(w | 0, sd2^2)), d = b - a = d0 - d2 w^2.
struct MixtureTerms {
    explicit MixtureTerms(const ScaleMixturePrior& p)
        : a0(std::log(p.pi) - std::log(p.sd1) - log_sqrt_2pi),
          d0(std::log1p(-p.pi) - std::log(p.pi) - std::log(p.sd2) + std::log(p.sd1)),
          precision1(1 / (p.sd1 * p.sd1)),
          precision2(1 / (p.sd2 * p.sd2)) {}
    double a0, d0, precision1, precision2;
};

}  // namespace

// log p = a + log(1 + exp(d))        slope -w (precision1 (1 - r) + precision2 r),  r = 1 / (1 + exp(-d))
template <Real T>
double ScaleMixturePrior::log_prob(const T* w, std::int64_t n) const {
    const MixtureTerms terms(*this);
    const Batch<T> d0 = splat<T>(terms.d0), d2 = splat<T>(0.5 * (terms.precision2 - terms.precision1));
    const Batch<T> a2 = splat<T>(0.5 * terms.precision1), zero(T(0));
    const double sum = total(w, n, [=](const Batch<T>& x) {
        const Batch<T> square = x * x, d = d0 - d2 * square;
        return xsimd::select(d > zero, d, zero) + kernels::log1p_exp_minus_abs(d) - a2 * square;
    });
    return sum + static_cast<double>(n) * terms.a0;
}
template <Real T>
void ScaleMixturePrior::slopes(const T* w, std::int64_t n, T* out) const {
    const MixtureTerms terms(*this);
    const Batch<T> d0 = splat<T>(terms.d0), d2 = splat<T>(0.5 * (terms.precision2 - terms.precision1));
    const Batch<T> p1 = splat<T>(terms.precision1), more = splat<T>(terms.precision2 - terms.precision1);
    const Batch<T> one(T(1));
    // Where exp(-d) is infinite, r is 0.
    each(w, n, out, [=](const Batch<T>& x) { return -x * (p1 + more / (one + kernels::exp<T>(d2 * x * x - d0))); });
}

// log p = -|w| / scale - log(2 scale)        slope -sign(w) / scale
template <Real T>
double LaplacePrior::log_prob(const T* w, std::int64_t n) const {
    const double sum = total(w, n, [](const Batch<T>& x) { return xsimd::abs(x); });
    return -sum / scale - static_cast<double>(n) * std::log(2 * scale);
}
template <Real T>
void LaplacePrior::slopes(const T* w, std::int64_t n, T* out) const {
    const Batch<T> inverse = splat<T>(1 / scale), zero(T(0));
    each(w, n, out,
         [=](const Batch<T>& x) { return xsimd::select(x > zero, -inverse, xsimd::select(x < zero, inverse, zero)); });
}

// log p = -(nu + 1) / 2 log(1 + z^2 / nu) + constant,  z = w / scale        slope -(nu + 1) z / (nu + z^2) / scale
template <Real T>
double StudentTPrior::log_prob(const T* w, std::int64_t n) const {
    const Batch<T> inverse = splat<T>(1 / (scale * std::sqrt(nu)));
    const double sum = total(w, n, [=](const Batch<T>& x) { return kernels::log1p<T>((x * inverse) * (x * inverse)); });
    const double constant =
        std::lgamma((nu + 1) / 2) - std::lgamma(nu / 2) - 0.5 * std::log(nu * std::numbers::pi) - std::log(scale);
    return -0.5 * (nu + 1) * sum + static_cast<double>(n) * constant;
}
template <Real T>
void StudentTPrior::slopes(const T* w, std::int64_t n, T* out) const {
    const Batch<T> inverse = splat<T>(1 / scale), v = splat<T>(nu), front = splat<T>(-(nu + 1) / scale);
    each(w, n, out, [=](const Batch<T>& x) {
        const Batch<T> z = x * inverse;
        return front * z / (v + z * z);
    });
}

std::string GaussianPrior::describe() const { return call("GaussianPrior", "sd " + to_text(sd)); }
std::string FanInPrior::describe() const { return call("FanInPrior", "scale " + to_text(scale)); }
std::string ScaleMixturePrior::describe() const {
    return call("ScaleMixturePrior", "pi " + to_text(pi), "sd1 " + to_text(sd1), "sd2 " + to_text(sd2));
}
std::string LaplacePrior::describe() const { return call("LaplacePrior", "scale " + to_text(scale)); }
std::string StudentTPrior::describe() const {
    return call("StudentTPrior", "nu " + to_text(nu), "scale " + to_text(scale));
}
std::string HierarchicalPrior::describe() const { return call("HierarchicalPrior", "scale " + to_text(scale)); }

namespace {

template <class P>
void check_positive(const P& prior, const char* name, double x) {
    if (!(x > 0 && std::isfinite(x))) throw ValueError(prior.describe() + ": " + name + " must be positive and finite");
}
template <class P>
void check_width(const P& prior, const char* name, double x) {
    check_positive(prior, name, x);
    if (x < least_prior_width)
        throw ValueError(prior.describe() + ": " + name + " must be at least " + to_text(least_prior_width));
}

}  // namespace

void GaussianPrior::check() const { check_width(*this, "sd", sd); }
void FanInPrior::check() const { check_width(*this, "scale", scale); }
void ScaleMixturePrior::check() const {
    check_width(*this, "sd1", sd1);
    check_width(*this, "sd2", sd2);
    if (!(pi > 0 && pi < 1)) throw ValueError(describe() + ": pi must be between 0 and 1");
}
void LaplacePrior::check() const { check_width(*this, "scale", scale); }
void StudentTPrior::check() const {
    check_positive(*this, "nu", nu);
    check_width(*this, "scale", scale);
}
void HierarchicalPrior::check() const { check_width(*this, "scale", scale); }

void Prior::fail() const {
    throw ValueError(text_ + (fan_in_ ? " is not the prior of a tensor yet: for_fans() makes it one"
                                      : " has no density of the weights alone: Bayes learns its tau with them"));
}

#define POLLEN_INSTANTIATE(P)                                          \
    template double P::log_prob(const float*, std::int64_t) const;     \
    template double P::log_prob(const double*, std::int64_t) const;    \
    template void P::slopes(const float*, std::int64_t, float*) const; \
    template void P::slopes(const double*, std::int64_t, double*) const;
template double GaussianPrior::descent(const float*, std::int64_t, float*) const;
template double GaussianPrior::descent(const double*, std::int64_t, double*) const;
POLLEN_INSTANTIATE(GaussianPrior)
POLLEN_INSTANTIATE(ScaleMixturePrior)
POLLEN_INSTANTIATE(LaplacePrior)
POLLEN_INSTANTIATE(StudentTPrior)

}  // namespace pollen
