#include "checks.hpp"

#include <pollen/nn/distributions/multivariate_normal.hpp>
#include <pollen/nn/distributions/normal.hpp>

using namespace pollen;
using namespace pollen::test;
using pollen::distributions::MultivariateNormal;

namespace {

// What stands above the diagonal is not read.
const Tensor<double> factor{{2, NAN, 9}, {0.5, 1.5, NAN}, {-1, 0.25, 0.75}};
const Tensor<double> centre{1, -2, 0.5};
const Tensor<double> other{{1, 0, 0}, {0.2, 2, 0}, {0.5, -0.5, 1.25}};

Tensor<double> lower(std::int64_t d, std::uint64_t seed) {
    Tensor<double> l = normals({d, d}, seed);
    for (std::int64_t i = 0; i < d; ++i) l.mutable_at(i, i) = 1.5 + 0.25 * std::abs(l(i, i));
    return l;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(multivariate_normal_distribution)

// The values are mpmath's.
BOOST_AUTO_TEST_CASE(values) {
    const MultivariateNormal<double> law(centre, factor);
    check_close(law.log_prob_each({{0.3, -1, 2}, {10, 20, -30}}),
                Tensor<double>{-4.7450760627439272, -863.04151124792911}, 100);
    BOOST_TEST((law.mean() == centre));
    const Tensor<double> covariance{{4, 1, -2}, {1, 2.5, -0.125}, {-2, -0.125, 1.625}};
    BOOST_TEST((law.covariance() == covariance));
    BOOST_TEST((law.variance() == Tensor<double>{4, 2.5, 1.625}));
    // One dimension is the normal law.
    const Tensor<double> x = normals({5, 1});
    Tape<double> tape;
    BOOST_TEST(multi_normal_cholesky_lpdf(tape.variable(x), 0.5, Tensor<double>::full({1, 1}, 2)).item() ==
                   normal_lpdf(tape.variable(x), 0.5, 2).item(),
               boost::test_tools::tolerance(1e-14));
}

BOOST_AUTO_TEST_CASE(gradients) {
    const auto f = [](auto x, auto m, auto l) { return multi_normal_cholesky_lpdf(x, m, l); };
    check_gradients(f, normals({3}, 1), normals({3}, 2), lower(3, 3));
    check_gradients(f, normals({5, 3}, 1), normals({3}, 2), lower(3, 3));
    check_gradients(f, normals({3}, 1), normals({2, 4, 3}, 2), lower(3, 3));
    check_gradients(f, normals({2, 1, 4}, 1), normals({5, 1}, 2), lower(4, 3));
    check_pathwise(
        [](auto m, auto l) {
            return MultivariateNormal(m, l).rsample({5, 3}, {.seed = 1});
        },
        normals({3}, 2), lower(3, 3));
    check_gradients(
        [](auto m, auto l, auto n, auto k) { return kl(MultivariateNormal(m, l), MultivariateNormal(n, k)); },
        normals({2, 3}, 1), lower(3, 2), normals({3}, 3), lower(3, 4));
}

// Each coordinate of L^-1 (x - mean) is standard normal: Kolmogorov and Smirnov's distance over 300 000 numbers, false
// alarm 1.3e-4.
BOOST_AUTO_TEST_CASE(draws) {
    const MultivariateNormal<double> law(centre, factor);
    const std::int64_t n = 100'000;
    const Tensor<double> x = law.sample({n, 3}, {.seed = 1});
    std::vector<double> z;
    for (std::int64_t i = 0; i < n; ++i) {
        const double a = (x(i, 0) - 1) / 2, b = (x(i, 1) + 2 - 0.5 * a) / 1.5;
        z.insert(z.end(), {a, b, (x(i, 2) - 0.5 + a - 0.25 * b) / 0.75});
    }
    std::sort(z.begin(), z.end());
    double distance = 0;
    for (std::size_t i = 0; i < z.size(); ++i)
        distance = std::max(distance, std::abs(0.5 * std::erfc(-z[i] / std::sqrt(2.0)) -
                                               (static_cast<double>(i) + 0.5) / static_cast<double>(z.size())));
    BOOST_TEST(distance * std::sqrt(static_cast<double>(z.size())) < 2.2);

    Tape<double> tape;
    const Var<double> m = tape.variable(centre);
    const double closed =
        kl(MultivariateNormal(m, factor), MultivariateNormal<double>(Tensor<double>{0, -1, 1}, other)).item();
    BOOST_TEST(closed == 3.661860515657826, boost::test_tools::tolerance(1e-13));  // NumPy's
    Tensor<double> ratio = law.log_prob_each(x);
    const Tensor<double> q = MultivariateNormal<double>(Tensor<double>{0, -1, 1}, other).log_prob_each(x);
    for (std::int64_t i = 0; i < n; ++i) ratio.mutable_data()[i] -= q.data()[i];
    const Estimate monte_carlo = estimate(ratio);
    BOOST_TEST(std::abs(closed - monte_carlo.mean) < 4.5 * monte_carlo.error);
}

BOOST_AUTO_TEST_CASE(errors) {
    BOOST_TEST(error_of<ShapeError>([] {
                   MultivariateNormal<double>(0, normals({2, 3}));
               }) == "MultivariateNormal: cholesky has shape (2, 3); a square matrix is needed");
    BOOST_TEST(error_of<ValueError>([] {
                   MultivariateNormal<double>(0, Tensor<double>{{1, 0}, {0, -1}});
               }) == "MultivariateNormal: the diagonal of cholesky is -1 at row 1; it must be positive");
    BOOST_TEST(error_of<ShapeError>([] {
                   MultivariateNormal<double>(Tensor<double>{1, 2}, other);
               }) == "MultivariateNormal: mean has shape (2), cholesky (3, 3); the last axis of the mean must be 3");
    const MultivariateNormal<double> law(0, other);
    BOOST_TEST(error_of<ShapeError>([&] {
                   law.log_prob_each({1, 2});
               }) == "MultivariateNormal: x has shape (2), cholesky (3, 3); the last axis of x must be 3");
    BOOST_TEST(error_of<ShapeError>([&] { law.sample({4}, {}); }) ==
               "MultivariateNormal: draws of shape (4) were asked for; the last axis must be 3");
}

BOOST_AUTO_TEST_SUITE_END()
