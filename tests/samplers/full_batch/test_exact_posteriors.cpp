#include <pollen/samplers/full_batch/hmc.hpp>
#include <pollen/samplers/full_batch/mala.hpp>
#include <pollen/samplers/full_batch/metropolis.hpp>
#include <pollen/samplers/full_batch/nuts.hpp>
#include <pollen/samplers/full_batch/tempering.hpp>

#include "../eight_schools.hpp"
#include "moments_rule.hpp"

using namespace pollen;
using namespace pollen::test;

// Posteriors whose moments are computed here, in closed form or by quadrature, against the draws of every sampler that
// suits them. Some 300 z-scores in all, each beyond 4 once in 16,000 times: with other seeds, one of 50 runs of this
// file fails although all is right.
BOOST_AUTO_TEST_SUITE(exact_posteriors)

constexpr MetricKind dense = MetricKind::dense;

struct Length {
    std::int64_t draws = 5000;  // of each of 4 chains
    std::int64_t thin = 1;
    std::int64_t warmup = 1000;
    double least_ess = 10000;
};

template <class S>
pollen::Draws sample(const Potential<double>& posterior, const S& sampler, const Length& length) {
    return run_chains(posterior, sampler,
                      {.warmup = length.warmup,
                       .draws = length.draws,
                       .thin = length.thin,
                       .seed = test_seed(),
                       .show = Show::nothing});
}

template <class S>
void check(const Potential<double>& posterior, const std::vector<KnownMoments>& known, const S& sampler,
           const Length& length = {}) {
    const Verdict v = judge(sample(posterior, sampler, length), known);
    BOOST_TEST(v.passes(length.least_ess), sampler.describe() << ": " << v.text());
    BOOST_TEST_MESSAGE(sampler.describe() << ": " << v.text());
}

