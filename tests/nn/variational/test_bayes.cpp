#include "../../support.hpp"

#include <pollen/autograd/parallel.hpp>
#include <pollen/nn/layers.hpp>
#include <pollen/nn/likelihoods.hpp>
#include <pollen/nn/priors.hpp>
#include <pollen/nn/pruning/compress.hpp>
#include <pollen/nn/pruning/weight_posteriors.hpp>
#include <pollen/nn/training/train.hpp>
#include <pollen/nn/variational/bayes.hpp>
#include <pollen/nn/variational/detail/draw_weights.hpp>

#include <numbers>

using namespace pollen;
using namespace pollen::test;

BOOST_AUTO_TEST_SUITE(bayes)

namespace {

constexpr RandomKey key{.seed = 3, .stream = 5, .step = 7};

double normal_log(double x, double sd) {
    return -0.5 * x * x / (sd * sd) - std::log(sd) - 0.5 * std::log(2 * std::numbers::pi);
}

// log p and its slope, number by number, in long double.
struct PriorCase {
    Prior prior;
    std::function<long double(long double)> log_prob;
};

std::vector<PriorCase> priors() {
    const long double pi = 0.25L, s1 = 1, s2 = std::exp(-6.0L), tau = 2 * std::numbers::pi_v<long double>;
    const auto normal = [tau](long double x, long double s) {
        return -0.5L * x * x / (s * s) - std::log(s) - 0.5L * std::log(tau);
    };
    return {
        {GaussianPrior{0.5}, [=](long double x) { return normal(x, 0.5L); }},
        {ScaleMixturePrior{0.25, 1, std::exp(-6.0)},
         [=](long double x) {
             const long double a = std::log(pi) + normal(x, s1), b = std::log(1 - pi) + normal(x, s2);
             return std::max(a, b) + std::log1p(std::exp(-std::abs(a - b)));
         }},
        {LaplacePrior{0.3}, [](long double x) { return -std::abs(x) / 0.3L - std::log(0.6L); }},
        {StudentTPrior{3, 0.7},
         [](long double x) {
             const long double z = x / 0.7L;
             return std::lgamma(2.0L) - std::lgamma(1.5L) - 0.5L * std::log(3 * std::numbers::pi_v<long double>) -
                    std::log(0.7L) - 2 * std::log1p(z * z / 3);
         }},
    };
}

}  // namespace

BOOST_AUTO_TEST_CASE(priors_and_their_slopes) {
    for (const auto& [prior, log_prob] : priors()) {
        for (const double w : {1e-5, 0.001, 0.01, -0.02, 0.3, -1.0, 2.5, 40.0, 1e4}) {
            const double expected = static_cast<double>(log_prob(static_cast<long double>(w)));
            BOOST_TEST(std::abs(prior.log_prob(&w, 1) - expected) < 1e-11 * std::max(1.0, std::abs(expected)),
                       prior.describe() << " at " << w);
            const long double h = 1e-6L * std::max(1e-3L, std::abs(static_cast<long double>(w)));
            const auto slope = static_cast<double>(
                (log_prob(static_cast<long double>(w) + h) - log_prob(static_cast<long double>(w) - h)) / (2 * h));
            double got = 0;
            prior.slopes(&w, 1, &got);
            BOOST_TEST(std::abs(got - slope) < 1e-7 * std::abs(slope) + 1e-9, prior.describe() << " at " << w);
            const auto w_float = static_cast<float>(w);
            float got_float = 0;
            prior.slopes(&w_float, 1, &got_float);
            BOOST_TEST(std::abs(static_cast<double>(got_float) - slope) < 1e-4 * std::abs(slope) + 1e-4);
            BOOST_TEST(std::isfinite(prior.log_prob(&w_float, 1)));
        }
        // A stretch is the sum of its parts.
        const Tensor<double> many = normals({1000});
        double sum = 0;
        for (const double w : many) sum += prior.log_prob(&w, 1);
        BOOST_TEST(std::abs(prior.log_prob(many.data(), 1000) - sum) < 1e-9 * std::abs(sum));
        // Value and slopes in one pass.
        for (const std::int64_t n : {1, 37, 1000}) {
            std::vector<double> slopes(static_cast<std::size_t>(n)), descent(slopes);
            prior.slopes(many.data(), n, slopes.data());
            const double value = prior.descent(many.data(), n, descent.data()), other = prior.log_prob(many.data(), n);
            BOOST_TEST(std::abs(value - other) < 1e-12 * std::abs(other), prior.describe());
            for (std::size_t i = 0; i < slopes.size(); ++i) BOOST_TEST_REQUIRE(descent[i] == -slopes[i]);
        }
    }
}

