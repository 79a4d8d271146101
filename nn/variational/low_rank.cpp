#include <pollen/nn/variational/low_rank.hpp>

#include <pollen/autograd/ops.hpp>
#include <pollen/autograd/support/checks.hpp>
#include <pollen/nn/variational/detail/posterior_parts.hpp>
#include <pollen/nn/variational/low_rank_log_q.hpp>

#include <algorithm>
#include <cmath>

namespace pollen {

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
    const Var<T> wide = pass(mu) + softplus(r) * eps, along = reshape(matmul(z, v), mu.shape), w = wide + along;
    const bool value = pass.complexity_value();
    const Var<T> log_q = low_rank_log_q(r, v, noise, value), log_p = log_prior(prior, w, value);
    return {w, log_q_log_p(log_q, log_p)};
}

template <Real T>
Tensor<T> LowRank<T>::sd_value() const {
    Tensor<T> sd = softplus_of(rho.value);
    const std::int64_t n = sd.size();
    for (std::int64_t i = 0; i < n; ++i) {
        double variance = static_cast<double>(sd.data()[i]) * static_cast<double>(sd.data()[i]);
        for (std::int64_t k = 0; k < factors.shape[0]; ++k) {
            const auto factor = static_cast<double>(factors.value.data()[k * n + i]);
            variance += factor * factor;
        }
        sd.mutable_data()[i] = static_cast<T>(std::sqrt(variance));
    }
    return sd;
}

template <Real T>
void LowRank<T>::set_mean(const Tensor<T>& mean) {
    set_mean_value("LowRank", mu, mean);
    start_with(rho, mu);
    start_with(factors, mu);
}

template <Real T>
std::string LowRank<T>::describe() const {
    return call("LowRank", factors.shape[0]);
}

template class LowRank<float>;
template class LowRank<double>;

}  // namespace pollen