bool contains(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

// E f over p(x, y) on a grid, for densities that vanish at its edges: the trapezoidal rule is exact to rounding then.
class Grid {
  public:
    Grid(const std::function<double(double, double)>& log_density, double left, double right, double low, double high,
         int points = 240) {
        for (int i = 0; i <= points; ++i)
            for (int j = 0; j <= points; ++j) {
                const double x = left + (right - left) * i / points, y = low + (high - low) * j / points;
                nodes_.push_back({x, y, log_density(x, y)});
            }
        double greatest = nodes_[0].weight, sum = 0;
        for (const Node& n : nodes_) greatest = std::max(greatest, n.weight);
        for (Node& n : nodes_) sum += n.weight = std::exp(n.weight - greatest);
        for (Node& n : nodes_) n.weight /= sum;
    }
    double mean(const std::function<double(double, double)>& f) const {
        double sum = 0;
        for (const Node& n : nodes_) sum += n.weight * f(n.x, n.y);
        return sum;
    }
    // Of x and of y.
    std::vector<KnownMoments> moments(const std::string& x, const std::string& y) const {
        return {{x, mean([](double a, double) { return a; }), mean([](double a, double) { return a * a; })},
                {y, mean([](double, double b) { return b; }), mean([](double, double b) { return b * b; })}};
    }

  private:
    struct Node {
        double x, y, weight;
    };
    std::vector<Node> nodes_;
};

// Given tau, all else is normal: with w_j = 1 / (sigma_j^2 + tau^2),
//
//     mu    | tau     ~ N(m, 1/P),       P = 1/25 + sum w_j,  m = sum w_j y_j / P
//     y     | tau     has the density    prod N(y_j; m, 1/w_j) N(m; 0, 25) / sqrt(P), but for a constant
//     theta | mu, tau ~ N(a + b mu, v),  b = w sigma^2,  a = w tau^2 y,  v = w tau^2 sigma^2
//
// and one integral is left, over log tau.
std::vector<KnownMoments> eight_schools_moments() {
    const double y[8] = {28, 8, -3, 7, -1, 1, 18, 12}, sigma[8] = {15, 10, 16, 11, 9, 11, 10, 18};
    std::vector<KnownMoments> known{{"mu", 0, 0}, {"tau", 0, 0}};
    for (int j = 1; j <= 8; ++j) known.push_back({"theta[" + std::to_string(j) + "]", 0, 0});
    double total = 0;
    for (double u = -16; u < 10; u += 0.002) {
        const double tau = std::exp(u), tau2 = tau * tau;
        double w[8], p = 1.0 / 25, m = 0;
        for (int j = 0; j < 8; ++j) {
            w[j] = 1 / (sigma[j] * sigma[j] + tau2);
            p += w[j];
            m += w[j] * y[j];
        }
        m /= p;
        double log_density = u - std::log1p(tau2 / 25) - std::log(p) / 2 - m * m / 50;
        for (int j = 0; j < 8; ++j) log_density += std::log(w[j]) / 2 - w[j] * (y[j] - m) * (y[j] - m) / 2;
        const double weight = std::exp(log_density);
        const auto add = [&](std::size_t k, double mean, double variance) {
            known[k].mean += weight * mean;
            known[k].square += weight * (mean * mean + variance);
        };
        total += weight;
        add(0, m, 1 / p);
        add(1, tau, 0);
        for (std::size_t j = 0; j < 8; ++j) {
            const double s2 = sigma[j] * sigma[j], b = w[j] * s2;
            add(j + 2, w[j] * tau2 * y[j] + b * m, w[j] * tau2 * s2 + b * b / p);
        }
    }
    for (KnownMoments& k : known) k.mean /= total, k.square /= total;
    return known;
}

BOOST_AUTO_TEST_CASE(schools) {
    const ModelPotential<double> posterior = eight_schools();
    const std::vector<KnownMoments> known = eight_schools_moments();
    check(posterior, known, Nuts{.target_acceptance = 0.95}, {.draws = 8000});
    check(posterior, known, Hmc{}, {.draws = 8000});
    check(posterior, known, Mala{}, {.draws = 8000, .thin = 10, .warmup = 3000, .least_ess = 5000});
    check(posterior, known, Metropolis{.metric = dense},
          {.draws = 8000, .thin = 15, .warmup = 5000, .least_ess = 5000});
}

// y = X beta + N(0, v),  beta ~ N(0, v / k),  v ~ InvGamma(a, b). With L = X'X + k, the posterior is
//
//     beta | v ~ N(L^-1 X'y, v L^-1),    v ~ InvGamma(a + n/2, b + (y'y - y'X L^-1 X'y) / 2)
BOOST_AUTO_TEST_CASE(linear_regression) {
    constexpr std::int64_t n = 40, d = 3;
    constexpr double k = 0.5, a = 3, b = 2;
    const Tensor<double> x = normals({n, d}, 3), noise = normals({n}, 4);
    Tensor<double> y = Tensor<double>::empty({n});
    for (std::int64_t i = 0; i < n; ++i)
        y.mutable_data()[i] = 1.5 * x.data()[i * d] - x.data()[i * d + 1] + noise.data()[i];
    const ModelPotential<double> posterior([=](Model<double>& m) {
        const auto beta = m.real("beta", {d}), v = m.positive("v");
        m.prior(normal_lpdf(beta, 0, sqrt(v / k)));
        m.prior(log(v) * -(a + 1) - b / v);
        m.likelihood(normal_lpdf(y, matmul(x, beta), sqrt(v)));
    });

    // L^-1 by Gauss and Jordan, and X'y beside it.
    double l[d][2 * d] = {}, xy[d] = {}, yy = 0;
    for (std::int64_t i = 0; i < n; ++i) {
        yy += y.data()[i] * y.data()[i];
        for (std::int64_t r = 0; r < d; ++r) {
            xy[r] += x.data()[i * d + r] * y.data()[i];
            for (std::int64_t c = 0; c < d; ++c) l[r][c] += x.data()[i * d + r] * x.data()[i * d + c];
        }
    }
    for (std::int64_t r = 0; r < d; ++r) l[r][r] += k, l[r][d + r] = 1;
    for (std::int64_t p = 0; p < d; ++p) {
        const double pivot = l[p][p];
        for (double& e : l[p]) e /= pivot;
        for (std::int64_t r = 0; r < d; ++r) {
            if (r == p) continue;
            const double factor = l[r][p];
            for (std::int64_t c = 0; c < 2 * d; ++c) l[r][c] -= factor * l[p][c];
        }
    }
    double mean[d] = {}, explained = 0;
    for (std::int64_t r = 0; r < d; ++r) {
        for (std::int64_t c = 0; c < d; ++c) mean[r] += l[r][d + c] * xy[c];
        explained += mean[r] * xy[r];
    }
    const double shape = a + n / 2.0, scale = b + (yy - explained) / 2;
    std::vector<KnownMoments> known{{"v", scale / (shape - 1), scale * scale / ((shape - 1) * (shape - 2))}};
    for (std::int64_t r = 0; r < d; ++r)
        known.push_back(
            {"beta[" + std::to_string(r + 1) + "]", mean[r], mean[r] * mean[r] + known[0].mean * l[r][d + r]});
    check(posterior, known, Nuts{});
    check(posterior, known, Hmc{});
    check(posterior, known, Mala{}, {.draws = 5000, .thin = 6});
    check(posterior, known, Metropolis{.metric = dense}, {.draws = 5000, .thin = 15, .warmup = 3000});
}

// Ten numbers with correlations rho = 0.97 and standard deviations k: U = (z'z - c (sum z)^2) / (2 (1 - rho)).
BOOST_AUTO_TEST_CASE(correlated_gaussian) {
    constexpr std::int64_t d = 10;
    constexpr double rho = 0.97, c = rho / (1 + (d - 1) * rho);
    const Written<double> posterior(d, [](std::span<const double> x, std::span<double> g) {
        double sum = 0, squares = 0;
        for (std::size_t k = 0; k < x.size(); ++k) {
            const double z = x[k] / static_cast<double>(k + 1);
            sum += z;
            squares += z * z;
        }
        for (std::size_t k = 0; k < g.size(); ++k) {
            const auto sd = static_cast<double>(k + 1);
            g[k] = (x[k] / sd - c * sum) / (1 - rho) / sd;
        }
        return (squares - c * sum * sum) / (2 * (1 - rho));
    });
    std::vector<KnownMoments> known;
    for (int k = 1; k <= d; ++k) known.push_back({"x[" + std::to_string(k) + "]", 0, double(k) * k});
    check(posterior, known, Nuts{.metric = dense});
    check(posterior, known, Nuts{}, {.draws = 10000, .least_ess = 1000});
    check(posterior, known, Hmc{.metric = dense});
    check(posterior, known, Hmc{}, {.draws = 15000});
    check(posterior, known, Mala{.metric = dense}, {.draws = 8000, .thin = 40, .warmup = 10000});
    check(posterior, known, Metropolis{.metric = dense}, {.draws = 8000, .thin = 40, .warmup = 20000});
}

// v ~ N(0, 3^2),  x_i ~ N(0, exp(v))  (Neal, Slice sampling, 2003). log x_1^2 has the mean of log chi^2 and the
// variance 9 + pi^2 / 2. Written with z = x / exp(v/2) all is normal; as it stands, no sampler reaches the neck, and
// the summary has to say so.
BOOST_AUTO_TEST_CASE(funnel) {
    const ModelPotential<double> other([](Model<double>& m) {
        const auto v = m.real("v"), z = m.real("z", {9});
        m.prior(normal_lpdf(v, 0, 3));
        m.prior(normal_lpdf(z, 0, 1));
        m.quantity("log_x2", v + log(square(slice(z, 0, 0, 1))));
    });
    const double log_chi2 = -1.2703628454614782;
    const double pi = std::numbers::pi;
    const std::vector<KnownMoments> known{
        {"v", 0, 9}, {"log_x2[1]", log_chi2, log_chi2 * log_chi2 + 9 + pi * pi / 2}, {"z[9]", 0, 1}};
    check(other, known, Nuts{});
    check(other, known, Hmc{});
    check(other, known, Mala{}, {.draws = 5000, .thin = 10});

    const ModelPotential<double> centred([](Model<double>& m) {
        const auto v = m.real("v"), x = m.real("x", {9});
        m.prior(normal_lpdf(v, 0, 3));
        m.prior(normal_lpdf(x, 0, exp(v / 2)));
    });
    const pollen::Draws draws = sample(centred, Nuts{}, {.draws = 1000});
    const std::string text = summary(draws);
    BOOST_TEST(contains(text, "Warning: Divergences: "), text);
    BOOST_TEST(contains(text, "Warning: E-BFMI below 0.3 in chain "), text);
    BOOST_TEST((contains(text, "Warning: R-hat above 1.01 for ") || contains(text, "Warning: ESS below 100 a chain")),
               text);
    BOOST_TEST(contains(text, "v ("), text);
    BOOST_TEST(!judge(draws, std::vector<KnownMoments>{{"v", 0, 9}}).passes(1000));
}

// theta_1 ~ N(0, 10),  theta_2 ~ N(0, 1),  x_i ~ N(theta_1, 2) / 2 + N(theta_1 + theta_2, 2) / 2: variances all of them
// (Welling & Teh, Bayesian learning via stochastic gradient Langevin dynamics, 2011).
class TwoMeans {
  public:
    // 100 observations that come from theta = (0, apart).
    explicit TwoMeans(double apart) {
        Random random(11);
        for (int i = 0; i < 100; ++i)
            data_.push_back((i % 2 ? apart : 0) + std::numbers::sqrt2 * random.normal<double>());
    }
    double operator()(std::span<const double> theta, std::span<double> g) const {
        const double a = theta[0], b = theta[0] + theta[1];
        double u = theta[0] * theta[0] / 20 + theta[1] * theta[1] / 2, to_a = 0, to_b = 0;
        for (const double x : data_) {
            // log(e^p + e^q) with p = -(x - a)^2 / 4, q = -(x - b)^2 / 4
            const double p = -(x - a) * (x - a) / 4, q = -(x - b) * (x - b) / 4;
            const double small = std::exp(-std::abs(p - q)), share = (p > q ? 1 : small) / (1 + small);
            u -= std::max(p, q) + std::log1p(small);
            to_a += share * (x - a) / 2;
            to_b += (1 - share) * (x - b) / 2;
        }
        if (!g.empty()) {
            g[0] = theta[0] / 10 - to_a - to_b;
            g[1] = theta[1] - to_b;
        }
        return u;
    }
    Grid grid() const {
        return Grid([this](double x, double y) { return -(*this)(std::vector<double>{x, y}, {}); }, -3, 6, -7, 7);
    }
    Written<double> potential() const { return {2, *this}; }

  private:
    std::vector<double> data_;
};

BOOST_AUTO_TEST_CASE(two_means) {
    const TwoMeans near(1);
    const std::vector<KnownMoments> known = near.grid().moments("x[1]", "x[2]");
    check(near.potential(), known, Nuts{}, {.draws = 8000, .thin = 4, .least_ess = 4000});
    check(near.potential(), known, Hmc{}, {.draws = 8000, .thin = 4, .least_ess = 4000});
    check(near.potential(), known, Mala{}, {.draws = 8000, .thin = 20, .least_ess = 4000});
    check(near.potential(), known, Metropolis{}, {.draws = 8000, .thin = 20, .least_ess = 4000});
    check(near.potential(), known, Tempering{}, {.draws = 5000, .least_ess = 4000});
}

// Far apart, there are two modes with nothing between them.
BOOST_AUTO_TEST_CASE(two_modes) {
    const TwoMeans far(3);
    const Grid grid = far.grid();
    const double share = grid.mean([](double, double y) { return y > 0 ? 1.0 : 0.0; });
    BOOST_TEST(share > 0.2);
    BOOST_TEST(share < 0.8);

    const Tempering ladder{.temperatures = {1, 2, 4, 8, 16, 32}};
    const pollen::Draws draws = sample(far.potential(), ladder, {.draws = 5000, .thin = 1});
    const Verdict v = judge(draws, grid.moments("x[1]", "x[2]"));
    BOOST_TEST(v.passes(1000), v.text());
    auto right = chains_of(std::span(&draws, 1), "x[2]");
    for (auto& chain : right)
        for (double& x : chain) x = x > 0;
    BOOST_TEST(std::abs(z_score(right, share)) < 4);

    const pollen::Draws plain = sample(far.potential(), Nuts{}, {.draws = 1000});
    const std::string text = summary(plain);
    BOOST_TEST(contains(text, "Warning: R-hat above 1.01 for 2 of 2 quantities: "), text);
    BOOST_TEST(contains(text, "The chains do not agree yet; run them longer, or reparameterise the model."), text);
}

// y ~ Bernoulli(logit = w_1 + w_2 x),  w ~ N(0, 2.5^2)
BOOST_AUTO_TEST_CASE(logistic_regression) {
    constexpr std::int64_t n = 30;
    const Tensor<double> x = normals({n}, 5), u = uniforms({n}, 0, 1, 6);
    Tensor<double> inputs = Tensor<double>::full({n, 2}, 1.0), y = Tensor<double>::empty({n});
    for (std::int64_t i = 0; i < n; ++i) {
        inputs.mutable_data()[2 * i + 1] = x.data()[i];
        y.mutable_data()[i] = u.data()[i] < 1 / (1 + std::exp(-1 - 2 * x.data()[i])) ? 1 : 0;
    }
    const ModelPotential<double> posterior([=](Model<double>& m) {
        const auto w = m.real("w", {2});
        m.prior(normal_lpdf(w, 0, 2.5));
        m.likelihood(bernoulli_logit_glm_lpmf(y, inputs, 0.0, w));
    });
    const Grid grid(
        [&](double a, double b) {
            double log_density = -(a * a + b * b) / 12.5;
            for (std::int64_t i = 0; i < n; ++i) {
                const double logit = a + b * x.data()[i];
                log_density -= std::log1p(std::exp(y.data()[i] == 1 ? -logit : logit));
            }
            return log_density;
        },
        -6, 9, -5, 14);
    const std::vector<KnownMoments> known = grid.moments("w[1]", "w[2]");
    check(posterior, known, Nuts{}, {.draws = 8000});
    check(posterior, known, Hmc{});
    check(posterior, known, Mala{}, {.draws = 5000, .thin = 5});
    check(posterior, known, Metropolis{}, {.draws = 5000, .thin = 10});
    check(posterior, known, Tempering{}, {.draws = 5000});
}

BOOST_AUTO_TEST_SUITE_END()