BOOST_AUTO_TEST_CASE(a_draw_is_mu_plus_sigma_eps) {
    for (const std::int64_t n : {1, 5, 31, 32, 33, 64, 65, 1000, 40000}) {
        const Tensor<double> mu = normals({n}, 1), rho = normals({n}, 2);
        const Prior prior = GaussianPrior{0.5};
        Tape<double> tape;
        const auto draw = draw_weights(tape.variable(mu), tape.variable(rho), &prior, key, true);
        double log_q = 0, log_p = 0;
        for (std::int64_t i = 0; i < n; ++i) {
            const double sigma = std::log1p(std::exp(rho(i))), eps = normal_at(key, static_cast<std::uint64_t>(i));
            const double w = mu(i) + sigma * eps;
            BOOST_TEST_REQUIRE(std::abs(draw.weights.value()(i) - w) < 1e-14 * (1 + std::abs(w)));
            log_q += normal_log(sigma * eps, sigma);
            log_p += normal_log(w, 0.5);
        }
        BOOST_TEST(std::abs(draw.log_q_log_p.value()(0) - log_q) < 1e-11 * std::abs(log_q) + 1e-12);
        BOOST_TEST(std::abs(draw.log_q_log_p.value()(1) - log_p) < 1e-11 * std::abs(log_p));
    }
}

BOOST_AUTO_TEST_CASE(gradients_of_draws) {
    for (const auto& [prior, log_prob] : priors()) {
        const Prior& p = prior;
        const auto f = [&](std::span<const Var<double>> x) {
            const auto draw = draw_weights(x[0], x[1], &p, key, true);
            return sum(square(draw.weights) * 0.3) + sum(draw.log_q_log_p * Tensor<double>{0.7, -0.4});
        };
        // Away from the Laplace prior's kink and from the narrow part of the mixture, where differences are too coarse.
        const GradcheckResult result = gradcheck(f, {uniforms({3, 5}, 0.5, 1.5), uniforms({3, 5}, -5, -3)});
        BOOST_TEST(result.ok, prior.describe() << ": " << result.message);
        const auto only = [&](std::span<const Var<double>> x) {
            return sum(draw_weights(x[0], x[1], &p, key, true).log_q_log_p * Tensor<double>{1, -1});
        };
        const GradcheckResult alone = gradcheck(only, {uniforms({7}, 0.5, 1.5), uniforms({7}, -5, -3)});
        BOOST_TEST(alone.ok, prior.describe() << " without the weights: " << alone.message);
    }
    const auto closed = [](std::span<const Var<double>> x) {
        return sum(expected_log_q_log_p(x[0], x[1], 0.7, true) * Tensor<double>{0.7, -0.4});
    };
    const GradcheckResult result = gradcheck(closed, {normals({3, 5}, 1), normals({3, 5}, 2)});
    BOOST_TEST(result.ok, result.message);
}

