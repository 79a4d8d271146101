#include <pollen/samplers/adaptation/metric.hpp>
#include <pollen/samplers/detail/dot.hpp>

#include "../full_batch/full_batch_checks.hpp"

using namespace pollen;
using namespace pollen::test;

BOOST_AUTO_TEST_SUITE(metric)

const std::vector<double> matrix{4, 1, 0.5, 1, 3, -1, 0.5, -1, 2};

// From the same normals, draw_velocity is M^-1 times draw_momentum, and p' M^-1 p = v' M v = z' z.
template <Real T>
void check_draws(MetricKind kind, const std::vector<double>& inverse, double tolerance) {
    Metric<T> m(kind, 3);
    if (!inverse.empty()) m.set_inverse(inverse, "test");
    std::vector<T> z(3), p(3), v(3), v2(3), scratch(3);
    Random a(1), b(1), c(1);
    a.fill_normal(z);
    m.draw_momentum(b, p);
    m.draw_velocity(c, v);
    m.velocity(p.data(), v2.data());
    double length = 0;
    for (std::size_t k = 0; k < 3; ++k) {
        BOOST_TEST(std::abs(v[k] - v2[k]) < tolerance);
        length += static_cast<double>(z[k]) * static_cast<double>(z[k]);
    }
    BOOST_TEST(std::abs(m.kinetic(p.data(), v.data()) - length / 2) < tolerance);
    BOOST_TEST(std::abs(m.squared_length(v.data(), scratch) - length) < tolerance);

    // The two halves of a leapfrog step.
    const std::vector<T> g{T(0.1), T(-2), T(1)};
    std::vector<T> q{1, 2, 3}, q0 = q, p0 = p;
    m.open(T(0.25), T(0.5), g.data(), p.data(), q.data(), v.data());
    for (std::size_t k = 0; k < 3; ++k) BOOST_TEST(std::abs(p[k] - (p0[k] - T(0.25) * g[k])) < tolerance);
    m.velocity(p.data(), v.data());
    for (std::size_t k = 0; k < 3; ++k) BOOST_TEST(std::abs(q[k] - (q0[k] + T(0.5) * v[k])) < tolerance);
    p0 = p;
    const double kinetic = m.close(T(0.25), g.data(), p.data(), v.data());
    for (std::size_t k = 0; k < 3; ++k) BOOST_TEST(std::abs(p[k] - (p0[k] - T(0.25) * g[k])) < tolerance);
    BOOST_TEST(std::abs(kinetic - m.kinetic(p.data(), v.data())) < tolerance);
}

BOOST_AUTO_TEST_CASE(draws_agree) {
    check_draws<double>(MetricKind::unit, {}, 1e-13);
    check_draws<double>(MetricKind::diagonal, {4, 0.5, 2}, 1e-13);
    check_draws<double>(MetricKind::dense, matrix, 1e-13);
    check_draws<double>(MetricKind::dense, {}, 1e-13);
    check_draws<float>(MetricKind::diagonal, {4, 0.5, 2}, 1e-5);
    check_draws<float>(MetricKind::dense, matrix, 1e-5);
}

// The covariance of velocities is M^-1. A sample covariance of n normals is off by sqrt((s_ii s_jj + s_ij^2) / n); nine
// below 4.5 such: a false alarm in one of 16,000 tests.
BOOST_AUTO_TEST_CASE(covariance) {
    Metric<double> m(MetricKind::dense, 3);
    m.set_inverse(matrix, "test");
    BOOST_TEST(m.inverse() == matrix);
    constexpr int n = 100000;
    Random random(5);
    std::vector<double> v(3), sums(9);
    for (int t = 0; t < n; ++t) {
        m.draw_velocity(random, v);
        for (std::size_t k = 0; k < 9; ++k) sums[k] += v[k / 3] * v[k % 3] / n;
    }
    for (std::size_t k = 0; k < 9; ++k) {
        const double sd = std::sqrt((matrix[k / 3 * 4] * matrix[k % 3 * 4] + matrix[k] * matrix[k]) / n);
        BOOST_TEST(std::abs(sums[k] - matrix[k]) < 4.5 * sd);
    }
}

