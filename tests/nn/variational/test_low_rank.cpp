#include "../../support.hpp"

#include <pollen/nn/distributions/multivariate_normal.hpp>
#include <pollen/nn/module/sequential.hpp>
#include <pollen/nn/variational/bayes.hpp>
#include <pollen/nn/variational/low_rank_log_q.hpp>

#include <algorithm>

using namespace pollen;
using namespace pollen::test;

namespace {

template <Real T>
LowRank<T> posterior(const Shape& shape, std::int64_t rank, const Tensor<double>& rho, double factor = 1) {
    LowRank<T> q(Parameter<T>{.shape = shape, .value = cast<T>(normals(shape, 5))}, rank, 1);
    q.rho.value = cast<T>(rho);
    q.factors.value = cast<T>(normals(q.factors.shape, 2));
    for (T& v : q.factors.value.mutable_values()) v *= static_cast<T>(factor);
    return q;
}

struct Outcome {
    Tensor<double> weights;
    double log_q;
    Tensor<double> to_rho, to_factors;
};

template <Real T>
Outcome outcome(const LowRank<T>& q, bool value = true) {
    const Parameters<T> parameters(q);
    Tape<T> tape;
    Pass<T> pass(tape, parameters, {.mode = Mode::train, .complexity_value = value});
    const Prior prior = GaussianPrior{1};
    const WeightDraw<T> draw = q.draw(pass, prior, {.seed = 1});
    tape.backward(sum(draw.log_q_log_p * Tensor<T>{1, 0}));
    return {cast<double>(draw.weights.value()), static_cast<double>(draw.log_q_log_p.value().data()[0]),
            cast<double>(pass.leaves()[1].grad()), cast<double>(pass.leaves()[2].grad())};
}

bool finite(const Tensor<double>& x) {
    return std::all_of(x.begin(), x.end(), [](double v) { return std::isfinite(v); });
}

}  // namespace

BOOST_AUTO_TEST_SUITE(low_rank_posterior)

BOOST_AUTO_TEST_CASE(log_q_is_that_of_a_multivariate_normal) {
    for (const std::int64_t rank : {1, 2, 4}) {
        const LowRank<double> q = posterior<double>({2, 3}, rank, uniforms({2, 3}, -3, 1));
        Tensor<double> covariance = Tensor<double>::zeros({6, 6});
        for (std::int64_t i = 0; i < 6; ++i) {
            covariance.mutable_at(i, i) = std::pow(std::log1p(std::exp(q.rho.value.data()[i])), 2);
            for (std::int64_t j = 0; j < 6; ++j)
                for (std::int64_t k = 0; k < rank; ++k)
                    covariance.mutable_at(i, j) += q.factors.value(k, i) * q.factors.value(k, j);
        }
        const Tensor<double> l = value<double>([](auto c) { return cholesky(c); }, covariance);
        const Outcome got = outcome(q);
        const distributions::MultivariateNormal<double> exact(q.mu.value.reshaped({6}), l);
        BOOST_TEST(got.log_q == exact.log_prob_each(got.weights.reshaped({6})).item(),
                   boost::test_tools::tolerance(1e-12));
        for (std::int64_t i = 0; i < 6; ++i)
            BOOST_TEST(std::pow(q.sd_value().data()[i], 2) == covariance(i, i), boost::test_tools::tolerance(1e-12));
    }
}

BOOST_AUTO_TEST_CASE(gradients) {
    for (const double rho : {-6.0, 0.5}) {
        const auto f = [](auto r, auto v) {
            using T = std::remove_const_t<std::remove_pointer_t<decltype(r.value().data())>>;
            const Var<T> noise = r.state().leaf("noise", cast<T>(normals({8}, 3)), false);
            return low_rank_log_q<T>(r, v, noise, true);
        };
        check_gradients(f, uniforms({2, 3}, rho - 1, rho), normals({2, 6}, 4));
    }
}

