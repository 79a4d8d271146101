#include "../../samplers/minibatch/minibatch_checks.hpp"

#include <pollen/nn/distributions/multivariate_normal.hpp>
#include <pollen/nn/layers.hpp>
#include <pollen/nn/likelihoods.hpp>
#include <pollen/nn/potentials/network_potential.hpp>
#include <pollen/nn/prediction/predictive.hpp>
#include <pollen/nn/variational/last_layer_laplace.hpp>

#include <boost/math/constants/constants.hpp>

using namespace pollen;
using namespace pollen::test;

namespace {

std::size_t index_of(std::int64_t i) { return static_cast<std::size_t>(i); }

// Bayesian linear regression with a bias by its textbook formulas (Bishop 2006, Section 3.3), one output after the
// other: A = X'X / sd^2 + I / prior_sd^2, m = A^-1 X'y / sd^2.
struct LinearRegression {
    double sd = 0.7, prior_sd = 1.3;
    Tensor<double> x = normals({30, 3}, 1), y = normals({30, 2}, 2);

    double feature(std::int64_t i, std::int64_t k) const { return k < 3 ? x(i, k) : 1; }
    Matrix covariance() const {
        Matrix a = matrix(4, 1 / (prior_sd * prior_sd));
        for (std::int64_t i = 0; i < 30; ++i)
            for (std::int64_t k = 0; k < 4; ++k)
                for (std::int64_t l = 0; l < 4; ++l)
                    a[index_of(k)][index_of(l)] += feature(i, k) * feature(i, l) / (sd * sd);
        return inverse(a);
    }
    double mean(std::int64_t output, std::int64_t k) const {
        const Matrix s = covariance();
        double m = 0;
        for (std::int64_t i = 0; i < 30; ++i)
            for (std::int64_t l = 0; l < 4; ++l)
                m += s[index_of(k)][index_of(l)] * feature(i, l) * y(i, output) / (sd * sd);
        return m;
    }
    // log N(y; 0, sd^2 I + prior_sd^2 X X') of both outputs
    double log_evidence() const {
        Tensor<double> c = Tensor<double>::zeros({30, 30});
        for (std::int64_t i = 0; i < 30; ++i)
            for (std::int64_t j = 0; j < 30; ++j) {
                for (std::int64_t k = 0; k < 4; ++k)
                    c.mutable_at(i, j) += prior_sd * prior_sd * feature(i, k) * feature(j, k);
                if (i == j) c.mutable_at(i, j) += sd * sd;
            }
        const Tensor<double> root = value<double>([](auto s) { return cholesky(s); }, c);
        const distributions::MultivariateNormal<double> law(Tensor<double>::zeros({30}), root);
        double log_prob = 0;
        for (std::int64_t j = 0; j < 2; ++j) {
            Tensor<double> of_output = Tensor<double>::zeros({30});
            for (std::int64_t i = 0; i < 30; ++i) of_output.mutable_at(i) = y(i, j);
            log_prob += law.log_prob_each(of_output).item();
        }
        return log_prob;
    }
    // A network that is this model, at the mode.
    Sequential<double> net() const {
        Sequential<double> net{Dense<double>(3, 2)};
        auto& dense = dynamic_cast<Dense<double>&>(net[0]);
        dense.weight.value = Tensor<double>::zeros({2, 3});
        dense.bias.value = Tensor<double>::zeros({2});
        for (std::int64_t j = 0; j < 2; ++j) {
            for (std::int64_t k = 0; k < 3; ++k) dense.weight.value.mutable_at(j, k) = mean(j, k);
            dense.bias.value.mutable_at(j) = mean(j, 3);
        }
        return net;
    }
    Dataset<double> data() const { return {.inputs = x, .targets = y}; }
    LastLayerLaplace<double> laplace(std::optional<double> prior) const {
        return {net(), Gaussian<double>::known(sd), data(), {.prior_sd = prior}};
    }
};

// A network for three classes, and data.
struct Classes {
    Sequential<double> net{Dense<double>(2, 4), Tanh<double>(), Dense<double>(4, 3)};
    Dataset<double> data{.inputs = normals({40, 2}, 3), .labels = Indices::zeros({40})};

