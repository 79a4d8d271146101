#pragma once

#include "../../support.hpp"

#include <pollen/autograd/parallel.hpp>
#include <pollen/nn/distributions/argument.hpp>

#include <algorithm>
#include <span>
#include <utility>

// What the tests of all distributions share.
namespace pollen::test {

struct Row {
    double x;
    std::array<double, 3> p;
    double log_prob;
    std::array<double, 4> slope;  // with respect to x and the parameters
    double cdf;
};

#include "reference.inc"

inline void check_near(const char* what, const Row& row, double got, double want, double relative, double absolute) {
    if (got == want) return;
    BOOST_TEST(std::abs(got - want) <= relative * std::abs(want) + absolute,
               what << " at x = " << row.x << " (" << row.p[0] << ", " << row.p[1] << ", " << row.p[2] << "): got "
                    << got << ", expected " << want << ", relative error " << std::abs(got / want - 1));
}

// log_prob, its gradients and the distribution function of a law with n parameters against the rows of reference.inc,
// to 1e-10. All rows are one call, so that the SIMD loop and its tail are what is tested. The same in float is held
// against the same formula in double, at the numbers rounded to float.
template <template <class> class Law, std::size_t n>
void check_reference(std::span<const Row> rows) {
    const auto size = static_cast<std::int64_t>(rows.size());
    std::array<Tensor<double>, n + 1> columns;
    for (std::size_t k = 0; k <= n; ++k) {
        columns[k] = Tensor<double>::zeros({size});
        for (std::size_t i = 0; i < rows.size(); ++i)
            columns[k].mutable_data()[i] = k == 0 ? rows[i].x : rows[i].p[k - 1];
    }
    [&]<std::size_t... k>(std::index_sequence<k...>) {
        Tape<double> tape;
        const std::array<Var<double>, n> p{tape.variable(columns[k + 1])...};
        const Var<double> x = tape.variable(columns[0]);
        const Law<double> law(p[k]...);
        tape.backward(law.log_prob(x));
        const Tensor<double> each = law.log_prob_each(columns[0]), cdf = law.cdf(columns[0]);
        for (std::int64_t i = 0; i < size; ++i) {
            const Row& row = rows[static_cast<std::size_t>(i)];
            check_near("log_prob", row, each.data()[i], row.log_prob, 1e-10, 1e-14);
            check_near("dlog_prob/dx", row, x.grad().data()[i], row.slope[0], 1e-10, 1e-14);
            (check_near("dlog_prob/dparameter", row, p[k].grad().data()[i], row.slope[k + 1], 1e-10, 1e-14), ...);
            check_near("cdf", row, cdf.data()[i], row.cdf, 1e-10, 1e-305);
        }
        const Law<float> small(cast<float>(columns[k + 1])...);
        const Law<double> large(cast<double>(cast<float>(columns[k + 1]))...);
        const Tensor<float> got = small.log_prob_each(cast<float>(columns[0]));
        const Tensor<double> want = large.log_prob_each(cast<double>(cast<float>(columns[0])));
        for (std::int64_t i = 0; i < size; ++i) {
            const double a = static_cast<double>(got.data()[i]), b = want.data()[i];
            if (std::abs(b) > 1e36) continue;  // too much for a float, or nearly
            check_near("log_prob in float", rows[static_cast<std::size_t>(i)], a, b, 2e-4, 2e-4);
        }
    }
    (std::make_index_sequence<n>());
}

// f(x, p...) at each x outside the support: -infinity, with no gradient for x or any parameter.
template <class F, class... P>
void check_outside(const F& f, std::initializer_list<double> outside, P... p) {
    for (double at : outside) {
        Tape<double> tape;
        const Var<double> x = tape.variable(Tensor<double>::full({5}, at));
        const std::array<Var<double>, sizeof...(P)> v{tape.variable(Tensor<double>::scalar(p))...};
        const Var<double> l = [&]<std::size_t... k>(std::index_sequence<k...>) { return f(x, v[k]...); }
        (std::index_sequence_for<P...>{});
        tape.backward(l);
        BOOST_TEST(l.item() == -INFINITY);
        for (double g : x.grad()) BOOST_TEST(g == 0);
        for (const Var<double>& parameter : v) BOOST_TEST(parameter.grad().item() == 0);
    }
}

// Kolmogorov and Smirnov's distance of draws from the distribution function, times sqrt(n), must be below 2.2, which it
// exceeds with probability 2 exp(-2 2.2^2) = 1.3e-4; the seeds are fixed.
template <class Law>
void check_distance(Tensor<double> draws, const Law& law) {
    const std::int64_t n = draws.size();
    std::sort(draws.mutable_data(), draws.mutable_data() + n);
    const Tensor<double> cdf = law.cdf(draws);
    double distance = 0;
    for (std::int64_t i = 0; i < n; ++i) {
        const double f = cdf.data()[i], at = static_cast<double>(i) / static_cast<double>(n);
        distance = std::max({distance, std::abs(f - at), std::abs(at + 1 / static_cast<double>(n) - f)});
    }
    BOOST_TEST(distance * std::sqrt(static_cast<double>(n)) < 2.2);
}
template <class Law>
void check_draws(const Law& law, std::uint64_t seed) {
    check_distance(law.sample({1'000'000}, {.seed = seed}), law);
}

// The gradients that rsample passes back, against differences at the same noise. In double only: float has other noise.
template <class F, class... Inputs>
void check_pathwise(const F& f, const Inputs&... inputs) {
    const auto call = [&](std::span<const Var<double>> x) {
        return [&]<std::size_t... k>(std::index_sequence<k...>) { return f(x[k]...); }
        (std::index_sequence_for<Inputs...>{});
    };
    const GradcheckResult result = gradcheck(call, {inputs...});
    BOOST_TEST(result.ok, result.message);
}

struct Estimate {
    double mean, error;
};
inline Estimate estimate(const Tensor<double>& x) {
    double sum = 0, squares = 0;
    const auto n = static_cast<double>(x.size());
    for (double v : x) sum += v;
    for (double v : x) squares += (v - sum / n) * (v - sum / n);
    return {sum / n, std::sqrt(squares / n / n)};
}

// The closed form of KL(p || q) against the mean of log p - log q over draws of p, within 4.5 standard errors (7e-6).
template <class Law>
void check_kl(const Law& p, const Law& q, std::uint64_t seed) {
    const Tensor<double> x = p.sample({200'000}, {.seed = seed});
    Tensor<double> ratio = p.log_prob_each(x);
    const Tensor<double> of_q = q.log_prob_each(x);
    for (std::int64_t i = 0; i < x.size(); ++i) ratio.mutable_data()[i] -= of_q.data()[i];
    const Estimate monte_carlo = estimate(ratio);
    const double closed = kl_each(p, q).item();
    BOOST_TEST(std::abs(closed - monte_carlo.mean) < 4.5 * monte_carlo.error + 1e-12,
               "closed form " << closed << ", draws " << monte_carlo.mean << " +- " << monte_carlo.error);
    BOOST_TEST(std::abs(kl_each(p, p).item()) < 1e-13);
}

// dE[x]/dp by draws: the mean of the pathwise derivatives along parameter k, within 4.5 standard errors.
template <class Make>
void check_pathwise_mean(const Make& make, double at, double expected, std::uint64_t seed) {
    Tape<double> tape;
    const std::int64_t n = 200'000;
    const Var<double> p = tape.variable(Tensor<double>::full({n}, at));
    tape.backward(sum(make(p).rsample({n}, {.seed = seed})));
    const Estimate slope = estimate(p.grad());
    BOOST_TEST(std::abs(slope.mean - expected) < 4.5 * slope.error + 1e-12,
               "draws " << slope.mean << " +- " << slope.error << ", expected " << expected);
}

}  // namespace pollen::test
