#include <pollen/nn/likelihoods/gaussian.hpp>

#include <pollen/autograd/math.hpp>
#include <pollen/nn/distributions/detail/normal_law.hpp>
#include <pollen/nn/likelihoods/detail/targets.hpp>

#include <algorithm>
#include <cmath>

namespace pollen {

namespace {

// The normal law with sd = log(1 + exp(r)) + smallest_sd, and dsd/dr = 1 / (1 + exp(-r)).
template <Real T>
struct PredictedLaw {
    using B = kernels::Batch<T>;
    using Normal = distributions::NormalLaw<T>;
    Normal normal;
    B r;

    PredictedLaw(const B& mean, const B& raw) : normal(mean, {sd(raw), {}}), r(raw) {}

    static B sd(const B& r) {
        return xsimd::max(r, B(T(0))) + kernels::log1p_exp_minus_abs(r) + B(static_cast<T>(Gaussian<T>::smallest_sd));
    }
    static constexpr std::array in_constant{false, false};
    B constant() const { return -B(T(kernels::log_sqrt_2pi)); }
    B rest(const B& y) const { return normal.rest(y) - kernels::log(normal.s.sd); }
    B value(const B& y) const { return constant() + rest(y); }
    void slopes(const B& y, const kernels::Wanted& wanted, B* d) const {
        normal.slopes(y, wanted, d);
        d[2] *= kernels::sigmoid(r);
    }
};

// The rows (n, 2k) as two blocks (n, k) one after the other, and back. One number at a time where k is 1, the usual
// case, which the compiler turns into shuffles.
template <class T>
void to_blocks(std::int64_t n, std::int64_t k, const T* rows, T* blocks) {
    if (k == 1) {
        for (std::int64_t i = 0; i < n; ++i) {
            blocks[i] = rows[2 * i];
            blocks[n + i] = rows[2 * i + 1];
        }
        return;
    }
    for (std::int64_t i = 0; i < n; ++i) {
        std::copy_n(rows + 2 * k * i, k, blocks + k * i);
        std::copy_n(rows + 2 * k * i + k, k, blocks + k * (n + i));
    }
}
template <class T>
void to_rows(std::int64_t n, std::int64_t k, const T* blocks, T* rows) {
    if (k == 1) {
        for (std::int64_t i = 0; i < n; ++i) {
            rows[2 * i] = blocks[i];
            rows[2 * i + 1] = blocks[n + i];
        }
        return;
    }
    for (std::int64_t i = 0; i < n; ++i) {
        std::copy_n(blocks + k * i, k, rows + 2 * k * i);
        std::copy_n(blocks + k * (n + i), k, rows + 2 * k * i + k);
    }
}

template <Real T>
const Tensor<T>& targets_of_halves(const Shape& outputs, const Dataset<T>& batch) {
    if (outputs.rank() != 2 || outputs[1] % 2 != 0)
        throw ShapeError("Gaussian: outputs have shape " + to_string(outputs) +
                         "; (n, 2k), k means and k spreads for each item, are needed to predict the noise");
    check_target_shape("Gaussian", outputs, Shape{outputs[0], outputs[1] / 2}, batch.targets);
    check_targets("Gaussian", batch.targets, "finite numbers are needed", IsFinite{});
    return batch.targets;
}

template <Real T>
Var<T> predicted_noise(Var<T> outputs, const Dataset<T>& batch) {
    using Law = PredictedLaw<T>;
    constexpr const char* node = "normal_lpdf";
    TapeState<T>& tape = outputs.state();
    const Tensor<T>& targets = targets_of_halves(outputs.shape(), batch);
    const std::int64_t rows = outputs.shape()[0], k = outputs.shape()[1] / 2, n = rows * k;
    const auto evaluate = [&tape, rows, k, n](const T* y, const ArgRef<T>& from, T* value, T* slopes) {
        Tensor<T> blocks = tape.empty(*from.shape());
        to_blocks(rows, k, from.data(), blocks.fresh_data());
        const kernels::Sources<T, 3> in{{{y, true}, {blocks.data(), true}, {blocks.data() + n, true}}};
        kernels::Sinks<T, 4> out{{{value, false}}};
        if (!from.needs_grad()) return kernels::evaluate<Law, false>(in, n, out);
        Tensor<T> slope_blocks = tape.empty(*from.shape());
        out[2] = {slope_blocks.fresh_data(), true};
        out[3] = {slope_blocks.fresh_data() + n, true};
        kernels::evaluate<Law, true>(in, n, out);
        to_rows(rows, k, slope_blocks.data(), slopes);
    };
    const Args<T, 1> args{outputs};
    const std::int64_t room = outputs.needs_grad() ? padded<T>(2 * n) : 0;
    if (tape.replays()) {
        const auto again = [evaluate, targets](const char*, const Args<T, 1>& now, Pool&, T* value, T* slopes) {
            evaluate(targets.data(), now[0], value, slopes);
        };
        return record_replayed(node, on_tape(args, tape), Shape{}, tape.empty(Shape{room}), no_bounds<T, 1>, again,
                               pass_to_inputs<T>);
    }
    return record_sloped(node, tape, args, room,
                         [&](T* value, T* slopes) { evaluate(targets.data(), args[0], value, slopes); });
}

void check_sd(const char* what, double sd) {
    if (!(sd > 0 && std::isfinite(sd)))
        throw ValueError(std::string("Gaussian: ") + what + " is " + to_text(sd) +
                         "; a finite number above 0 is needed");
}

}  // namespace

template <Real T>
Gaussian<T>::Gaussian(Noise noise, double sd)
    : log_sd{.shape = {}, .init = Init::constant(math::log(sd))}, noise_(noise), sd_(sd) {}

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
    using Law = distributions::Normal<T>;
    const Shape shape = outputs.shape();
    const ArgRef<T> targets(finite_targets("Gaussian", shape, batch), shape);
    if (noise_ == Noise::known) return Law::lpdf_unchecked({targets, outputs, sd_});
    const Var<T> sd = exp(pass(log_sd));
    return Law::lpdf_unchecked({targets, outputs, sd});
}

template <Real T>
void Gaussian<T>::check_data(const Shape& outputs, const Dataset<T>& data) const {
    if (noise_ == Noise::predicted)
        targets_of_halves(outputs, data);
    else
        finite_targets("Gaussian", outputs, data);
}

template <Real T>
double Gaussian<T>::score(const Tensor<T>& outputs, const Dataset<T>& batch) const {
    const auto squared = [](double x, double y) { return (x - y) * (x - y); };
    if (noise_ != Noise::predicted)
        return sum_of_means(outputs.shape(), outputs.data(), finite_targets("Gaussian", outputs.shape(), batch),
                            squared);
    const T* targets = targets_of_halves(outputs.shape(), batch).data();
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
double Gaussian<T>::sd() const {
    if (noise_ == Noise::predicted)
        throw ValueError("Gaussian: the noise is predicted for each item; there is not one sd for all");
    return noise_ == Noise::learned && log_sd.has_value() ? math::exp(static_cast<double>(log_sd.value.item())) : sd_;
}

template <Real T>
std::string Gaussian<T>::describe() const {
    if (noise_ == Noise::known) return "Gaussian(sd " + to_text(sd_) + ")";
    return noise_ == Noise::learned ? "Gaussian(learned sd)" : "Gaussian(predicted sd)";
}

template class Gaussian<float>;
template class Gaussian<double>;

}  // namespace pollen