    Classes() {
        initialise(net, 1);
        for (std::int64_t i = 0; i < 40; ++i)
            data.labels.mutable_data()[i] = data.inputs(i, 0) > 0.3 ? 0 : data.inputs(i, 1) > 0 ? 1 : 2;
    }
    // The covariance of the last layer by differences of the gradient of U; for weights that are linear in the outputs
    // the generalised Gauss-Newton matrix is the curvature. Weights first, then biases.
    Matrix covariance(double prior_sd) {
        NetworkPotential<double> potential(net, Categorical<double>(), data, {.prior = GaussianPrior{prior_sd}});
        const std::vector<double> theta = potential.start();
        const std::size_t first = 2 * 4 + 4;
        Matrix curvature = matrix(15);
        for (std::size_t k = 0; k < 15; ++k) {
            std::vector<double> up = theta, down = theta, g_up(theta.size()), g_down(theta.size());
            up[first + k] += 1e-5;
            down[first + k] -= 1e-5;
            potential.evaluate(up, g_up);
            potential.evaluate(down, g_down);
            for (std::size_t l = 0; l < 15; ++l) curvature[k][l] = (g_up[first + l] - g_down[first + l]) / 2e-5;
        }
        return inverse(curvature);
    }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(last_layer_laplace)

BOOST_AUTO_TEST_CASE(linear_regression_is_exact) {
    const LinearRegression model;
    const Matrix s = model.covariance();
    const Tensor<double> x = normals({5, 3}, 9);
    const LastLayerLaplace<double> laplace = model.laplace(model.prior_sd);
    const LaplaceNumbers<double> p = laplace.predict_numbers(x);
    const auto close = boost::test_tools::tolerance(1e-12);
    for (std::int64_t i = 0; i < 5; ++i) {
        const std::vector<double> phi{x(i, 0), x(i, 1), x(i, 2), 1};
        double variance = 0;
        for (std::size_t k = 0; k < 4; ++k)
            for (std::size_t l = 0; l < 4; ++l) variance += phi[k] * s[k][l] * phi[l];
        for (std::int64_t j = 0; j < 2; ++j) {
            double mean = 0;
            for (std::int64_t k = 0; k < 4; ++k) mean += phi[index_of(k)] * model.mean(j, k);
            BOOST_TEST(p.mean(i, j) == mean, close);
            BOOST_TEST(p.epistemic(i, j) == variance, close);
            BOOST_TEST(p.sd(i, j) == std::sqrt(variance + 0.49), close);
        }
    }
    BOOST_TEST(laplace.prior_sd() == 1.3, close);
    BOOST_TEST(laplace.log_evidence() == model.log_evidence(), close);
    // Twice the prior is another model: the check above would see it.
    BOOST_TEST(std::abs(model.laplace(2.6).log_evidence() - model.log_evidence()) > 0.1);
}

// The precision t of greatest evidence, with w* as it is: the evidence is lower on both sides, and t |w*|^2 = gamma.
BOOST_AUTO_TEST_CASE(prior_by_the_evidence) {
    const LinearRegression model;
    const LastLayerLaplace<double> best = model.laplace({});
    for (const double factor : {0.5, 0.999, 1.001, 2.0})
        BOOST_TEST(model.laplace(factor * best.prior_sd()).log_evidence() < best.log_evidence());
    BOOST_TEST(model.laplace(best.prior_sd()).log_evidence() == best.log_evidence(),
               boost::test_tools::tolerance(1e-14));
    LinearRegression other = model;
    other.prior_sd = best.prior_sd();
    double squares = 0, trace = 0;
    for (std::int64_t k = 0; k < 4; ++k) {
        trace += 2 * other.covariance()[index_of(k)][index_of(k)];
        for (std::int64_t j = 0; j < 2; ++j) squares += model.mean(j, k) * model.mean(j, k);
    }
    const double precision = 1 / (best.prior_sd() * best.prior_sd());
    BOOST_TEST(precision * squares == 8 - precision * trace, boost::test_tools::tolerance(1e-9));

    const Classes classes;
    const LastLayerLaplace<double> found(classes.net, Categorical<double>(), classes.data);
    for (const double factor : {0.999, 1.001})
        BOOST_TEST(LastLayerLaplace<double>(classes.net, Categorical<double>(), classes.data,
                                            {.prior_sd = factor * found.prior_sd()})
                       .log_evidence() < found.log_evidence());
}

// Central differences have errors of 1e-9 here.
BOOST_AUTO_TEST_CASE(classes_by_the_probit_approximation) {
    Classes classes;
    const double prior_sd = 0.8;
    const Matrix s = classes.covariance(prior_sd);
    const LastLayerLaplace<double> laplace(classes.net, Categorical<double>(), classes.data, {.prior_sd = prior_sd});
    const Tensor<double> x = normals({6, 2}, 5), p = laplace.probabilities(x), f = predict(classes.net, x);
    Sequential<double> body;
    body.add(classes.net[0].clone()).add(classes.net[1].clone());
    const Tensor<double> phi = predict(body, x);
    for (std::int64_t i = 0; i < 6; ++i) {
        std::vector<double> scaled(3);
        double total = 0;
        for (std::size_t c = 0; c < 3; ++c) {
            const auto at = [&](std::size_t k) { return k < 4 ? 4 * c + k : 12 + c; };
            const auto feature = [&](std::size_t k) { return k < 4 ? phi(i, static_cast<std::int64_t>(k)) : 1; };
            double variance = 0;
            for (std::size_t k = 0; k < 5; ++k)
                for (std::size_t m = 0; m < 5; ++m) variance += feature(k) * s[at(k)][at(m)] * feature(m);
            scaled[c] = std::exp(f(i, static_cast<std::int64_t>(c)) /
                                 std::sqrt(1 + boost::math::constants::pi<double>() * variance / 8));
            total += scaled[c];
        }
        for (std::size_t c = 0; c < 3; ++c)
            BOOST_TEST(p(i, static_cast<std::int64_t>(c)) == scaled[c] / total, boost::test_tools::tolerance(1e-7));
    }
}

// 20,000 draws against the covariance A^-1. A transpose that is forgotten, w = L^-1 z, gives L^-1 L'^-1 instead. |z| >
// 5 comes once in 1.7 million times, and there are 120 numbers.
BOOST_AUTO_TEST_CASE(law_of_the_draws) {
    Classes classes;
    const Matrix s = classes.covariance(0.8);
    const LastLayerLaplace<double> laplace(classes.net, Categorical<double>(), classes.data, {.prior_sd = 0.8});
    const Tensor<double> theta = Parameters<double>(classes.net).flatten();
    const std::size_t draws = 20000, first = 12;
    Matrix products = matrix(15);
    for (std::size_t n = 0; n < draws; ++n) {
        const Tensor<double> drawn = laplace.draw(test_seed(2), n);
        for (std::size_t k = 0; k < 15; ++k)
            for (std::size_t l = 0; l <= k; ++l)
                products[k][l] += (drawn.values()[first + k] - theta.values()[first + k]) *
                                  (drawn.values()[first + l] - theta.values()[first + l]) / static_cast<double>(draws);
        if (n == 0) BOOST_TEST(std::ranges::equal(drawn.values().first(first), theta.values().first(first)));
    }
    const auto worst = [&](const Matrix& law) {
        double most = 0;
        for (std::size_t k = 0; k < 15; ++k)
            for (std::size_t l = 0; l <= k; ++l) {
                const double error =
                    std::sqrt((law[k][k] * law[l][l] + law[k][l] * law[k][l]) / static_cast<double>(draws));
                most = std::max(most, std::abs(products[k][l] - law[k][l]) / error);
            }
        return most;
    };
    BOOST_TEST(worst(s) < 5);
    // A = L L' class after class, each with its bias, as the library orders them.
    const auto place = [](std::size_t k) { return k % 5 < 4 ? 4 * (k / 5) + k % 5 : 12 + k / 5; };
    Tensor<double> a = Tensor<double>::zeros({15, 15});
    const Matrix precision = inverse(s);
    for (std::int64_t k = 0; k < 15; ++k)
        for (std::int64_t l = 0; l < 15; ++l) a.mutable_at(k, l) = precision[place(index_of(k))][place(index_of(l))];
    const Tensor<double> root = value<double>([](auto c) { return cholesky(c); }, a);
    Matrix product = matrix(15);  // L' L
    for (std::int64_t k = 0; k < 15; ++k)
        for (std::int64_t l = 0; l < 15; ++l)
            for (std::int64_t m = 0; m < 15; ++m)
                product[place(index_of(k))][place(index_of(l))] += root(m, k) * root(m, l);
    BOOST_TEST(worst(inverse(product)) > 6);
    BOOST_TEST(laplace.draws(2, 7, 3)[1].values()[20] == laplace.draw(7, 4).values()[20]);
}

// The average over draws, and MacKay's approximation of it, agree within a few hundredths.
BOOST_AUTO_TEST_CASE(draws_predict_the_same) {
    const Classes classes;
    const LastLayerLaplace<double> laplace(classes.net, Categorical<double>(), classes.data);
    const Tensor<double> x = normals({20, 2}, 5), probit = laplace.probabilities(x);
    const Tensor<double> drawn = predict_thetas<double>(classes.net, laplace.draws(2000, 1), x).probabilities();
    for (std::int64_t k = 0; k < probit.size(); ++k) BOOST_TEST(std::abs(probit.data()[k] - drawn.data()[k]) < 0.05);
}

// More items than are added up at once, floats, and no bias.
BOOST_AUTO_TEST_CASE(threads) {
    Sequential net{Dense(3, 20), Relu(), Dense(20, 2, {.bias = false})};
    initialise(net, 1);
    const Tensor<float> x = cast<float>(normals({2500, 3}, 1)), y = cast<float>(normals({2500, 2}, 2));
    std::optional<LaplaceNumbers<float>> first;
    for (const int count : {1, 2, 4})
        with_threads(count, [&] {
            const LastLayerLaplace<float> laplace(net, Gaussian<float>::learned(0.5), {.inputs = x, .targets = y});
            const LaplaceNumbers<float> now = laplace.predict_numbers(x);
            if (!first) first = now;
            BOOST_TEST((now.mean == first->mean));
            BOOST_TEST((now.sd == first->sd));
        });
}

BOOST_AUTO_TEST_CASE(errors) {
    const LinearRegression model;
    const auto gaussian = Gaussian<double>::known(1);
    const auto laplace = [&](const Sequential<double>& net, LaplaceOptions options = {}) {
        return error_of<ValueError>([&] { LastLayerLaplace<double>(net, gaussian, model.data(), options); });
    };
    BOOST_TEST(laplace(Sequential<double>{}) == "LastLayerLaplace: the network has no parts");
    BOOST_TEST(laplace(Sequential<double>{Dense<double>(3, 2), Relu<double>()}) ==
               "LastLayerLaplace: the last part of the network is Relu; a Dense layer is needed");
    BOOST_TEST(laplace(Sequential<double>{Dense<double>(3, 2)}) ==
               "parameter 0.weight (2, 3) has no value yet: call initialise(), load() or train() first");
    BOOST_TEST(laplace(model.net(), {.prior_sd = 0}) ==
               "LastLayerLaplace: prior_sd is 0; a finite number above 0 is needed");
    Sequential<double> zero{Dense<double>(3, 2)};
    for (auto* p : {&dynamic_cast<Dense<double>&>(zero[0]).weight, &dynamic_cast<Dense<double>&>(zero[0]).bias})
        p->value = Tensor<double>::zeros(p->shape);
    BOOST_TEST(laplace(zero) ==
               "LastLayerLaplace: no prior_sd has the greatest evidence, because the weights of the last layer or its "
               "inputs are all 0, or nearly so; give a prior_sd");
    BOOST_TEST(error_of<ValueError>([&] {
                   LastLayerLaplace<double>(model.net(), Gaussian<double>::predicted(), model.data());
               }) == "Gaussian: the noise is predicted for each item; there is not one sd for all");
    BOOST_TEST(error_of<ShapeError>([&] { LastLayerLaplace<double>(model.net(), gaussian, {.inputs = model.x}); }) ==
               "Gaussian: outputs have shape (30, 2) and there are no targets; targets of shape (30, 2) are needed");
    BOOST_TEST(error_of<ShapeError>([&] {
                   LastLayerLaplace<double>(model.net(), gaussian, {.inputs = Tensor<double>::zeros({0, 3})});
               }) == "LastLayerLaplace: there are no data");
    BOOST_TEST(error_of<ValueError>([&] { model.laplace(1).probabilities(model.x); }) ==
               "LastLayerLaplace: probabilities() needs a Categorical likelihood, not Gaussian");
    BOOST_TEST(error_of<ValueError>([&] { model.laplace(1).draws(0, 1); }) ==
               "LastLayerLaplace: 0 draws; at least 1 is needed");
    const Classes classes;
    const LastLayerLaplace<double> of_classes(classes.net, Categorical<double>(), classes.data, {.prior_sd = 1});
    BOOST_TEST(error_of<ValueError>([&] { of_classes.predict_numbers(model.x); }) ==
               "LastLayerLaplace: predict_numbers() needs a Gaussian likelihood, not Categorical");
}

BOOST_AUTO_TEST_SUITE_END()