// KL[N(mu, sigma^2) || N(0, s^2)] = log(s / sigma) + (sigma^2 + mu^2) / (2 s^2) - 1/2, and its estimate over 10^4 draws
// within 4.5 standard errors: a false alarm once in 150,000 seeds.
BOOST_AUTO_TEST_CASE(closed_forms_equal_monte_carlo) {
    const double m = 0.3, sigma = 0.2, s = 0.5;
    const double rho = std::log(std::expm1(sigma));
    const double kl = std::log(s / sigma) + (sigma * sigma + m * m) / (2 * s * s) - 0.5;
    Tape<double> tape;
    const auto pair =
        expected_log_q_log_p(tape.constant(Tensor<double>{m}), tape.constant(Tensor<double>{rho}), s, true).value();
    BOOST_TEST(std::abs(pair(0) - pair(1) - kl) < 1e-13);
    const Prior prior = GaussianPrior{s};
    double sum = 0, squares = 0;
    const int draws = 10000;
    const Tensor<double> mus{m}, rhos{rho};
    for (int k = 0; k < draws; ++k) {
        tape.clear();
        const auto drawn = draw_weights(tape.constant(mus), tape.constant(rhos), &prior,
                                        {.seed = 1, .step = static_cast<std::uint64_t>(k)}, true);
        const double x = drawn.log_q_log_p.value()(0) - drawn.log_q_log_p.value()(1);
        sum += x;
        squares += x * x;
    }
    const double mean = sum / draws, error = std::sqrt((squares / draws - mean * mean) / draws);
    BOOST_TEST(std::abs(mean - kl) < 4.5 * error);
}

// rho at +-100, sigma at 1e-30, weights at 1e4, a mixture of sd 1 and e^-8: numbers, and gradients that are numbers.
BOOST_AUTO_TEST_CASE(no_nan_at_the_ends) {
    for (const Prior& prior : {Prior(ScaleMixturePrior{0.5, 1, std::exp(-8.0)}), Prior(GaussianPrior{1}),
                               Prior(StudentTPrior{}), Prior(LaplacePrior{})}) {
        const Tensor<float> mu{0, 0, 0, 1e4f, -1e4f, 1e-30f}, rho{-100, 100, -69, -100, 100, -69};
        Tape<float> tape;
        const auto m = tape.variable(mu), r = tape.variable(rho);
        const auto draw = draw_weights(m, r, &prior, key, true);
        tape.backward(sum(draw.weights) + sum(draw.log_q_log_p * Tensor<float>{1, -1}));
        for (const Tensor<float>& t : {draw.weights.value(), draw.log_q_log_p.value(), m.grad(), r.grad()})
            for (const float x : t) BOOST_TEST(std::isfinite(x), prior.describe());
        // sigma'/sigma is 1 where sigma is tiny: log q falls by 1 where rho rises by 1.
        BOOST_TEST(std::abs(r.grad()(0) + 1) < 1e-5);
    }
}

BOOST_AUTO_TEST_CASE(names_twins_and_means) {
    Sequential net{Dense(3, 4), Relu(), Residual(Dense(4, 4)), Dense(4, 2)};
    initialise(net, 1);
    Sequential<float> twin = bayesian(net, {.posterior = mean_field<float>(0.05)});
    std::vector<std::string> names;
    const Parameters<float> parameters(twin);
    for (const auto& entry : parameters.entries()) names.push_back(entry.name);
    BOOST_TEST(names ==
               (std::vector<std::string>{"0.weight.mu", "0.weight.rho", "0.bias.mu", "0.bias.rho", "2.body.weight.mu",
                                         "2.body.weight.rho", "2.body.bias.mu", "2.body.bias.rho", "3.weight.mu",
                                         "3.weight.rho", "3.bias.mu", "3.bias.rho"}));
    const Tensor<float> x = cast<float>(normals({5, 3}));
    // The trained weights are the means.
    BOOST_TEST((predict(twin, x) == predict(net, x)));
    BOOST_TEST((predict(*mean_network<float>(twin), x) == predict(net, x)));
    BOOST_TEST(std::abs(bayesian_weights<float>(twin)[0].weight->posterior->sd_value()(0, 0) - 0.05f) < 1e-6f);
    BOOST_TEST(bayesian_weights<float>(twin)[4].name == "3.weight");
    // A draw differs from the mean and is the same for the same draw; a copy has its own posterior.
    const PredictOptions first{.mode = Mode::sample, .seed = 1, .draw = 0},
        second{.mode = Mode::sample, .seed = 1, .draw = 1};
    BOOST_TEST(!(predict(twin, x, first) == predict(net, x)));
    BOOST_TEST(!(predict(twin, x, first) == predict(twin, x, second)));
    const Sequential<float> copy = twin;
    BOOST_TEST((predict(copy, x, first) == predict(twin, x, first)));
    initialise(twin, 9);
    BOOST_TEST((predict(copy, x) == predict(net, x)));
}

