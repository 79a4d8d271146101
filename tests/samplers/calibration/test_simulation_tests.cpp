#include "../../support.hpp"
#include "exact_simulation.hpp"

#include <pollen/autograd/parallel.hpp>
#include <pollen/nn/distributions.hpp>
#include <pollen/nn/potentials/model.hpp>
#include <pollen/samplers/full_batch/hmc.hpp>
#include <pollen/samplers/full_batch/metropolis.hpp>
#include <pollen/samplers/full_batch/nuts.hpp>

using namespace pollen;
using namespace pollen::test;

BOOST_AUTO_TEST_SUITE(check)

namespace {

// A chain that never moves.
struct Still {
    std::unique_ptr<Chain<double>> begin(std::unique_ptr<Potential<double>> potential, ChainStart<double> start) const {
        return Hmc{.step_size = 1e-200, .steps = 1}.begin(std::move(potential), std::move(start));
    }
    std::string describe() const { return "Still"; }
};

bool same(const Calibration& a, const Calibration& b) {
    return std::ranges::equal(a.quantities, b.quantities, [](const QuantityRanks& p, const QuantityRanks& q) {
        return p.name == q.name && p.ranks == q.ranks && p.counts == q.counts && p.chi_squared == q.chi_squared &&
               p.p_value == q.p_value && p.ess == q.ess;
    });
}

bool same(const GewekeTest& a, const GewekeTest& b) {
    return std::ranges::equal(a.moments, b.moments, [](const GewekeMoment& p, const GewekeMoment& q) {
        return p.name == q.name && p.prior == q.prior && p.chain == q.chain && p.error == q.error && p.z == q.z;
    });
}
}  // namespace

BOOST_AUTO_TEST_CASE(gradients_of_the_models) {
    const auto check = [](const Simulation<double>& model) {
        for (std::uint64_t s = 0; s < 20; ++s) {
            Random random(s);
            std::vector<double> x = model.prior(random), g(x.size());
            const auto u = model.posterior(x, random);
            u->evaluate(x, g);
            for (std::size_t k = 0; k < x.size(); ++k) {
                const double h = 1e-5, at = x[k];
                x[k] = at + h;
                const double up = u->evaluate(x, {}).total();
                x[k] = at - h;
                const double down = u->evaluate(x, {}).total();
                x[k] = at;
                BOOST_TEST(std::abs(g[k] - (up - down) / (2 * h)) < 1e-5 * (1 + std::abs(g[k])));
            }
        }
    };
    check(simulation_of<MeanAndScale>());
    check(simulation_of<MeanAndScale>(false));
    check(simulation_of<Groups>());
    check(simulation_of<Classes>());
    check(simulation_of<Conjugate>());
}

// A right sampler passes, and each quantity has its ranks, counts and p-value.
BOOST_AUTO_TEST_CASE(ranks_of_exact_draws) {
    const Calibration c = calibrate(simulation_of<Conjugate>(), Exact{}, few);
    BOOST_TEST(c.replications == 100);
    BOOST_TEST(c.draws == 49);
    BOOST_TEST(c.bins == 5);
    BOOST_TEST(!c.interrupted);
    BOOST_TEST(c.passed());
    BOOST_TEST(c.quantities.size() == 2U);
    for (const QuantityRanks& q : c.quantities) {
        std::vector<std::int64_t> counts(5);
        double chi_squared = 0;
        BOOST_TEST(q.ranks.size() == 100U);
        for (const std::int64_t rank : q.ranks) ++counts.at(static_cast<std::size_t>(rank / 10));
        for (const std::int64_t n : counts) chi_squared += static_cast<double>((n - 20) * (n - 20)) / 20;
        BOOST_TEST(q.counts == counts, boost::test_tools::per_element());
        BOOST_TEST(std::abs(q.chi_squared - chi_squared) < 1e-12);
        // With 4 degrees of freedom.
        BOOST_TEST(std::abs(q.p_value - std::exp(-chi_squared / 2) * (1 + chi_squared / 2)) < 1e-12);
        BOOST_TEST(std::abs(q.ess - 1) < 0.1);
    }
}

// A rank by hand: replication 5 draws its parameter and its data from stream 4 of the simulations, and its chain is
// chain 4.
BOOST_AUTO_TEST_CASE(one_rank_by_hand) {
    const Calibration c = calibrate(simulation_of<Conjugate>(), Exact{}, few);
    Random random(3, 12u << 24 | 4);
    const double mu = random.normal<double>(), y = mu + random.normal<double>();
    std::int64_t rank = 0;
    for (std::int64_t t = 0; t < 49; ++t) {
        Random step = random_of(3, 4, 100 + 3 * t + 2);
        rank += y / 2 + std::sqrt(0.5) * step.normal<double>() < mu;
    }
    BOOST_TEST(c.quantities[0].ranks[4] == rank);
}

