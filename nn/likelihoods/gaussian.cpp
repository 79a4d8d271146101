#include <pollen/nn/likelihoods/gaussian.hpp>

#include <pollen/autograd/kernels/log.hpp>
#include <pollen/nn/likelihoods/detail/location_scale.hpp>
#include <pollen/nn/likelihoods/detail/targets.hpp>

#include <numbers>

namespace pollen {

namespace {

const double half_log_2_pi = 0.5 * std::log(2 * std::numbers::pi);

// g(z) = -z^2 / 2 - log(2 pi) / 2
struct Normal {
    static double constant() { return -half_log_2_pi; }
    template <class V>
    static V density(const V& z) {
        return V(-0.5f) * z * z;
    }
    template <class V>
    static V slope(const V& z) {
        return -z;
    }
    template <class V>
    static V z_slope(const V& z) {
        return -z * z;
    }
};

template <Real T>
struct Spread {
    Batch<T> inverse, z;
    Spread(const Batch<T>& mean, const Batch<T>& r, const Batch<T>& y) {
        const Batch<T> zero(T(0));
        const Batch<T> sd = xsimd::select(r > zero, r, zero) + kernels::log1p_exp_minus_abs(r) +
                            Batch<T>(static_cast<T>(Gaussian<T>::smallest_sd));
        inverse = Batch<T>(T(1)) / sd;
        z = (y - mean) * inverse;
    }
};

// The rows (n, 2k) as two blocks (n, k) one after the other, and back.
template <class T>
void to_blocks(std::int64_t n, std::int64_t k, const T* rows, T* blocks) {
    for (std::int64_t i = 0; i < n; ++i) {
        std::copy_n(rows + 2 * k * i, k, blocks + k * i);
        std::copy_n(rows + 2 * k * i + k, k, blocks + k * (n + i));
    }
}
template <class T>
void to_rows(std::int64_t n, std::int64_t k, const T* blocks, T* rows) {
    for (std::int64_t i = 0; i < n; ++i) {
        std::copy_n(blocks + k * i, k, rows + 2 * k * i);
        std::copy_n(blocks + k * (n + i), k, rows + 2 * k * i + k);
    }
}

template <Real T>
const T* targets_of_halves(const Shape& outputs, const Dataset<T>& batch) {
    if (outputs.rank() != 2 || outputs[1] % 2 != 0)
        throw ShapeError("Gaussian: outputs have shape " + to_string(outputs) +
                         "; (n, 2k), k means and k spreads for each item, are needed to predict the noise");
    check_target_shape("Gaussian", outputs, Shape{outputs[0], outputs[1] / 2}, batch.targets);
    check_targets("Gaussian", batch.targets, "finite numbers are needed", IsFinite{});
    return batch.targets.data();
}

// With z = (y - mean) / sd and dsd/dr = 1 / (1 + exp(-r)):
//     dlog p/dmean = z / sd        dlog p/dr = (z^2 - 1) / sd dsd/dr
template <Real T>
Var<T> predicted_noise(Var<T> outputs, const Dataset<T>& batch) {
    const Stream<T> y{targets_of_halves(outputs.shape(), batch)};
    const std::int64_t rows = outputs.shape()[0], k = outputs.shape()[1] / 2, n = rows * k;
    Tensor<T> blocks = outputs.state().empty(outputs.shape());
    to_blocks(rows, k, outputs.value().data(), blocks.fresh_data());
    const Stream<T> mean{blocks.data()}, r{blocks.data() + n};
    const double sum = sum_with_constant<T>(
        n, -half_log_2_pi,
        [](const Batch<T>& m, const Batch<T>& raw, const Batch<T>& target) {
            const Spread<T> s(m, raw, target);
            return kernels::log(s.inverse) - Batch<T>(T(0.5)) * s.z * s.z;
        },
        mean, r, y);
    if (!outputs.needs_grad()) return record_sum("gaussian", outputs, sum, Tensor<T>());
    Tensor<T> slope = outputs.state().empty(outputs.shape()), slope_blocks = outputs.state().empty(outputs.shape());
    kernels::map(
        n, slope_blocks.fresh_data(),
        [](const Batch<T>& m, const Batch<T>& raw, const Batch<T>& target) {
            const Spread<T> s(m, raw, target);
            return s.z * s.inverse;
        },
        mean, r, y);
    kernels::map(
        n, slope_blocks.fresh_data() + n,
        [](const Batch<T>& m, const Batch<T>& raw, const Batch<T>& target) {
            const Spread<T> s(m, raw, target);
            return (s.z * s.z - Batch<T>(T(1))) * s.inverse * kernels::sigmoid(raw);
        },
        mean, r, y);
    to_rows(rows, k, slope_blocks.data(), slope.fresh_data());
    return record_sum("gaussian", outputs, sum, std::move(slope));
}

void check_sd(const char* what, double sd) {
    if (!(sd > 0 && std::isfinite(sd)))
        throw ValueError(std::string("Gaussian: ") + what + " is " + to_text(sd) +
                         "; a finite number above 0 is needed");
}

}  // namespace

template <Real T>
Gaussian<T>::Gaussian(Noise noise, double sd)
    : log_sd{.shape = {}, .init = Init::constant(std::log(sd))}, noise_(noise), sd_(sd) {}

template <Real T>
Gaussian<T> Gaussian<T>::known(double sd) {
    check_sd("sd", sd);
    return Gaussian(Noise::known, sd);
}

template <Real T>
Gaussian<T> Gaussian<T>::learned(double initial_sd) {
    check_sd("initial_sd", initial_sd);
    return Gaussian(Noise::learned, initial_sd);
}

template <Real T>
Var<T> Gaussian<T>::log_prob(Pass<T>& pass, Var<T> outputs, const Dataset<T>& batch) const {
    if (noise_ == Noise::predicted) return predicted_noise(outputs, batch);
    const T* targets = finite_targets("Gaussian", outputs.shape(), batch);
    if (noise_ == Noise::learned) return location_scale("gaussian", outputs, targets, pass(log_sd), Normal{});
    return location_scale("gaussian", outputs, targets, sd_, Normal{});
}

template <Real T>
double Gaussian<T>::score(const Tensor<T>& outputs, const Dataset<T>& batch) const {
    const auto squared = [](double x, double y) { return (x - y) * (x - y); };
    if (noise_ != Noise::predicted)
        return sum_of_means(outputs.shape(), outputs.data(), finite_targets("Gaussian", outputs.shape(), batch),
                            squared);
    const T* targets = targets_of_halves(outputs.shape(), batch);
    const std::int64_t rows = outputs.shape()[0], k = outputs.shape()[1] / 2;
    Tensor<T> blocks = Tensor<T>::empty(outputs.shape());
    to_blocks(rows, k, outputs.data(), blocks.fresh_data());
    return sum_of_means(Shape{rows, k}, blocks.data(), targets, squared);
}

template <Real T>
double Gaussian<T>::finish(double total, std::int64_t items) const {
    return std::sqrt(total / static_cast<double>(items));
}

template <Real T>
std::string Gaussian<T>::describe() const {
    if (noise_ == Noise::known) return "Gaussian(sd " + to_text(sd_) + ")";
    return noise_ == Noise::learned ? "Gaussian(learned sd)" : "Gaussian(predicted sd)";
}

template class Gaussian<float>;
template class Gaussian<double>;

}  // namespace pollen