BOOST_AUTO_TEST_CASE(dot_product) {
    for (std::int64_t n = 0; n < 30; ++n) {
        std::vector<double> x(static_cast<std::size_t>(n), 2), y(x.size(), 3);
        BOOST_TEST(detail::dot(n, x.data(), y.data()) == 6.0 * static_cast<double>(n));
    }
}

BOOST_AUTO_TEST_CASE(errors) {
    Metric<double> diagonal(MetricKind::diagonal, 2), dense(MetricKind::dense, 2), unit(MetricKind::unit, 2);
    const std::vector<double> one{1}, two{1, 0}, four{1, 2, 2, 1};
    BOOST_TEST(error_of<ShapeError>([&] { unit.set_inverse(one, "Hmc"); }) ==
               "Hmc: inverse_metric has 1 numbers; a unit metric of 2 dimensions has 0");
    BOOST_TEST(error_of<ShapeError>([&] { dense.set_inverse(two, "Hmc"); }) ==
               "Hmc: inverse_metric has 2 numbers; a dense metric of 2 dimensions has 4");
    BOOST_TEST(error_of<ValueError>([&] { diagonal.set_inverse(two, "Hmc"); }) ==
               "Hmc: inverse_metric[1] is 0; it must be positive");
    BOOST_TEST(error_of<ValueError>([&] { dense.set_inverse(four, "Hmc"); }) ==
               "Hmc: inverse_metric is not positive definite: pivot 1 is not positive");
}

// The upper triangle counts, too.
BOOST_AUTO_TEST_CASE(symmetry) {
    Metric<double> m(MetricKind::dense, 2);
    const auto error = [&](std::vector<double> a) { return error_of<ValueError>([&] { m.set_inverse(a, "Hmc"); }); };
    BOOST_TEST(error({1, 0.5, 0, 1}) ==
               "Hmc: inverse_metric[1, 0] is 0, but inverse_metric[0, 1] is 0.5; it must be symmetric");
    BOOST_TEST(error({4e-8, 0, 1e-12, 4e-6}) ==
               "Hmc: inverse_metric[1, 0] is 1e-12, but inverse_metric[0, 1] is 0; it must be symmetric");
    BOOST_TEST(error({1, std::nan(""), 0, 1}) == "Hmc: inverse_metric[0, 1] is nan; it must be finite");
    BOOST_TEST(error({1, 0, 0, INFINITY}) == "Hmc: inverse_metric[1, 1] is inf; it must be finite");
    BOOST_TEST(error({-1, 0, 0, 1}) == "Hmc: inverse_metric is not positive definite: pivot 0 is not positive");
    BOOST_TEST((m.inverse() == std::vector<double>{1, 0, 0, 1}));
    m.set_inverse(std::vector{4.0, 1.0, 1 + 1e-6, 2.0}, "Hmc");
    BOOST_TEST((m.inverse() == std::vector<double>{4, 1 + 5e-7, 1 + 5e-7, 2}));
}

// An estimate never throws: where it cannot be used, nothing has changed.
BOOST_AUTO_TEST_CASE(estimates) {
    Metric<float> diagonal(MetricKind::diagonal, 2), dense(MetricKind::dense, 2);
    BOOST_TEST(diagonal.estimate_inverse({2, 3}));
    BOOST_TEST(dense.estimate_inverse({2, 2, 2, 2}));
    const std::vector<double> before = dense.inverse();
    BOOST_TEST((before[0] > 2 && before[0] < 2.001 && before[1] == 2));
    for (const double bad : {0.0, 1e60, std::nan("")}) {
        BOOST_TEST(!diagonal.estimate_inverse({1, bad}));
        BOOST_TEST(!dense.estimate_inverse({1, 0, 0, bad}));
        BOOST_TEST((diagonal.inverse() == std::vector<double>{2, 3}));
        BOOST_TEST((dense.inverse() == before));
    }
}

BOOST_AUTO_TEST_SUITE_END()
