#include "../support.hpp"
#include "run_files.hpp"
#include "walk_sampler.hpp"

#include <pollen/samplers/cyclical.hpp>
#include <pollen/samplers/diagnostics.hpp>
#include <pollen/samplers/hmc.hpp>
#include <pollen/samplers/kinetic_langevin.hpp>
#include <pollen/samplers/mala.hpp>
#include <pollen/samplers/metropolis.hpp>
#include <pollen/samplers/nuts.hpp>
#include <pollen/samplers/run.hpp>
#include <pollen/samplers/sghmc.hpp>
#include <pollen/samplers/sgld.hpp>
#include <pollen/samplers/stan_csv.hpp>

using namespace pollen;
using namespace pollen::test;

// What a run says of itself: facts in its files, weights, divergences, temperatures.
BOOST_AUTO_TEST_SUITE(run_reports)

namespace {

RunOptions quiet(std::int64_t warmup = 50, std::int64_t draws = 60) {
    return {.chains = 3, .warmup = warmup, .draws = draws, .seed = 7, .show = Show::nothing};
}

}  // namespace

BOOST_AUTO_TEST_CASE(files_say_what_the_sampler_does) {
    const TemporaryDirectory folder;
    RunOptions options = quiet(60, 10);
    options.directory = folder.path();
    const Draws draws = run_chains(
        shapes_model<double>(), Nuts{.max_depth = 2, .target_acceptance = 0.95, .metric = MetricKind::dense}, options);
    const StanCsvReader reader(draws.files[1]);
    for (const ChainFacts& facts : {draws.facts, reader.header().facts, read_stan_csv(draws.files).facts}) {
        BOOST_TEST(facts.max_tree_depth == 2);
        BOOST_TEST(facts.target_acceptance == 0.95);
        BOOST_TEST((facts.metric == MetricKind::dense));
        BOOST_TEST(facts.step_size == 1);
        BOOST_TEST((facts.acceptance && facts.hamiltonian && !facts.weighted));
    }
    BOOST_TEST(read_stan_csv(draws.files).chains[0].inverse_metric.size() == 64);
    const std::string text = summary(draws);
    BOOST_TEST(text.find(" of 30 steps (") != text.npos);
    BOOST_TEST(text.find(" reached the limit of 2.") != text.npos);
}

BOOST_AUTO_TEST_CASE(a_sampler_says_whether_its_draws_are_weighted) {
    const TemporaryDirectory folder;
    RunOptions options = quiet(0, 20);
    options.directory = folder / "changing";
    // The first step is 1.
    const Schedule changing("1 / (1 + t)", [](std::int64_t t) { return 1 / (1 + static_cast<double>(t)); });
    const Draws weighted = run_chains(shapes_model<double>(), Sgld{.step_size = changing}, options);
    const Draws read = read_stan_csv(weighted.files);
    for (std::size_t t = 0; t < 20; ++t) {
        BOOST_TEST(weighted.chains[0].weight[t] == 1 / (2 + static_cast<double>(t)));
        BOOST_TEST(read.chains[0].weight[t] == weighted.chains[0].weight[t]);
    }
    options.directory = folder / "constant";
    const Draws constant = run_chains(shapes_model<double>(), Sgld{.step_size = 0.01}, options);
    BOOST_TEST(constant.chains[0].weight[3] == 1);
    BOOST_TEST(contents(constant.files[0]).find("\nlp__,stepsize__,n_leapfrog__,x,") != std::string::npos);
    BOOST_TEST(summary(constant).find("weighted") == std::string::npos);
    BOOST_TEST(summary(weighted).find("\nweighted: mean, sd and quantiles, by the step that left each draw; worth ") !=
               std::string::npos);
}

