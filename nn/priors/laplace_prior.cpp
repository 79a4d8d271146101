#include <pollen/nn/priors/laplace_prior.hpp>

#include <pollen/nn/distributions/detail/laplace_law.hpp>
#include <pollen/nn/priors/detail/check_prior.hpp>
#include <pollen/nn/priors/detail/law_prior.hpp>

namespace pollen {

namespace {

template <class T>
struct StandardLaplace {
    using B = kernels::Batch<T>;
    distributions::LaplaceLaw<T> law{B(T(0)), B(T(1))};
};

}  // namespace

POLLEN_LAW_PRIOR(LaplacePrior, StandardLaplace, scale)

void LaplacePrior::check() const { check_width(*this, "scale", scale); }
std::string LaplacePrior::describe() const { return call("LaplacePrior", "scale " + to_text(scale)); }

}  // namespace pollen
