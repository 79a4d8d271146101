#include <pollen/nn/training/rms_prop.hpp>

#include <pollen/autograd/support/checks.hpp>
#include <pollen/nn/training/kernels/optimiser_loop.hpp>

namespace pollen {

using kernels::Batch;

template <Real T>
void RmsProp::update(const UpdateStep& now, const Stretch<T>& at) const {
    const Batch<T> a(static_cast<T>(now.rate)), keep(static_cast<T>(alpha)), add(static_cast<T>(1 - alpha));
    const Batch<T> small(static_cast<T>(epsilon));
    kernels::update(now, at, [=](Batch<T>& theta, const Batch<T>& g, Batch<T>& v) {
        v = keep * v + add * g * g;
        theta -= a * g / (xsimd::sqrt(v) + small);
    });
}

void RmsProp::check() const {
    check_option(describe(), "alpha", alpha, 1);
    check_option(describe(), "epsilon", epsilon, 1);
}

std::string RmsProp::describe() const {
    return call("RmsProp", "rate " + rate.describe(), "alpha " + to_text(alpha), "epsilon " + to_text(epsilon));
}

POLLEN_INSTANTIATE_RULE(RmsProp)

}  // namespace pollen
