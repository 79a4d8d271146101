#include <pollen/nn/priors/gaussian_prior.hpp>

#include <pollen/nn/distributions/detail/normal_law.hpp>
#include <pollen/nn/priors/detail/check_prior.hpp>
#include <pollen/nn/priors/detail/law_prior.hpp>

namespace pollen {

namespace {

template <class T>
struct StandardNormal {
    using B = kernels::Batch<T>;
    distributions::NormalLaw<T> law{B(T(0)), {B(T(1)), {}}};
};

}  // namespace

POLLEN_LAW_PRIOR(GaussianPrior, StandardNormal, sd)

void GaussianPrior::check() const { check_width(*this, "sd", sd); }
std::string GaussianPrior::describe() const { return call("GaussianPrior", "sd " + to_text(sd)); }

}  // namespace pollen
