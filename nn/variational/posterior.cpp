#include <pollen/nn/variational/detail/draw_weights.hpp>

#include <pollen/autograd/ops.hpp>
#include <pollen/autograd/support/checks.hpp>
#include <pollen/nn/variational/low_rank.hpp>

#include <algorithm>
#include <bit>
#include <cmath>

namespace pollen {

namespace {

constexpr std::int64_t block = 1024;  // weights that go through a prior at once

// rho with log(1 + exp(rho)) = share * sd
double rho_of(const char* posterior, double sd, double share = 1) {
    if (!(sd > 0 && std::isfinite(sd)))
        throw ValueError(std::string(posterior) + ": initial_sd is " + to_text(sd) + "; it must be positive");
    return sd > 30 ? share * sd : std::log(std::expm1(share * sd));
}

template <Real T>
Tensor<T> softplus_of(const Tensor<T>& rho) {
    Tape<T> tape(Recording::off);
    return softplus(tape.borrow(rho)).value();
}

template <Real T>
void set_value(const char* posterior, Parameter<T>& mu, const Tensor<T>& mean) {
    if (mean.shape() != mu.shape)
        throw ShapeError(std::string(posterior) + ": a mean of shape " + to_string(mean.shape()) + " for weights " +
                         to_string(mu.shape));
    mu.value = mean;
}

template <Real T>
Var<T> pair(Var<T> log_q, Var<T> log_p) {
    return stack({reshape(log_q, Shape{}), reshape(log_p, Shape{})});
}

// A number that differs between tensors: of their fans and all their values (FNV-1a).
template <Real T>
std::uint64_t fingerprint(const Parameter<T>& parameter) {
    std::uint64_t hash = 0xcbf29ce484222325;
    const auto mix = [&](std::uint64_t word) { hash = (hash ^ word) * 0x100000001b3; };
    mix(static_cast<std::uint64_t>(parameter.fans.in));
    mix(static_cast<std::uint64_t>(parameter.fans.out));
    for (const T x : parameter.value) mix(std::bit_cast<std::uint64_t>(static_cast<double>(x)));
    return hash ^ hash >> 32;
}

}  // namespace

template <Real T>
void start_with(Parameter<T>& parameter, const Parameter<T>& mean) {
    if (!mean.has_value() || parameter.has_value()) return;
    parameter.value = Tensor<T>::empty(parameter.shape);
    const std::span<T> values(parameter.value.fresh_data(), static_cast<std::size_t>(parameter.shape.size()));
    parameter.init.fill(values, parameter.fans, {fingerprint(mean), stream_of(Purpose::initial_values, 0), 0});
}

// d log p / dw comes from the prior, a stretch at a time.
template <Real T>
Var<T> log_prior(const Prior& prior, Var<T> w, bool wanted) {
    const T* weights = w.value().data();
    double sum = wanted ? 0 : std::nan("");
    for (std::int64_t i = 0; wanted && i < w.size(); i += block)
        sum += prior.log_prob(weights + i, std::min(block, w.size() - i));
    Tensor<T> value = w.state().empty(Shape{});
    value.fresh_data()[0] = static_cast<T>(sum);
    return record("log_prior", {w}, std::move(value), [&prior](Backward<T>& b) {
        T slopes[block];
        T* dw = b.accumulate(0);
        const Tensor<T>& at = b.input(0);
        for (std::int64_t i = 0; dw && i < at.size(); i += block) {
            const std::int64_t count = std::min(block, at.size() - i);
            prior.slopes(at.data() + i, count, slopes);
            for (std::int64_t k = 0; k < count; ++k) dw[i + k] += b.grad()[0] * slopes[k];
        }
    });
}

template <Real T>
MeanField<T>::MeanField(const Parameter<T>& parameter, double initial_sd) : mu(parameter) {
    rho = {.shape = mu.shape, .init = Init::constant(rho_of("MeanField", initial_sd))};
    start_with(rho, mu);
}

template <Real T>
WeightDraw<T> MeanField<T>::draw(Pass<T>& pass, const Prior& prior, const RandomKey& key) const {
    return draw_weights(pass(mu), pass(rho), &prior, key, pass.complexity_value());
}

template <Real T>
Tensor<T> MeanField<T>::sd_value() const {
    return softplus_of(rho.value);
}

template <Real T>
void MeanField<T>::set_mean(const Tensor<T>& mean) {
    set_value("MeanField", mu, mean);
    start_with(rho, mu);
}

template <Real T>
LowRank<T>::LowRank(const Parameter<T>& parameter, std::int64_t rank, double initial_sd) : mu(parameter) {
    check_sizes("LowRank", {{"rank", rank}});
    // More columns than weights would add nothing.
    const std::int64_t columns = std::max<std::int64_t>(1, std::min(rank, mu.shape.size()));
    // Half of the variance each. The columns are drawn: if they began equal, they would stay equal.
    rho = {.shape = mu.shape, .init = Init::constant(rho_of("LowRank", initial_sd, std::sqrt(0.5)))};
    const double small = initial_sd * std::sqrt(0.5 / static_cast<double>(columns));
    factors = {.shape = {columns, mu.shape.size()}, .init = Init::normal(0, small)};
    start_with(rho, mu);
    start_with(factors, mu);
}

template <Real T>
WeightDraw<T> LowRank<T>::draw(Pass<T>& pass, const Prior& prior, const RandomKey& key) const {
    const std::int64_t n = mu.shape.size(), rank = factors.shape[0];
    Tensor<T> numbers = Tensor<T>::empty(Shape{n + rank});
    fill_normal(key, 0, std::span<T>(numbers.fresh_data(), static_cast<std::size_t>(n + rank)));
    const Var<T> noise = pass.tape().constant(std::move(numbers));
    const Var<T> eps = reshape(slice(noise, 0, 0, n), mu.shape), z = slice(noise, 0, n, n + rank);
    const Var<T> r = pass(rho), v = pass(factors);
    const Var<T> w = pass(mu) + softplus(r) * eps + reshape(matmul(z, v), mu.shape);
    const bool value = pass.complexity_value();
    return {w, pair(low_rank_log_q(r, v, noise, value), log_prior(prior, w, value))};
}

template <Real T>
Tensor<T> LowRank<T>::sd_value() const {
    Tensor<T> sd = softplus_of(rho.value);
    const std::int64_t n = sd.size();
    for (std::int64_t i = 0; i < n; ++i) {
        double variance = static_cast<double>(sd.data()[i]) * static_cast<double>(sd.data()[i]);
        for (std::int64_t k = 0; k < factors.shape[0]; ++k)
            variance += std::pow(static_cast<double>(factors.value.data()[k * n + i]), 2);
        sd.mutable_data()[i] = static_cast<T>(std::sqrt(variance));
    }
    return sd;
}

template <Real T>
void LowRank<T>::set_mean(const Tensor<T>& mean) {
    set_value("LowRank", mu, mean);
    start_with(rho, mu);
    start_with(factors, mu);
}

template <Real T>
std::string LowRank<T>::describe() const {
    return call("LowRank", factors.shape[0]);
}

template <Real T>
PointMass<T>::PointMass(const Parameter<T>& parameter) : mu(parameter) {}

template <Real T>
WeightDraw<T> PointMass<T>::draw(Pass<T>& pass, const Prior& prior, const RandomKey&) const {
    const Var<T> w = pass(mu);
    return {w, pair(pass.tape().constant(T(0)), log_prior(prior, w, pass.complexity_value()))};
}

template <Real T>
void PointMass<T>::set_mean(const Tensor<T>& mean) {
    set_value("PointMass", mu, mean);
}

template void start_with(Parameter<float>&, const Parameter<float>&);
template void start_with(Parameter<double>&, const Parameter<double>&);
template Var<float> log_prior(const Prior&, Var<float>, bool);
template Var<double> log_prior(const Prior&, Var<double>, bool);
template class MeanField<float>;
template class MeanField<double>;
template class LowRank<float>;
template class LowRank<double>;
template class PointMass<float>;
template class PointMass<double>;

}  // namespace pollen
