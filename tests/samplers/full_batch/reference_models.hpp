#pragma once

#include <pollen/nn/distributions.hpp>
#include <pollen/nn/potentials/model.hpp>

#include <nlohmann/json.hpp>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <string>
#include <vector>

// Posteriors with reference moments and Stan's gradients, read from the folder that POLLEN_REFERENCE names. Each folder
// in it has data.json, grad.json, summary.json and, where moments are known exactly, exact.json.
namespace pollen::test {

using Json = nlohmann::json;

// Empty where the variable is not set; ctest knows a skipped test by what is printed then.
inline std::filesystem::path reference_folder() {
    const char* path = std::getenv("POLLEN_REFERENCE");
    if (!path || !*path) {
        std::cout << "Skipped: POLLEN_REFERENCE is not set\n";
        return {};
    }
    if (!std::filesystem::is_directory(path))
        throw std::runtime_error("POLLEN_REFERENCE is " + std::string(path) + ", which is not a folder");
    return path;
}

class Reference {
  public:
    explicit Reference(const std::filesystem::path& folder)
        : data(read(folder / "data.json")),
          gradients(read(folder / "grad.json")),
          summary(read(folder / "summary.json")) {
        if (std::filesystem::exists(folder / "exact.json")) exact = read(folder / "exact.json");
    }
    Tensor<double> vector(const char* name) const {
        const std::vector<double> x = data.at(name).get<std::vector<double>>();
        return Tensor<double>(Shape{std::ssize(x)}, x);
    }
    Tensor<double> matrix(const char* name) const {
        const auto rows = data.at(name).get<std::vector<std::vector<double>>>();
        Tensor<double> x = Tensor<double>::empty({std::ssize(rows), std::ssize(rows.at(0))});
        auto to = x.mutable_values().begin();
        for (const auto& row : rows) to = std::copy(row.begin(), row.end(), to);
        return x;
    }

    Json data, gradients, summary, exact;

  private:
    static Json read(const std::filesystem::path& path) {
        std::ifstream file(path);
        if (!file) throw std::runtime_error("cannot read " + path.string());
        return Json::parse(file);
    }
};

// A matrix with a column for each of these.
inline Tensor<double> columns(const std::vector<Tensor<double>>& parts) {
    const std::int64_t n = parts.at(0).size(), k = std::ssize(parts);
    Tensor<double> x = Tensor<double>::empty({n, k});
    double* to = x.mutable_data();
    for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t j = 0; j < k; ++j) to[i * k + j] = parts[static_cast<std::size_t>(j)].data()[i];
    return x;
}

inline Tensor<double> each(const Tensor<double>& x, const std::function<double(double)>& f) {
    Tensor<double> y = Tensor<double>::empty(x.shape());
    std::transform(x.begin(), x.end(), y.mutable_values().begin(), f);
    return y;
}

// y ~ Normal(X beta, sigma), the priors given by `prior`.
inline ModelPotential<double> regression(const Tensor<double>& x, const Tensor<double>& y,
                                         const std::function<void(Model<double>&, Var<double>, Var<double>)>& prior) {
    return ModelPotential<double>([=](Model<double>& m) {
        const auto beta = m.real("beta", {x.shape()[1]});
        const auto sigma = m.positive("sigma");
        prior(m, beta, sigma);
        m.likelihood(normal_lpdf(y, matmul(x, beta), sigma));
    });
}

