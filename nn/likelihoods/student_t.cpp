#include <pollen/nn/likelihoods/student_t.hpp>

#include <pollen/autograd/kernels/log.hpp>
#include <pollen/nn/likelihoods/detail/location_scale.hpp>
#include <pollen/nn/likelihoods/detail/targets.hpp>

#include <numbers>

namespace pollen {

namespace {

// lgamma(x + 1/2) - lgamma(x), for large x by its series, where the two hardly differ.
double lgamma_step(double x) {
    if (x < 100) return std::lgamma(x + 0.5) - std::lgamma(x);
    const double w = 1 / x;
    return 0.5 * std::log(x) - w / 8 + w * w * w / 192 - w * w * w * w * w / 640;
}

// With a = z / sqrt(nu):
//     g(z) = -(nu + 1) / 2 log(1 + a^2) + constant
//     g'(z) = -(nu + 1) / sqrt(nu) a / (1 + a^2)        z g'(z) = -(nu + 1) a^2 / (1 + a^2)
// Where a^2 could overflow, log(1 + a^2) = 2 log(1 + |a|) to all digits; and a / (1 + a^2) = 1 / (a + 1 / a).
template <Real T>
class HeavyTailed {
  public:
    explicit HeavyTailed(double nu)
        : constant_(lgamma_step(nu / 2) - 0.5 * std::log(nu * std::numbers::pi)),
          half_(static_cast<T>((nu + 1) / 2)),
          all_(static_cast<T>(nu + 1)),
          root_(static_cast<T>(1 / std::sqrt(nu))) {}

    double constant() const { return constant_; }
    Batch<T> density(const Batch<T>& z) const {
        const Batch<T> a = xsimd::abs(z) * Batch<T>(root_);
        const auto far = a > Batch<T>(T(1e17));
        const Batch<T> log = kernels::log1p<T>(xsimd::select(far, a, a * a));
        return -Batch<T>(half_) * xsimd::select(far, log + log, log);
    }
    Batch<T> slope(const Batch<T>& z) const {
        const Batch<T> a = z * Batch<T>(root_), one(T(1));
        return -Batch<T>(all_ * root_) / (a + one / a);
    }
    Batch<T> z_slope(const Batch<T>& z) const {
        const Batch<T> b = Batch<T>(T(1)) / (z * Batch<T>(root_)), one(T(1));
        return -Batch<T>(all_) / (one + b * b);
    }

  private:
    double constant_;
    T half_, all_, root_;
};

}  // namespace

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
    log_scale = {.shape = {}, .init = Init::constant(std::log(scale))};
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
    const T* targets = finite_targets("StudentT", outputs.shape(), batch);
    const HeavyTailed<T> law(nu_);
    if (learned_) return location_scale("student_t", outputs, targets, pass(log_scale), law);
    return location_scale("student_t", outputs, targets, scale_, law);
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
