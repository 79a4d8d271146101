#include "fingerprint.hpp"

#include <pollen/nn/distributions.hpp>
#include <pollen/nn/priors.hpp>

// Log densities with parameters that are single numbers or one for each element, and draws.
namespace pollen::test {

namespace {

using namespace distributions;

template <Real T>
using Vars = std::span<const Var<T>>;

// f(x, a, b), three numbers of (0.1, 0.9) each.
template <Real T>
void add_density(Fingerprints& to, const char* name, const std::function<Var<T>(Vars<T>)>& f) {
    for (const std::int64_t n : {1, 2, 5, 8, 13, 16, 21, 37, 64, 100, 1031, 20011})
        for (const Shape& a : {Shape{}, Shape{n}})
            for (const Shape& b : {Shape{}, Shape{n}}) add_function<T>(to, name, {{n}, a, b}, 0.1, 0.9, f);
}

template <Real T, class D>
void add_draws(Fingerprints& to, const char* name, const D& distribution) {
    Fingerprint f;
    f.add(distribution.sample({1013}, RandomKey{3, 9}));
    to.add(name, std::string(type_name<T>) + " sample", f);
}

template <Real T>
void add_all(Fingerprints& to) {
    add_density<T>(to, "normal_lpdf", [](Vars<T> v) { return normal_lpdf(v[0], v[1], v[2]); });
    add_density<T>(to, "log_normal_lpdf", [](Vars<T> v) { return log_normal_lpdf(v[0], v[1], v[2]); });
    add_density<T>(to, "laplace_lpdf", [](Vars<T> v) { return laplace_lpdf(v[0], v[1], v[2]); });
    add_density<T>(to, "cauchy_lpdf", [](Vars<T> v) { return cauchy_lpdf(v[0], v[1], v[2]); });
    add_density<T>(to, "student_t_lpdf", [](Vars<T> v) { return student_t_lpdf(v[0], T(4.5), v[1], v[2]); });
    add_density<T>(to, "student_t_lpdf", [](Vars<T> v) { return student_t_lpdf(v[0], v[1], T(0), v[2]); });
    add_density<T>(to, "gamma_lpdf", [](Vars<T> v) { return gamma_lpdf(v[0], v[1], v[2]); });
    add_density<T>(to, "beta_lpdf", [](Vars<T> v) { return beta_lpdf(v[0], v[1], v[2]); });
    add_density<T>(to, "exponential_lpdf", [](Vars<T> v) { return exponential_lpdf(v[0], v[1]) * sum(v[2]); });
    add_density<T>(to, "half_normal_lpdf", [](Vars<T> v) { return half_normal_lpdf(v[0], v[1]) * sum(v[2]); });
    add_density<T>(to, "half_cauchy_lpdf", [](Vars<T> v) { return half_cauchy_lpdf(v[0], v[1]) * sum(v[2]); });
    add_draws<T>(to, "Normal", Normal<T>(T(0.3), T(2)));
    add_draws<T>(to, "LogNormal", LogNormal<T>(T(0.3), T(0.7)));
    add_draws<T>(to, "Laplace", Laplace<T>(T(0.3), T(2)));
    add_draws<T>(to, "Cauchy", Cauchy<T>(T(0.3), T(2)));
    add_draws<T>(to, "StudentT", StudentT<T>(T(3), T(0.3), T(2)));
    add_draws<T>(to, "Gamma", Gamma<T>(T(0.6), T(2)));
    add_draws<T>(to, "Beta", Beta<T>(T(0.6), T(2)));
    add_draws<T>(to, "Exponential", Exponential<T>(T(0.3)));
    add_draws<T>(to, "HalfNormal", HalfNormal<T>(T(0.3)));
    add_draws<T>(to, "HalfCauchy", HalfCauchy<T>(T(0.3)));
    add_draws<T>(to, "Uniform", Uniform<T>(T(-1), T(3)));
    add_draws<T>(to, "Poisson", Poisson<T>(T(3.5)));
    add_draws<T>(to, "Poisson", Poisson<T>(T(350)));
    for (const std::int64_t columns : {1, 3, 7, 8, 11, 16, 24, 29, 40})
        for (const std::int64_t rows : {1, 5, 31, 33, 100, 3001}) {
            const Tensor<T> x = numbers<T>({rows, columns}, -1, 1, 3);
            Indices y = Indices::zeros({rows});
            for (std::int64_t i = 0; i < rows; ++i) y.mutable_at(i) = static_cast<std::int32_t>(i * i % 3 == 1);
            add_function<T>(to, "bernoulli_logit_glm_lpmf", {{}, {columns}}, -2, 2,
                            [&](Vars<T> v) { return bernoulli_logit_glm_lpmf(y, x, v[0], v[1]); });
        }
}

template <Real T>
void add_priors(Fingerprints& to) {
    const auto add = [&](const char* name, const Prior& prior) {
        for (const std::int64_t n : {1, 5, 8, 17, 100, 5003}) {
            const Tensor<T> w = numbers<T>({n}, -1, 1, 5);
            Tensor<T> slopes = Tensor<T>::zeros({n});
            Fingerprint f;
            f.add(prior.log_prob(w.data(), n));
            prior.slopes(w.data(), n, slopes.mutable_data());
            f.add(slopes);
            to.add(name, std::string(type_name<T>) + " " + std::to_string(n), f);
        }
    };
    add("GaussianPrior", GaussianPrior{0.7});
    add("LaplacePrior", LaplacePrior{0.7});
    add("StudentTPrior", StudentTPrior{3, 0.7});
    add("ScaleMixturePrior", ScaleMixturePrior{0.5, 1, 0.01});
}

}  // namespace

void add_distributions(Fingerprints& to) {
    add_all<float>(to);
    add_all<double>(to);
    add_priors<float>(to);
    add_priors<double>(to);
}

}  // namespace pollen::test