// sigma far below the factors: the terms of the quadratic form would cancel in float.
BOOST_AUTO_TEST_CASE(float_is_as_good_as_double) {
    const std::int64_t n = 10'000;
    for (const double width : {-4.0, -7.0, -9.0, -12.0, -20.0}) {
        const auto evaluate = [&]<Real T>(T) {
            Tape<T> tape;
            const Var<T> rho = tape.variable(Tensor<T>::full({n}, static_cast<T>(width)));
            const Var<T> factors = tape.variable(cast<T>(normals({2, n}, 2)));
            const Var<T> log_q = low_rank_log_q<T>(rho, factors, tape.constant(cast<T>(normals({n + 2}, 3))), true);
            tape.backward(log_q);
            return Outcome{{}, static_cast<double>(log_q.item()), cast<double>(rho.grad()), {}};
        };
        const Outcome single = evaluate(0.f), exact = evaluate(0.0);
        BOOST_TEST(single.log_q == exact.log_q, boost::test_tools::tolerance(1e-6));
        double off = 0;
        for (std::int64_t i = 0; i < n; ++i)
            off = std::max(off, std::abs(single.to_rho.data()[i] - exact.to_rho.data()[i]));
        BOOST_TEST(off < 1e-5, "rho " << width << ": off by " << off);
    }
}

BOOST_AUTO_TEST_CASE(far_widths) {
    const auto check = [](const auto& q) {
        const Outcome got = outcome(q);
        BOOST_TEST(std::isfinite(got.log_q));
        BOOST_TEST(finite(got.weights));
        BOOST_TEST(finite(got.to_rho));
        BOOST_TEST(finite(got.to_factors));
    };
    for (const double rho : {-1000.0, -110.0, -100.0, 100.0})
        for (const double factor : {0.0, 0.01, 100.0})
            for (const Shape& shape : {Shape{1}, Shape{2}, Shape{20, 30}}) {
                const Tensor<double> all = Tensor<double>::full(shape, rho);
                check(posterior<float>(shape, 3, all, factor));
                check(posterior<double>(shape, 3, all, factor));
            }
    // One narrow weight among wide ones
    Tensor<double> mixed = Tensor<double>::zeros({20});
    mixed.mutable_at(3) = -100;
    check(posterior<float>({20}, 3, mixed, 0.01));
}

// The gradient does without the value.
BOOST_AUTO_TEST_CASE(value_on_demand) {
    const LowRank<double> q = posterior<double>({2, 3}, 2, uniforms({2, 3}, -3, 1));
    const Outcome with = outcome(q), without = outcome(q, false);
    BOOST_TEST(std::isnan(without.log_q));
    BOOST_TEST((with.to_rho == without.to_rho));
    BOOST_TEST((with.to_factors == without.to_factors));
    BOOST_TEST((with.weights == without.weights));
}

// initial_sd is that of a weight; 20000 factors: their mean square has a standard error of 1 %.
BOOST_AUTO_TEST_CASE(start) {
    Sequential<double> net{Dense<double>(100, 100), Dense<double>(100, 100)};
    initialise(net, 1);
    auto twin = bayesian(net, {.posterior = low_rank<double>(2, 0.3)});
    const auto found = bayesian_weights<double>(twin);
    const auto factors = [&](std::size_t k) {
        return dynamic_cast<LowRank<double>&>(*found[k].weight->posterior).factors.value;
    };
    const Tensor<double> sd = found[0].weight->posterior->sd_value();
    double square = 0;
    for (const double s : sd) square += s * s / static_cast<double>(sd.size());
    BOOST_TEST(std::abs(square / 0.09 - 1) < 0.03);
    BOOST_TEST((factors(0) != factors(2)));
    BOOST_TEST(factors(0).data()[0] != factors(1).data()[0]);
    const LowRank<double> one(Parameter<double>{.shape = {2}}, 5, 0.3);
    BOOST_TEST(one.describe() == "LowRank(2)");
    BOOST_TEST(error_of<ValueError>([] { LowRank<double>(Parameter<double>{.shape = {2}}, 1, -1); }) ==
               "LowRank: initial_sd is -1; it must be positive");
}

BOOST_AUTO_TEST_SUITE_END()