inline ModelPotential<double> reference_model(const std::string& name, const Reference& r) {
    using M = Model<double>;
    using V = Var<double>;
    const auto flat = [](M&, V, V) {};
    const auto ones = [](std::int64_t n) { return Tensor<double>::full({n}, 1.0); };
    if (name.starts_with("eight_schools")) {
        const Tensor<double> y = r.vector("y"), s = r.vector("sigma");
        if (name.ends_with("noncentered"))
            return ModelPotential<double>([=](M& m) {
                const auto z = m.real("theta_trans", {8}), mu = m.real("mu"), tau = m.positive("tau");
                m.prior(normal_lpdf(z, 0, 1));
                m.prior(normal_lpdf(mu, 0, 5));
                m.prior(half_cauchy_lpdf(tau, 5));
                m.likelihood(normal_lpdf(y, m.quantity("theta", mu + tau * z), s));
            });
        return ModelPotential<double>([=](M& m) {
            const auto theta = m.real("theta", {8}), mu = m.real("mu"), tau = m.positive("tau");
            m.prior(normal_lpdf(theta, mu, tau));
            m.prior(normal_lpdf(mu, 0, 5));
            m.prior(half_cauchy_lpdf(tau, 5));
            m.likelihood(normal_lpdf(y, theta, s));
        });
    }
    if (name.starts_with("sblri"))
        return regression(r.matrix("X"), r.vector("y"), [](M& m, V beta, V sigma) {
            m.prior(normal_lpdf(beta, 0, 10));
            m.prior(half_normal_lpdf(sigma, 10));
        });
    if (name.starts_with("nes1980")) {
        const Tensor<double> age = r.vector("age_discrete");
        const auto is = [&](double k) { return each(age, [k](double a) { return a == k ? 1.0 : 0.0; }); };
        return regression(columns({ones(age.size()), r.vector("real_ideo"), r.vector("race_adj"), is(2), is(3), is(4),
                                   r.vector("educ1"), r.vector("gender"), r.vector("income")}),
                          r.vector("partyid7"), flat);
    }
    if (name.starts_with("kidiq")) {
        const Tensor<double> y = r.vector("kid_score");
        return regression(columns({ones(y.size()), r.vector("mom_hs"), r.vector("mom_iq")}), y,
                          [](M& m, V, V sigma) { m.prior(half_cauchy_lpdf(sigma, 2.5)); });
    }
    if (name.starts_with("earnings")) {
        const Tensor<double> height = r.vector("height"), male = r.vector("male");
        Tensor<double> both = Tensor<double>::empty(height.shape());
        std::transform(height.begin(), height.end(), male.begin(), both.mutable_values().begin(), std::multiplies<>());
        return regression(columns({ones(height.size()), height, male, both}),
                          each(r.vector("earn"), [](double e) { return std::log(e); }), flat);
    }
    if (name.starts_with("arK")) {
        const std::vector<double> y = r.data.at("y").get<std::vector<double>>();
        const std::int64_t k = r.data.at("K"), n = std::ssize(y) - k;
        Tensor<double> past = Tensor<double>::empty({n, k}), now = Tensor<double>::empty({n});
        for (std::int64_t t = 0; t < n; ++t) {
            now.mutable_data()[t] = y[static_cast<std::size_t>(t + k)];
            for (std::int64_t j = 0; j < k; ++j)
                past.mutable_data()[t * k + j] = y[static_cast<std::size_t>(t + k - 1 - j)];
        }
        return ModelPotential<double>([=](M& m) {
            const auto alpha = m.real("alpha"), beta = m.real("beta", {k}), sigma = m.positive("sigma");
            m.prior(normal_lpdf(alpha, 0, 10));
            m.prior(normal_lpdf(beta, 0, 10));
            m.prior(half_cauchy_lpdf(sigma, 2.5));
            m.likelihood(normal_lpdf(now, alpha + matmul(past, beta), sigma));
        });
    }
    if (name.starts_with("gp_pois")) {
        const Tensor<double> x = r.vector("x"), k = r.vector("k");
        const std::int64_t n = x.size();
        Tensor<double> squares = Tensor<double>::empty({n, n}), jitter = Tensor<double>::eye(n);
        for (std::int64_t i = 0; i < n; ++i)
            for (std::int64_t j = 0; j < n; ++j)
                squares.mutable_data()[i * n + j] = -0.5 * std::pow(x.data()[i] - x.data()[j], 2);
        for (double& d : jitter.mutable_values()) d *= 1e-10;
        return ModelPotential<double>([=](M& m) {
            const auto rho = m.positive("rho"), alpha = m.positive("alpha"), z = m.real("f_tilde", {n});
            m.prior(gamma_lpdf(rho, 25, 4));
            m.prior(half_normal_lpdf(alpha, 2));
            m.prior(normal_lpdf(z, 0, 1));
            const auto kernel = square(alpha) * exp(squares / square(rho)) + jitter;
            const auto f = m.quantity("f", matmul(cholesky(kernel), z));
            m.likelihood(poisson_lpmf(k, exp(f)));
        });
    }
    if (name.starts_with("low_dim_gauss_mix")) {
        const Tensor<double> y = r.vector("y");
        return ModelPotential<double>([=](M& m) {
            const auto mu = m.ordered("mu", {2}), sigma = m.positive("sigma", {2}), theta = m.between("theta", 0, 1);
            m.prior(normal_lpdf(mu, 0, 2));
            m.prior(half_normal_lpdf(sigma, 2));
            m.prior(beta_lpdf(theta, 5, 5));
            const auto part = [&](int i) {
                const auto z = (y - slice(mu, 0, i, i + 1)) / slice(sigma, 0, i, i + 1);
                return square(z) * -0.5 - log(slice(sigma, 0, i, i + 1)) - 0.5 * std::log(2 * M_PI);
            };
            const auto first = log(theta) + part(0), second = log1p(-theta) + part(1);
            m.likelihood(sum(maximum(first, second) + softplus(-abs(first - second))));
        });
    }
    if (name == "german_credit") {
        const Tensor<double> raw = r.matrix("X");
        const std::int64_t n = raw.shape()[0], d = raw.shape()[1];
        Tensor<double> x = Tensor<double>::empty({n, d + 1});
        for (std::int64_t j = 0; j < d; ++j) {
            double mean = 0, squares = 0;
            for (std::int64_t i = 0; i < n; ++i) mean += raw.data()[i * d + j] / static_cast<double>(n);
            for (std::int64_t i = 0; i < n; ++i)
                squares += std::pow(raw.data()[i * d + j] - mean, 2) / static_cast<double>(n);
            for (std::int64_t i = 0; i < n; ++i)
                x.mutable_data()[i * (d + 1) + j] = (raw.data()[i * d + j] - mean) / std::sqrt(squares);
        }
        for (std::int64_t i = 0; i < n; ++i) x.mutable_data()[i * (d + 1) + d] = 1;
        const Tensor<double> classes = r.vector("y");
        const double highest = *std::max_element(classes.begin(), classes.end());
        const Tensor<double> y = each(classes, [=](double c) { return c == highest ? 1.0 : 0.0; });
        return ModelPotential<double>([=](M& m) {
            const auto w = m.real("w", {d + 1});
            m.prior(normal_lpdf(w, 0, 1));
            m.likelihood(bernoulli_logit_glm_lpmf(y, x, 0.0, w));
        });
    }
    throw std::runtime_error("there is no model for " + name);
}

}  // namespace pollen::test
