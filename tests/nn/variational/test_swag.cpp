#include "../../samplers/minibatch/minibatch_checks.hpp"

#include <pollen/nn/layers.hpp>
#include <pollen/nn/likelihoods.hpp>
#include <pollen/nn/prediction/predictive.hpp>
#include <pollen/nn/training/train.hpp>
#include <pollen/nn/variational/swag.hpp>
#include <pollen/samplers/minibatch/constant_sgd.hpp>

using namespace pollen;
using namespace pollen::test;

BOOST_AUTO_TEST_SUITE(swag)

// The definition in plain loops, with more points than columns.
BOOST_AUTO_TEST_CASE(definition) {
    const std::int64_t n = 7, rank = 3;
    const Tensor<double> points = normals({n, 2}, 4);
    Swag<double> swag(rank);
    for (std::int64_t i = 0; i < n; ++i) swag.collect(points.values().subspan(static_cast<std::size_t>(2 * i), 2));
    BOOST_TEST(swag.collected() == n);
    const RandomKey key{5, stream_of(Purpose::predicted_weights), 8};
    const Tensor<double> drawn = swag.draw(5, 8);
    for (std::int64_t j = 0; j < 2; ++j) {
        double sum = 0, squares = 0, along = 0;
        for (std::int64_t i = 0; i < n; ++i) {
            sum += points(i, j);
            squares += points(i, j) * points(i, j);
            // Point i is in column i mod 3, and the noise of the columns follows that of the two numbers.
            if (i >= n - rank)
                along += (points(i, j) - sum / static_cast<double>(i + 1)) *
                         normal_at(key, static_cast<std::uint64_t>(2 + i % rank));
        }
        const double mean = sum / 7, variance = squares / 7 - mean * mean;
        const double z = normal_at(key, static_cast<std::uint64_t>(j));
        BOOST_TEST(swag.mean()(j) == mean, boost::test_tools::tolerance(1e-14));
        BOOST_TEST(swag.variance()(j) == variance, boost::test_tools::tolerance(1e-13));
        BOOST_TEST(drawn(j) == mean + std::sqrt(variance / 2) * z + along / std::sqrt(2 * (3.0 - 1)),
                   boost::test_tools::tolerance(1e-13));
    }
    BOOST_TEST((swag.draws(3, 5, 7)[1] == drawn));
}

// SGD at a constant rate on a quadratic, whose law N(m, S) is known (test_constant_sgd.cpp). All of 2,000 points, far
// apart, are columns. So q has the mean m, the variances S_ii / 2 + S_ii / 2 and the covariances S_ij / 2. The points
// and the 20,000 draws have errors of their own: a variance has sqrt(2 / n), a covariance at most that. |z| > 5 comes
// once in 1.7 million times, and there are 65 numbers.
BOOST_AUTO_TEST_CASE(law_on_a_quadratic) {
    const Matrix l = ten_dimensions();
    const NoisyGaussian<double> potential(l, 0.5);
    const Matrix v = potential.noise(5), e = matrix(10, 4 * 10 / trace(v));
    const Matrix s = lyapunov(sum(matrix(10, 1), times(e, l), -0.5), times_transposed(times(e, v), e, 0.25));
    const auto chain = ConstantSgd{.batch = 5,
                                   .noise =
                                       [&] {
                                           std::vector<double> flat;
                                           for (const auto& row : v) flat.insert(flat.end(), row.begin(), row.end());
                                           return flat;
                                       }()}
                           .begin(potential.clone(), ChainStart<double>{std::vector<double>(10, 0.5), test_seed(5)});
    Swag<double> swag(2000);
    for (int t = 0; t < 1000; ++t) chain->step();
    for (int t = 0; t < 2000; ++t) {
        for (int k = 0; k < 30; ++k) chain->step();
        swag.collect(chain->position());
    }
    const std::int64_t draws = 20000;
    std::vector<double> mean(10);
    Matrix products = matrix(10);
    for (std::int64_t k = 0; k < draws; ++k) {
        const Tensor<double> theta = swag.draw(test_seed(6), static_cast<std::uint64_t>(k));
        for (std::int64_t i = 0; i < 10; ++i) {
            const auto a = static_cast<std::size_t>(i);
            mean[a] += theta(i) / static_cast<double>(draws);
            for (std::int64_t j = 0; j <= i; ++j)
                products[a][static_cast<std::size_t>(j)] +=
                    (theta(i) - 0.5) * (theta(j) - 0.5) / static_cast<double>(draws);
        }
    }
    // How far the second moments are from those of a law that is diagonal * S on the diagonal and beside * S elsewhere.
    const auto worst = [&](double diagonal, double beside) {
        double most = 0;
        for (std::size_t i = 0; i < 10; ++i)
            for (std::size_t j = 0; j <= i; ++j) {
                const double error = std::sqrt(2 * s[i][i] * s[j][j] * (1 / 2000.0 + 1.0 / static_cast<double>(draws)));
                most = std::max(most, std::abs(products[i][j] - (i == j ? diagonal : beside) * s[i][j]) / error);
            }
        return most;
    };
    BOOST_TEST(worst(1, 0.5) < 5);
    BOOST_TEST(worst(1, 1) > 6);      // the law of the path itself
    BOOST_TEST(worst(1.5, 0.5) > 6);  // the diagonal not halved
    BOOST_TEST(worst(1.5, 1) > 6);    // nor the columns
    BOOST_TEST(worst(0.5, 0.5) > 6);  // only the columns
    for (std::size_t i = 0; i < 10; ++i) BOOST_TEST(std::abs(mean[i] - 0.5) < 5 * std::sqrt(s[i][i] / 1000));
}

