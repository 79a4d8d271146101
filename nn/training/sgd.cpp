#include <pollen/nn/training/sgd.hpp>

#include <pollen/autograd/support/checks.hpp>
#include <pollen/nn/training/kernels/optimiser_loop.hpp>

namespace pollen {

using kernels::Batch;

template <Real T>
void Sgd::update(const UpdateStep& now, const Stretch<T>& at) const {
    const Batch<T> a(static_cast<T>(now.rate));
    kernels::update(now, at, [=](Batch<T>& theta, const Batch<T>& g) { theta -= a * g; });
}

std::string Sgd::describe() const { return call("Sgd", "rate " + rate.describe()); }

POLLEN_INSTANTIATE_RULE(Sgd)

}  // namespace pollen
