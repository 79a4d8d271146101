#include <pollen/nn/likelihoods/student_t.hpp>

#include <pollen/autograd/math.hpp>
#include <pollen/nn/distributions/student_t.hpp>
#include <pollen/nn/likelihoods/detail/targets.hpp>

#include <cmath>

namespace pollen {

template <Real T>
StudentT<T>::StudentT(const char* scale_name, double nu, double scale, bool learned)
    : nu_(nu), scale_(scale), learned_(learned) {
    const auto check = [](const char* what, double x) {
        if (!(x > 0 && std::isfinite(x)))
            throw ValueError(std::string("StudentT: ") + what + " is " + to_text(x) +
                             "; a finite number above 0 is needed");
    };
    check("nu", nu);
    check(scale_name, scale);
    log_scale = {.shape = {}, .init = Init::constant(math::log(scale))};
}

template <Real T>
StudentT<T> StudentT<T>::known(double nu, double scale) {
    return StudentT("scale", nu, scale, false);
}

template <Real T>
StudentT<T> StudentT<T>::learned(double nu, double initial_scale) {
    return StudentT("initial_scale", nu, initial_scale, true);
}

template <Real T>
Var<T> StudentT<T>::log_prob(Pass<T>& pass, Var<T> outputs, const Dataset<T>& batch) const {
    using Law = distributions::StudentT<T>;
    const Shape shape = outputs.shape();
    const ArgRef<T> targets(finite_targets("StudentT", shape, batch), shape);
    if (!learned_) return Law::lpdf_unchecked({targets, nu_, outputs, scale_});
    const Var<T> scale = exp(pass(log_scale));
    return Law::lpdf_unchecked({targets, nu_, outputs, scale});
}

template <Real T>
void StudentT<T>::check_data(const Shape& outputs, const Dataset<T>& data) const {
    finite_targets("StudentT", outputs, data);
}

template <Real T>
double StudentT<T>::score(const Tensor<T>& outputs, const Dataset<T>& batch) const {
    return sum_of_means(outputs.shape(), outputs.data(), finite_targets("StudentT", outputs.shape(), batch),
                        [](double x, double y) { return (x - y) * (x - y); });
}

template <Real T>
double StudentT<T>::finish(double total, std::int64_t items) const {
    return std::sqrt(total / static_cast<double>(items));
}

template <Real T>
std::string StudentT<T>::describe() const {
    return "StudentT(" + to_text(nu_) + ", " + (learned_ ? "learned scale" : "scale " + to_text(scale_)) + ")";
}

template class StudentT<float>;
template class StudentT<double>;

}  // namespace pollen