// Exploration has no noise: its draws would make the variance less than it is.
BOOST_AUTO_TEST_CASE(weights_make_the_summary_of_cyclical_steps_right) {
    const auto model = ModelPotential<double>([](Model<double>& m) { m.prior(sum(square(m.real("x", {4}))) * -0.5); });
    const Cyclical cyclical{.step_size = 0.3, .steps = 40000, .cycles = 40, .exploration = 0.6};
    const Draws draws = run_chains(model, cyclical, {.warmup = 0, .draws = 40000, .seed = 3, .show = Show::nothing});
    const std::string text = summary(draws);
    BOOST_TEST(text.find("\n4 chains of 15960 draws\n") != text.npos);
    BOOST_TEST(text.find("; without 24040 of 40000 draws a chain, of weight 0; worth ") != text.npos);
    const std::vector<std::int64_t> counted = draws.counted();
    BOOST_REQUIRE(counted.size() == 15960);
    Tensor<double> values = Tensor<double>::zeros({4, 15960, 4});
    std::vector<double> weights;
    for (std::size_t c = 0; c < 4; ++c) {
        for (std::size_t k = 0; k < counted.size(); ++k) {
            const auto t = static_cast<std::size_t>(counted[k]);
            weights.push_back(draws.chains[c].weight[t]);
            for (std::size_t i = 0; i < 4; ++i) values(c, k, i) = draws.values(c, t, i);
        }
    }
    double variance = 0, unweighted = 0;
    for (const QuantitySummary& s : summarise(values, weights)) {
        variance += s.sd * s.sd / 4;
        BOOST_TEST(s.q95 == 1.645, boost::test_tools::tolerance(0.1));
        BOOST_TEST(std::abs(s.mean) < 4 * s.mcse);
        char sd[16];
        std::snprintf(sd, sizeof sd, s.sd < 1 ? "  %.4f  " : "  %.3f  ", s.sd);
        BOOST_TEST(text.find(sd) != text.npos);
    }
    for (const QuantitySummary& s : summarise(draws.values)) unweighted += s.sd * s.sd / 4;
    BOOST_TEST(variance == 1, boost::test_tools::tolerance(0.08));
    BOOST_TEST(unweighted < 0.8);
    BOOST_TEST(error_of<ShapeError>([&] { summarise(values, std::span(weights).first(7)); }) ==
               "summarise: 7 weights for draws (4, 15960, 4); each draw needs one");
}

BOOST_AUTO_TEST_CASE(thinning_hides_no_divergence) {
    RunOptions options = quiet(10, 40);
    options.thin = 2;
    const Draws draws = run_chains(shapes_model<double>(), Walk{.diverges = true}, options);
    for (const ChainRecord& r : draws.chains) {
        BOOST_TEST(std::count(r.divergent.begin(), r.divergent.end(), 1) == 0);
        BOOST_TEST(r.steps == 80);
        BOOST_TEST(r.divergences == 40);
        BOOST_TEST(r.deep_steps == 40);
        BOOST_TEST(r.invalid_steps == 40);
    }
    const std::string text = summary(draws);
    BOOST_TEST(text.find("; 120 divergences; ") != text.npos);
    BOOST_TEST(text.find("Warning: Divergences: 120 of 240 steps (50 %). ") != text.npos);
    BOOST_TEST(text.find("Warning: Tree depth: 120 of 240 steps (50 %) reached the limit of 5. ") != text.npos);
    BOOST_TEST(text.find("in 120 of 240 steps: chain 1 (40), chain 2 (40), chain 3 (40). ") != text.npos);
}

BOOST_AUTO_TEST_CASE(temperatures_are_measured) {
    auto model = ModelPotential<double>([](Model<double>& m) { m.prior(sum(square(m.real("x", {5}))) * -0.5); });
    const auto line = [](const Draws& draws) {
        const std::string text = summary(draws);
        const std::size_t at = text.find("\ntemperature: ");
        return at == text.npos ? "" : text.substr(at + 1, text.find('\n', at + 1) - at - 1);
    };
    const auto check = [&](const auto& sampler, double t, bool kinetic, bool configurational) {
        model.set_temperature(t);
        const Draws draws =
            run_chains(model, sampler, {.warmup = 200, .draws = 5000, .seed = 2, .show = Show::nothing});
        BOOST_TEST_CONTEXT(sampler.describe()) {
            BOOST_TEST(draws.temperature == t);
            for (const ChainRecord& r : draws.chains) {
                BOOST_TEST(r.temperature.weight == 5000);
                if (kinetic) BOOST_TEST(r.temperature.kinetic / 5000 == t, boost::test_tools::tolerance(0.1));
                if (configurational)
                    BOOST_TEST(r.temperature.configurational / 5000 == t, boost::test_tools::tolerance(0.2));
            }
            const std::string text = line(draws);
            BOOST_TEST(text.starts_with(kinetic           ? "temperature: kinetic "
                                        : configurational ? "temperature: configurational "
                                                          : ""));
            BOOST_TEST((text.find(", configurational ") != text.npos) == (kinetic && configurational));
            BOOST_TEST(text.ends_with(!kinetic && !configurational ? ""
                                      : t == 1                     ? " (asked for 1)"
                                                                   : " (asked for 0.25)"));
            BOOST_TEST(text.empty() == !(kinetic || configurational));
        }
    };
    for (const double t : {1.0, 0.25}) {
        check(Nuts{}, t, true, true);
        check(Hmc{.steps = 3}, t, true, true);
        check(KineticLangevin{.step_size = 0.3}, t, true, true);
        check(Mala{}, t, false, true);
        check(Sghmc{.step_size = 0.01, .friction = 0.05}, t, true, true);
        check(Sgld{.step_size = 0.2}, t, false, true);
    }
    check(Metropolis{}, 1, false, false);
}

BOOST_AUTO_TEST_SUITE_END()
