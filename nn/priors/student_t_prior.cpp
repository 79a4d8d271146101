#include <pollen/nn/priors/student_t_prior.hpp>

#include <pollen/nn/distributions/detail/student_t_law.hpp>
#include <pollen/nn/priors/detail/check_prior.hpp>
#include <pollen/nn/priors/detail/law_prior.hpp>

namespace pollen {

namespace {

template <class T>
struct StandardStudentT {
    using B = kernels::Batch<T>;
    using Law = distributions::StudentTLaw<T>;
    typename Law::Known of_nu;
    Law law{of_nu, B(T(0)), B(T(1))};

    explicit StandardStudentT(double nu) : of_nu(B(static_cast<T>(nu)), {}) {}
    StandardStudentT(const StandardStudentT&) = delete;  // the law points at of_nu
};

}  // namespace

POLLEN_LAW_PRIOR(StudentTPrior, StandardStudentT, scale, nu)

void StudentTPrior::check() const {
    check_positive(*this, "nu", nu);
    check_width(*this, "scale", scale);
}
std::string StudentTPrior::describe() const {
    return call("StudentTPrior", "nu " + to_text(nu), "scale " + to_text(scale));
}

}  // namespace pollen