// As the header shows it: points of a training run, at the end of each epoch, and a mixture of two.
BOOST_AUTO_TEST_CASE(with_train) {
    const Tensor<float> x = cast<float>(normals({64, 1}, 1));
    const Dataset<float> data{.inputs = x, .targets = x};
    std::vector<Tensor<float>> draws;
    for (const std::uint64_t seed : {1u, 2u}) {
        Sequential net{Dense(1, 1)};
        auto likelihood = Gaussian<float>::known(1);
        Swag<float> swag;
        double sum = 0;
        train(net, likelihood, data,
              {.epochs = 10,
               .batch = 8,
               .optimiser = Sgd{.rate = 0.05},
               .seed = seed,
               .show = Show::nothing,
               .on_epoch = [&](const EpochRecord&) {
                   const Tensor<float> theta = Parameters<float>(net).flatten();
                   sum += static_cast<double>(theta(0));
                   swag.collect(theta.values());
                   return true;
               }});
        BOOST_TEST(swag.collected() == 10);
        BOOST_TEST(static_cast<double>(swag.mean()(0)) == sum / 10, boost::test_tools::tolerance(1e-6));
        for (const Tensor<float>& theta : swag.draws(50, seed)) draws.push_back(theta);
    }
    const Sequential net{Dense(1, 1)};
    PredictiveNumbers<float> both;
    each_theta<float>(net, draws, x, {}, [&](const Tensor<float>& y) { both.add(y, 1.0); });
    BOOST_TEST(both.draws() == 100);
    for (std::int64_t i = 0; i < 64; ++i) BOOST_TEST(std::abs(both.mean()(i, 0) - x(i, 0)) < 0.3);
}

BOOST_AUTO_TEST_CASE(threads) {
    const Tensor<float> points = cast<float>(normals({3, 10001}, 4));
    Swag<float> swag;
    for (std::size_t i = 0; i < 3; ++i) swag.collect(points.values().subspan(10001 * i, 10001));
    const Tensor<float> here = swag.draw(1, 2);
    for (const int count : {1, 2, 4}) with_threads(count, [&] { BOOST_TEST((swag.draw(1, 2) == here)); });
}

BOOST_AUTO_TEST_CASE(errors) {
    Swag<double> swag;
    const auto collect = [&](std::vector<double> theta) { swag.collect(theta); };
    BOOST_TEST(error_of<ValueError>([] { Swag<double>(1); }) == "Swag: rank is 1; at least 2 is needed");
    BOOST_TEST(error_of<ValueError>([&] { swag.mean(); }) == "Swag: mean() of no points; collect() at least one first");
    BOOST_TEST(error_of<ValueError>([&] { swag.variance(); }) ==
               "Swag: variance() of no points; collect() at least one first");
    BOOST_TEST(error_of<ValueError>([&] { swag.draw(1, 0); }) ==
               "Swag: a draw needs at least 2 points; 0 were collected");
    BOOST_TEST(error_of<ShapeError>([&] { collect({}); }) == "Swag: theta is empty");
    collect({1, 2});
    BOOST_TEST(error_of<ValueError>([&] { swag.draw(1, 0); }) ==
               "Swag: a draw needs at least 2 points; 1 were collected");
    BOOST_TEST(error_of<ShapeError>([&] { collect({1}); }) == "Swag: theta has 1 numbers; the points before it have 2");
    BOOST_TEST(error_of<ValueError>([&] { collect({1, NAN}); }) == "Swag: number 1 of theta is nan; it must be finite");
    BOOST_TEST(swag.collected() == 1);
    BOOST_TEST(error_of<ValueError>([&] { swag.draws(0, 1); }) == "Swag: 0 draws; at least 1 is needed");
}

BOOST_AUTO_TEST_SUITE_END()