BOOST_AUTO_TEST_CASE(same_at_any_number_of_threads) {
    const auto model = simulation_of<MeanAndScale>();
    const Calibration c = calibrate(model, Nuts{}, few);
    const GewekeTest g = geweke_test(model, Hmc{.step_size = 0.3, .steps = 4}, some);
    for (const int threads : {1, 2, 4, 8})
        with_threads(threads, [&] {
            BOOST_TEST(same(calibrate(model, Nuts{}, few), c));
            BOOST_TEST(same(geweke_test(model, Hmc{.step_size = 0.3, .steps = 4}, some), g));
        });
    CalibrationOptions other = few;
    other.seed = 4;
    BOOST_TEST(!same(calibrate(model, Nuts{}, other), c));
}

// Equal values count at random: ranks are uniform also of a quantity with few values, or with one.
BOOST_AUTO_TEST_CASE(equal_values) {
    CalibrationOptions more = few;
    more.replications = 1000;
    const Calibration c = calibrate(simulation_of<Rounded>(), Exact{}, more);
    BOOST_TEST(c.passed());
    BOOST_TEST(c.quantities[1].ess == 0);
    const GewekeTest g = geweke_test(simulation_of<Rounded>(), Exact{}, some);
    BOOST_TEST(g.passed());
    BOOST_TEST(g.moments[2].z == 0);
    BOOST_TEST(g.moments[2].p_value == 1);
}

// Chains that never move have the right law, since they begin with it; but their effective sample size tells.
BOOST_AUTO_TEST_CASE(chains_that_do_not_move) {
    const Metropolis stuck{.step_size = 1e9, .adapt = false};
    const GewekeTest g = geweke_test(simulation_of<Conjugate>(), stuck, some);
    BOOST_TEST(g.moments[0].ess < 10);
    BOOST_TEST(summary(g).find("independent draws of mu; its z says little.") != std::string::npos);
    BOOST_TEST(calibrate(simulation_of<Conjugate>(), stuck, few).quantities[0].ess == 0);
}

// A model on the tape, in float: the way users write one.
Simulation<float> taped(float prior_of_sigma) {
    return {[](Random& random) {
                const auto mu = static_cast<float>(random.normal<double>());
                return std::vector<float>{mu, static_cast<float>(std::log(draw_gamma(4, random) / 4))};
            },
            [=](std::span<const float> theta, Random& random) -> std::unique_ptr<Potential<float>> {
                Tensor<float> y = Tensor<float>::zeros({3});
                random.fill_normal(y.mutable_values(), theta[0], std::exp(theta[1]));
                return std::make_unique<ModelPotential<float>>([=](Model<float>& m) {
                    const auto mu = m.real("mu"), sigma = m.positive("sigma");
                    m.prior(normal_lpdf(mu, 0, 1));
                    m.prior(gamma_lpdf(sigma, prior_of_sigma, 4));
                    m.likelihood(normal_lpdf(y, mu, sigma));
                });
            }};
}

BOOST_AUTO_TEST_CASE(models_on_the_tape) {
    BOOST_TEST(calibrate(taped(4), Nuts{}, few).passed());
    const Hmc hmc{.step_size = 0.3, .steps = 4};
    BOOST_TEST(geweke_test(taped(4), hmc, some).passed());
    // The model's prior is not the simulated one.
    BOOST_TEST(!calibrate(taped(12), Nuts{}, few).passed());
    BOOST_TEST(!geweke_test(taped(12), hmc, some).passed());
}

// More of this, in full size, is in test_calibration.cpp.
BOOST_AUTO_TEST_CASE(the_jacobian_counts) {
    const PlainHmc sampler{.step_size = 0.6, .steps = 3, .inverse_metric = {0.2, 0.15}};
    BOOST_TEST(geweke_test(simulation_of<MeanAndScale>(), sampler, some).passed());
    BOOST_TEST(!geweke_test(simulation_of<MeanAndScale>(false), sampler, some).passed(1e-6));
}