// From a posterior to a small network: the weights with the least signal go, the others stay what they are.
BOOST_AUTO_TEST_CASE(pruned_and_compressed) {
    Sequential net = bayesian(Sequential{Dense(40, 60), Relu(), Dense(60, 3)}, {.posterior = mean_field<float>(0.1)});
    initialise(net, 1);
    const auto pruned = prune(weight_posteriors<float>(net), {.fraction = 0.95});
    set_means(net, pruned);
    const Part<float> small(compress<float>(*mean_network<float>(net)));
    std::int64_t left = 0;
    for (const auto& tensor : pruned)
        if (tensor.pruned) left += tensor.left;
    BOOST_TEST(left == 129);  // 5 % of 40 x 60 + 60 x 3
    const Tensor<float> x = cast<float>(normals({7, 40}));
    BOOST_TEST(allclose(predict(*small, x), predict(net, x), 1e-5f, 1e-6f));
    BOOST_TEST(small->describe() == "Sequential(3 parts)");
    BOOST_TEST(error_of<ValueError>([&] { set_means<float>(net, {}); }) ==
               "set_means: there is nothing for the weights 0.weight");
}

BOOST_AUTO_TEST_CASE(errors) {
    BOOST_TEST(error_of<ValueError>([] { Prior p = GaussianPrior{-1}; }) ==
               "GaussianPrior(sd -1): sd must be positive and finite");
    BOOST_TEST(
        error_of<ValueError>([] { Prior p = ScaleMixturePrior{.pi = 1}; }).ends_with(": pi must be between 0 and 1"));
    BOOST_TEST(error_of<ValueError>([] { Bayes<float> b{Part<float>(Relu<float>())}; }) ==
               "Bayes: Relu has no parameters");
    BOOST_TEST(error_of<ValueError>([] {
                   Bayes<float> b(Part<float>(LayerNorm<float>(3)), {.estimator = Estimator::local});
               }) == "Bayes: the estimators local and flipout are for Dense and convolutions, not for LayerNorm(3)");
    BOOST_TEST(error_of<ValueError>([] {
                   BayesDense b(3, 2, {.posterior = point_mass<float>(), .estimator = Estimator::flipout});
               }) == "Bayes: the estimators local and flipout need mean_field posteriors, not PointMass");
    BOOST_TEST(error_of<ValueError>([] { mean_field<float>(0)(Parameter<float>{.shape = {2}}); }) ==
               "MeanField: initial_sd is 0; it must be positive");
    BayesDense<double> net(2, 1);
    auto likelihood = Gaussian<double>::known(1);
    const Dataset<double> data{normals({10, 2}), normals({10})};
    BOOST_TEST(
        error_of<ValueError>(
            [&] { pollen::train(net, likelihood, data, {.prior = GaussianPrior{1}, .show = Show::nothing}); }) ==
        "train: prior is GaussianPrior(sd 1), but the network has Bayesian layers, which have priors of their own");
}

BOOST_AUTO_TEST_SUITE_END()
