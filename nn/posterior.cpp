#include <pollen/nn/draw_weights.hpp>

#include <pollen/nn/checks.hpp>

#include <cmath>
#include <numbers>

namespace pollen {

namespace {

constexpr std::int64_t block = 1024;  // weights that go through a prior at once

// rho with log(1 + exp(rho)) = sd
double rho_of(const char* posterior, double sd) {
    if (!(sd > 0 && std::isfinite(sd)))
        throw ValueError(std::string(posterior) + ": initial_sd is " + to_text(sd) + "; it must be positive");
    return sd > 30 ? sd : std::log(std::expm1(sd));
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

// Starts from the values that are there already.
template <Real T>
void start(Parameter<T>& parameter) {
    parameter.value = Tensor<T>::empty(parameter.shape);
    const std::span<T> values(parameter.value.fresh_data(), static_cast<std::size_t>(parameter.shape.size()));
    parameter.init.fill(values, parameter.fans, {});
}

}  // namespace

// d log p / dw comes from the prior, a stretch at a time.
template <Real T>
Var<T> log_prior(const Prior& prior, Var<T> w) {
    const T* weights = w.value().data();
    double sum = 0;
    for (std::int64_t i = 0; i < w.size(); i += block)
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
    if (mu.has_value()) start(rho);
}

template <Real T>
WeightDraw<T> MeanField<T>::draw(Pass<T>& pass, const Prior& prior, const RandomKey& key) const {
    const Streaming<T> streaming{pass.sink, static_cast<std::uint32_t>(pass.index(mu)),
                                 static_cast<std::uint32_t>(pass.index(rho))};
    return draw_weights(pass(mu), pass(rho), &prior, key, pass.complexity_value(), streaming);
}

template <Real T>
Tensor<T> MeanField<T>::sd_value() const {
    return softplus_of(rho.value);
}

template <Real T>
void MeanField<T>::set_mean(const Tensor<T>& mean) {
    set_value("MeanField", mu, mean);
    if (!rho.has_value()) start(rho);
}

template <Real T>
void MeanField<T>::visit(Visitor<T>& visitor) {
    visitor.parameter("mu", mu);
    visitor.parameter("rho", rho);
}

template <Real T>
LowRank<T>::LowRank(const Parameter<T>& parameter, std::int64_t rank, double initial_sd) : mu(parameter) {
    check_sizes("LowRank", {{"rank", rank}});
    rho = {.shape = mu.shape, .init = Init::constant(rho_of("LowRank", initial_sd))};
    // Small and different: columns that start equal would stay equal.
    const double small = initial_sd / std::sqrt(static_cast<double>(rank));
    factors = {.shape = {rank, mu.shape.size()}, .init = Init::normal(0, small)};
    if (mu.has_value()) {
        start(rho);
        start(factors);
    }
}

// With D = diag(sigma^2), A = D^-1/2 V and C = I + A'A = L L' (rank x rank), e = D^-1/2 (w - mu) = eps + A z:
//
//     log det(D + V V') = log det D + log det C        (w - mu)'(D + V V')^-1 (w - mu) = e'e - |L^-1 A'e|^2
template <Real T>
WeightDraw<T> LowRank<T>::draw(Pass<T>& pass, const Prior& prior, const RandomKey& key) const {
    const std::int64_t n = mu.shape.size(), rank = factors.shape[0];
    Tensor<T> noise = Tensor<T>::empty(Shape{n + rank});
    fill_normal(key, 0, std::span<T>(noise.fresh_data(), static_cast<std::size_t>(n + rank)));
    const Var<T> all = pass.tape().constant(std::move(noise));
    const Var<T> eps = slice(all, 0, 0, n), z = slice(all, 0, n, n + rank);
    const Var<T> sigma = softplus(reshape(pass(rho), Shape{n})), v = pass(factors);
    const Var<T> moved = sigma * eps + matmul(z, v);
    const Var<T> w = reshape(pass(mu), Shape{n}) + moved;
    const Var<T> a = v / sigma, e = moved / sigma;  // (rank, n), (n)
    const Var<T> l = cholesky(matmul(a, a, {.transpose_y = true}) + Tensor<T>::eye(rank));
    const Var<T> u = triangular_solve(l, matmul(a, e));
    const Var<T> log_q = (sum(square(e)) - sum(square(u)) + cholesky_logdet(l)) * -0.5 - sum(log(sigma)) -
                         0.5 * static_cast<double>(n) * std::log(2 * std::numbers::pi);
    const Var<T> weights = reshape(w, mu.shape);
    return {weights, pair(log_q, log_prior(prior, weights))};
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
    if (!rho.has_value()) start(rho);
    if (!factors.has_value()) start(factors);
}

template <Real T>
void LowRank<T>::visit(Visitor<T>& visitor) {
    visitor.parameter("mu", mu);
    visitor.parameter("rho", rho);
    visitor.parameter("factors", factors);
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
    return {w, pair(pass.tape().constant(T(0)), log_prior(prior, w))};
}

template <Real T>
void PointMass<T>::set_mean(const Tensor<T>& mean) {
    set_value("PointMass", mu, mean);
}

template Var<float> log_prior(const Prior&, Var<float>);
template Var<double> log_prior(const Prior&, Var<double>);
template class MeanField<float>;
template class MeanField<double>;
template class LowRank<float>;
template class LowRank<double>;
template class PointMass<float>;
template class PointMass<double>;

}  // namespace pollen
