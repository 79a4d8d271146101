#include <pollen/nn/priors/scale_mixture_prior.hpp>

#include <pollen/autograd/kernels/constants.hpp>
#include <pollen/autograd/kernels/exp.hpp>
#include <pollen/autograd/kernels/log.hpp>
#include <pollen/autograd/math.hpp>
#include <pollen/nn/priors/detail/check_prior.hpp>
#include <pollen/nn/priors/detail/law_prior.hpp>

namespace pollen {

namespace {

// With a = log(pi N(w | 0, sd1^2)), b = log((1 - pi) N(w | 0, sd2^2)) and d = b - a = d0 - d2 w^2:
//     log p = a + log(1 + exp(d))        slope -w (precision1 (1 - r) + precision2 r),  r = 1 / (1 + exp(-d))
template <class T>
struct ScaleMixtureLaw {
    using B = kernels::Batch<T>;
    B a0, a2, d0, d2, precision1, more;

    explicit ScaleMixtureLaw(const ScaleMixturePrior& p)
        : a0(static_cast<T>(math::log(p.pi) - math::log(p.sd1) - kernels::log_sqrt_2pi)),
          a2(static_cast<T>(0.5 / (p.sd1 * p.sd1))),
          d0(static_cast<T>(math::log1p(-p.pi) - math::log(p.pi) - math::log(p.sd2) + math::log(p.sd1))),
          d2(static_cast<T>(0.5 * (1 / (p.sd2 * p.sd2) - 1 / (p.sd1 * p.sd1)))),
          precision1(static_cast<T>(1 / (p.sd1 * p.sd1))),
          more(static_cast<T>(1 / (p.sd2 * p.sd2) - 1 / (p.sd1 * p.sd1))) {}

    B constant() const { return a0; }
    B rest(const B& w) const {
        const B square = w * w, d = d0 - d2 * square, zero(T(0));
        return xsimd::select(d > zero, d, zero) + kernels::log1p_exp_minus_abs(d) - a2 * square;
    }
    // Where exp(-d) is infinite, r is 0.
    void slopes(const B& w, const kernels::Wanted&, B* out) const {
        out[0] = -w * (precision1 + more / (B(T(1)) + kernels::exp<T>(d2 * w * w - d0)));
    }
};

template <class T>
struct Mixture {
    ScaleMixtureLaw<T> law;
    explicit Mixture(const ScaleMixturePrior& p) : law(p) {}
};

}  // namespace

POLLEN_LAW_PRIOR(ScaleMixturePrior, Mixture, UnitScale{}, *this)

void ScaleMixturePrior::check() const {
    check_width(*this, "sd1", sd1);
    check_width(*this, "sd2", sd2);
    if (!(pi > 0 && pi < 1)) throw ValueError(describe() + ": pi must be between 0 and 1");
}
std::string ScaleMixturePrior::describe() const {
    return call("ScaleMixturePrior", "pi " + to_text(pi), "sd1 " + to_text(sd1), "sd2 " + to_text(sd2));
}

}  // namespace pollen
