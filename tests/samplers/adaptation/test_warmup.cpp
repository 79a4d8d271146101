#include <pollen/samplers/adaptation/warmup.hpp>
#include <pollen/samplers/full_batch/metropolis.hpp>
#include <pollen/samplers/full_batch/nuts.hpp>

#include "../full_batch/full_batch_checks.hpp"

using namespace pollen;
using namespace pollen::test;

BOOST_AUTO_TEST_SUITE(adaptation)

// The formulas of Hoffman & Gelman (2014), Eq. 6, as sums over all steps so far.
BOOST_AUTO_TEST_CASE(dual_averaging) {
    DualAveraging averaging(0.8, {});
    averaging.restart(0.3);
    const double mu = std::log(3.0);
    double sum = 0, average = 0;
    for (int t = 1; t <= 20; ++t) {
        const double a = 0.5 + 0.5 * std::sin(t);
        sum += 0.8 - a;
        const double x = mu - std::sqrt(t) / 0.05 * sum / (t + 10);
        average = std::pow(t, -0.75) * x + (1 - std::pow(t, -0.75)) * average;
        BOOST_TEST(std::abs(averaging.learn(a) / std::exp(x) - 1) < 1e-12);
        BOOST_TEST(std::abs(averaging.average() / std::exp(average) - 1) < 1e-12);
    }
    averaging.restart(0.3);
    BOOST_TEST(averaging.average() == 1);
    // A target of 0.8 and acceptance exp(-e): the step size settles at -log 0.8.
    DualAveraging long_run(0.8, {});
    long_run.restart(1);
    double e = 1;
    for (int t = 0; t < 5000; ++t) e = long_run.learn(std::exp(-e));
    BOOST_TEST(std::abs(long_run.average() / -std::log(0.8) - 1) < 0.02);
}

// Last steps of the windows, as Stan has them.
BOOST_AUTO_TEST_CASE(windows) {
    const auto ends = [](std::int64_t warmup, const WindowSizes& sizes = {}) {
        WarmupWindows w(warmup, sizes);
        std::vector<std::int64_t> result;
        for (std::int64_t t = 0; t < warmup; ++t)
            if (w.last_of_window(t)) {
                result.push_back(t);
                w.advance(t);
            }
        return result;
    };
    BOOST_TEST((ends(1000) == std::vector<std::int64_t>{99, 149, 249, 449, 949}));
    BOOST_TEST((ends(500) == std::vector<std::int64_t>{99, 149, 249, 449}));
    BOOST_TEST((ends(150) == std::vector<std::int64_t>{99}));
    BOOST_TEST((ends(100) == std::vector<std::int64_t>{89}));
    BOOST_TEST((ends(20) == std::vector<std::int64_t>{17}));
    BOOST_TEST(ends(19).empty());
    BOOST_TEST(ends(0).empty());
    BOOST_TEST((ends(100, {.first = 10, .window = 10, .last = 10}) == std::vector<std::int64_t>{19, 39, 89}));
    const WarmupWindows w(1000, {});
    BOOST_TEST(!w.inside(74));
    BOOST_TEST(w.inside(75));
    BOOST_TEST(w.inside(949));
    BOOST_TEST(!w.inside(950));
}

BOOST_AUTO_TEST_CASE(moments) {
    constexpr std::size_t n = 40, d = 3;
    const Tensor<double> x = normals({n, d}, 3);
    WindowMoments diagonal(false, d), dense(true, d);
    for (int round = 0; round < 2; ++round) {
        diagonal.restart();
        dense.restart();
        for (std::size_t t = 0; t < n; ++t) {
            const std::span<const double> row(x.data() + t * d, d);
            diagonal.add(row);
            dense.add(row);
        }
    }
    const std::vector<double> v = diagonal.regularised(), c = dense.regularised();
    BOOST_TEST(dense.count() == 40);
    for (std::size_t i = 0; i < d; ++i)
        for (std::size_t j = 0; j < d; ++j) {
            double mi = 0, mj = 0, cov = 0;
            for (std::size_t t = 0; t < n; ++t) {
                mi += x.data()[t * d + i] / n;
                mj += x.data()[t * d + j] / n;
            }
            for (std::size_t t = 0; t < n; ++t)
                cov += (x.data()[t * d + i] - mi) * (x.data()[t * d + j] - mj) / (n - 1);
            const double expected = 40.0 / 45 * cov + (i == j ? 1e-3 * 5 / 45 : 0);
            BOOST_TEST(std::abs(c[i * d + j] - expected) < 1e-14);
            if (i == j) BOOST_TEST(std::abs(v[i] - expected) < 1e-14);
        }
}

BOOST_AUTO_TEST_CASE(a_metric_needs_steps_after_it) {
    const auto error = [](const auto& sampler) {
        return error_of<ValueError>([&] { sampler.begin(standard_normal(), ChainStart<double>{{1, 1}, 0, 0, 100}); });
    };
    const std::string why = "last is 0; after the last metric some steps are needed to find a step size for it";
    BOOST_TEST(error(Nuts{.warmup = {.last = 0}}) == "Nuts: warmup." + why);
    BOOST_TEST(error(Nuts{.warmup = {.metric = false, .last = 0}}) == "");
    BOOST_TEST(error(Nuts{.metric = MetricKind::unit, .warmup = {.last = 0}}) == "");
    BOOST_TEST(error(Metropolis{.metric = MetricKind::diagonal, .last = 0}) == "Metropolis: " + why);
    BOOST_TEST(error(Metropolis{.metric = MetricKind::unit, .last = 0}) == "");
}

// The first windows have less draws than there are dimensions: their covariances are singular but for rounding.
BOOST_AUTO_TEST_CASE(dense_metrics_from_few_draws) {
    const auto wide = []<Real T>(T sd) {
        return Written<T>(60, [sd](std::span<const T> x, std::span<T> g) {
            double u = 0;
            for (std::size_t k = 0; k < x.size(); ++k) {
                const T z = x[k] / sd;
                u += static_cast<double>(z * z) / 2;
                if (!g.empty()) g[k] = z / sd;
            }
            return u;
        });
    };
    for (const float sd : {30.0f, 1e-3f, 1e4f}) {
        BOOST_TEST(run<float>(Nuts{.metric = MetricKind::dense}, wide(sd), 300, 20, 1, 1).acceptance > 0.5);
        BOOST_TEST(run<float>(Metropolis{.metric = MetricKind::dense}, wide(sd), 300, 20, 1, 1).acceptance > 0);
        BOOST_TEST(run<double>(Nuts{.metric = MetricKind::dense}, wide(double(sd)), 300, 20, 1, 1).acceptance > 0.5);
    }
}

BOOST_AUTO_TEST_SUITE_END()