BOOST_AUTO_TEST_CASE(report_of_calibration) {
    const auto model = simulation_of<Conjugate>();
    BOOST_TEST(summary(calibrate(model, Exact{}, few)) == R"(        chi^2       p     ess  ranks
mu      1.700  0.7907  0.9919  ▄▄▃▅▄
energy  2.300  0.6808   1.040  ▃▄▄▃▅

100 replications; ranks among 49 draws in 5 bins; ess of a draw, 1 where they are independent
Nothing speaks against uniform ranks at the level 0.001 (a right sampler fails in about one of 500 such tests).
)");
    BOOST_TEST(summary(calibrate(model, Exact{.shift = -0.5, .width = 0.5}, few)) ==
               R"(        chi^2          p     ess  ranks
mu      107.5  2.483e-22  0.9919  ▂▁▁▂█
energy  9.800    0.04393   1.015  ▅▃▄▂▆

100 replications; ranks among 49 draws in 5 bins; ess of a draw, 1 where they are independent
Warning: the ranks of mu are not uniform (p = 2.483e-22); its draws are too low and too narrow, or not independent.
)");
    BOOST_TEST(summary(calibrate(model, Exact{.width = 2, .stays = 20}, few), 0.01) ==
               R"(        chi^2          p     ess  ranks
mu      9.700    0.04580  0.1670  ▂▅▄▅▄
energy  34.00  7.452e-07  0.1517  █▅▄▂▁

100 replications; ranks among 49 draws in 5 bins; ess of a draw, 1 where they are independent
Warning: the draws of mu are far from independent (ess 0.1670); ranks are only uniform if they are. Thin more.
Warning: the draws of energy are far from independent (ess 0.1517); ranks are only uniform if they are. Thin more.
Warning: the ranks of energy are not uniform (p = 7.452e-07); its draws are too high.
)");
    CalibrationOptions rough = few;
    rough.replications = 20;
    BOOST_TEST(
        summary(calibrate(model, Exact{}, rough))
            .find("Warning: 4.000 replications for each bin; p-values are rough below 5. Take fewer bins, or more "
                  "replications.\n") != std::string::npos);
}

// A chain that never moves stays at a draw from the posterior: its ranks are uniform, its means right. That is no
// proof.
BOOST_AUTO_TEST_CASE(a_chain_that_stays_does_not_pass) {
    const auto model = simulation_of<Conjugate>();
    CalibrationOptions options = few;
    options.warmup = 0;
    const Calibration c = calibrate(model, Still{}, options);
    for (const QuantityRanks& q : c.quantities) BOOST_TEST((q.p_value > 0.001 && q.ess == 0 && !q.constant));
    BOOST_TEST(!c.passed());
    BOOST_TEST(summary(c).find("Nothing speaks against") == std::string::npos);
    const GewekeTest g =
        geweke_test(model, Still{}, {.chains = 40, .draws = 30, .transitions = 1, .seed = 3, .show = Show::nothing});
    // The energy changes with the data.
    for (const std::size_t k : {0, 1}) BOOST_TEST((!g.moments[k].constant && !(g.moments[k].ess >= 100)));
    BOOST_TEST(!g.passed(1e-12));
    BOOST_TEST(summary(g, 1e-12).find("Nothing speaks against") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(report_of_moments) {
    const auto model = simulation_of<Conjugate>();
    BOOST_TEST(summary(geweke_test(model, Exact{}, some)) ==
               R"(             prior    chain    error       z       p    ess
mu        0.007098  0.06657  0.04696   1.267  0.2053  628.6
mu^2         1.023    1.068  0.05495  0.8234  0.4103   1186
energy       1.004    1.017  0.03792  0.3572  0.7210   1172
energy^2     2.049    2.110   0.1737  0.3505  0.7260   1351

4 chains of 500 draws, 1 transition each; as many of prior and data
Nothing speaks against equal means at the level 0.001 (a right sampler fails in about one of 250 such tests).
)");
    const GewekeTest shifted = geweke_test(
        model, Exact{.shift = 0.1}, {.chains = 2, .draws = 300, .transitions = 2, .seed = 3, .show = Show::nothing});
    BOOST_TEST(summary(shifted) == R"(             prior   chain    error      z          p    ess
mu        -0.01457  0.3538  0.08116  4.539  5.652e-06  208.2
mu^2        0.9566   1.163   0.1068  1.930    0.05356  333.8
energy      0.9543   1.077  0.07200  1.701    0.08894  314.8
energy^2     1.780   2.333   0.2915  1.897    0.05784  374.2

2 chains of 300 draws, 2 transitions each; as many of prior and data
Warning: the chains are worth 208.2 independent draws of mu; its z says little. Take more draws, or more transitions for each.
Warning: the chains are worth 333.8 independent draws of mu^2; its z says little. Take more draws, or more transitions for each.
Warning: the chains are worth 314.8 independent draws of energy; its z says little. Take more draws, or more transitions for each.
Warning: the chains are worth 374.2 independent draws of energy^2; its z says little. Take more draws, or more transitions for each.
Warning: mu is 0.3538 along the chains and -0.01457 by simulation of prior and data (z = 4.539).
)");
}

BOOST_AUTO_TEST_SUITE_END()
