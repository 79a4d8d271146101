#include "../../support.hpp"
#include "run_files.hpp"
#include "short_run.hpp"
#include "walk_sampler.hpp"

#include <pollen/autograd/support/interrupt.hpp>
#include <pollen/samplers/diagnostics/diagnostics.hpp>
#include <pollen/samplers/draws/stan_csv.hpp>
#include <pollen/samplers/full_batch/hmc.hpp>
#include <pollen/samplers/full_batch/kinetic_langevin.hpp>
#include <pollen/samplers/full_batch/mala.hpp>
#include <pollen/samplers/full_batch/metropolis.hpp>
#include <pollen/samplers/full_batch/nuts.hpp>
#include <pollen/samplers/minibatch/cyclical.hpp>
#include <pollen/samplers/minibatch/sghmc.hpp>
#include <pollen/samplers/minibatch/sgld.hpp>
#include <pollen/samplers/run/run_chains.hpp>

#include <atomic>
#include <csignal>
#include <memory>

using namespace pollen;
using namespace pollen::test;

// What a run says of itself: facts in its files, weights, divergences, temperatures.
BOOST_AUTO_TEST_SUITE(run_reports)

BOOST_AUTO_TEST_CASE(files_say_what_the_sampler_does) {
    const TemporaryDirectory folder;
    RunOptions options = short_run(60, 10);
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
    RunOptions options = short_run(0, 20);
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
            for (std::size_t i = 0; i < 4; ++i) values.mutable_at(c, k, i) = draws.values(c, t, i);
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
    RunOptions options = short_run(10, 40);
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
                const MeanAndError k = mean_and_error({&r.temperature.kinetic, 1});
                const MeanAndError c = mean_and_error({&r.temperature.configurational, 1});
                BOOST_TEST(std::isnan(k.mean) == !kinetic);
                BOOST_TEST(std::isnan(c.mean) == !configurational);
                if (kinetic) BOOST_TEST(k.mean == t, boost::test_tools::tolerance(0.1));
                if (configurational) BOOST_TEST(c.mean == t, boost::test_tools::tolerance(0.2));
            }
            BOOST_TEST(summary(draws).find("The chains run at T = ") == std::string::npos);
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

// Far from 0, theta . gradient is hundreds of times noisier than (theta - c) . gradient. The mean is T at any place,
// within its error, which is a few per cent.
BOOST_AUTO_TEST_CASE(temperatures_far_from_zero) {
    const ModelPotential<double> model([](Model<double>& m) { m.prior(sum(square(m.real("x", {5}) - 100.0)) * -0.5); });
    const RunOptions options{
        .warmup = 500, .draws = 2000, .seed = 2, .starts = {std::vector<double>(5, 100)}, .show = Show::nothing};
    const Draws draws = run_chains(model, Sgld{.step_size = 0.1}, options);
    std::vector<BatchSums> sums;
    for (const ChainRecord& r : draws.chains) sums.push_back(r.temperature.configurational);
    const MeanAndError t = mean_and_error(sums);
    BOOST_TEST(t.error < 0.1);
    BOOST_TEST(std::abs(t.mean - 1) < 5 * t.error);
    const std::string text = summary(draws);
    BOOST_TEST(text.find("\ntemperature: configurational ") != text.npos);
    BOOST_TEST(text.find(" +- 0.0") != text.npos);
    BOOST_TEST(text.find("The chains run at T = ") == text.npos);
}

// Steps that are too large: the chain is much hotter than asked for, and the summary says so.
BOOST_AUTO_TEST_CASE(hot_chains_are_said_to_be_hot) {
    const ModelPotential<double> model([](Model<double>& m) { m.prior(sum(square(m.real("x", {5}))) * -0.5); });
    const Draws draws =
        run_chains(model, Sgld{.step_size = 3.0}, {.warmup = 100, .draws = 2000, .seed = 2, .show = Show::nothing});
    const std::string last = warnings(draws).back();
    BOOST_TEST(last.starts_with("The chains run at T = "));
    BOOST_TEST(last.ends_with(", not 1: the step is too large, or they have not arrived."));
    BOOST_TEST(summary(draws).ends_with("Warning: " + last + "\n"));
    // So hot that the error of the temperature is as large as itself; at 10 nothing is finite for long.
    for (const double step : {1.0, 10.0}) {
        const Draws hotter = run_chains(model, Sghmc{.step_size = step * 4.1, .friction = 0.1},
                                        {.warmup = 0, .draws = 60, .seed = 2, .show = Show::nothing});
        BOOST_TEST(warnings(hotter).back().starts_with("The chains run at T = "), summary(hotter));
    }
    // Friction lifts the momenta alone, to T / (1 - a/2), and that is as it should be.
    const Draws right = run_chains(model, Sghmc{.step_size = 0.01, .friction = 0.9},
                                   {.warmup = 100, .draws = 4000, .thin = 5, .seed = 2, .show = Show::nothing});
    BOOST_TEST(summary(right).find("temperature: kinetic 1.8") != std::string::npos, summary(right));
    for (const std::string& text : warnings(right)) BOOST_TEST(!text.starts_with("The chains run at T"), text);
}

// Where the step is 0 there is no momentum to measure, and the weight is 0: the other draws still tell the temperature.
BOOST_AUTO_TEST_CASE(steps_of_zero_do_not_hide_the_temperature) {
    const ModelPotential<double> model([](Model<double>& m) { m.prior(sum(square(m.real("x", {5}))) * -0.5); });
    const Schedule ends("0.01, and 0 from 900 on", [](std::int64_t t) { return t < 900 ? 0.01 : 0.0; });
    const Draws draws = run_chains(model, Sghmc{.step_size = ends, .friction = 0.1},
                                   {.warmup = 0, .draws = 1000, .seed = 2, .show = Show::nothing});
    BOOST_TEST(summary(draws).find("\ntemperature: kinetic ") != std::string::npos);
}

// E-BFMI is that of all steps, whatever is thinned: with independent Hamiltonians it is near 2 at every thinning.
BOOST_AUTO_TEST_CASE(ebfmi_is_that_of_all_steps) {
    const auto model = ModelPotential<double>([](Model<double>& m) {
        const auto v = m.real("v");
        m.prior(square(v) * (-0.5 / 9) - sum(square(m.real("x", {9}))) * exp(-v) * 0.5 - v * 4.5);
    });
    RunOptions options = short_run(200, 2000);
    const Draws all = run_chains(model, Hmc{.step_size = 0.1, .steps = 5, .warmup = {.step_size = false}}, options);
    options.draws = 100;
    options.thin = 20;
    const Draws thinned = run_chains(model, Hmc{.step_size = 0.1, .steps = 5, .warmup = {.step_size = false}}, options);
    for (std::size_t c = 0; c < 3; ++c) {
        BOOST_TEST(all.chains[c].ebfmi == ebfmi(all.chains[c].hamiltonian), boost::test_tools::tolerance(1e-9));
        BOOST_TEST(thinned.chains[c].ebfmi == all.chains[c].ebfmi, boost::test_tools::tolerance(1e-9));
        BOOST_TEST(ebfmi(thinned.chains[c].hamiltonian) > 2 * thinned.chains[c].ebfmi);
    }
    const auto line = [](const Draws& draws) {
        const std::string text = summary(draws);
        const std::size_t at = text.find("; E-BFMI at least ");
        return at == text.npos ? "" : text.substr(at, text.find('\n', at) - at);
    };
    BOOST_TEST(line(all) != "");
    BOOST_TEST(line(all) == line(thinned));
}

// Momenta that are kept change the energy slowly by design.
BOOST_AUTO_TEST_CASE(no_ebfmi_without_fresh_momenta) {
    const TemporaryDirectory folder;
    RunOptions options = short_run();
    const auto says = [](const Draws& draws) { return summary(draws).find("E-BFMI") != std::string::npos; };
    BOOST_TEST(says(run_chains(shapes_model<double>(), Hmc{}, options)));
    options.directory = folder / "hmc";
    const Draws kept = run_chains(shapes_model<double>(), Hmc{.alpha = 0.9}, options);
    BOOST_TEST(!says(kept));
    BOOST_TEST(!says(read_stan_csv(kept.files)));
    options.directory = {};
    BOOST_TEST(!says(run_chains(shapes_model<double>(), KineticLangevin{.step_size = 0.1}, options)));
}

// The header of a file has what was used.
BOOST_AUTO_TEST_CASE(files_say_how_it_was_adapted) {
    const TemporaryDirectory folder;
    const auto header = [&](const std::string& name, const auto& sampler, std::int64_t warmup) {
        RunOptions options = short_run(warmup, 2);
        options.directory = folder / name;
        const Draws draws = run_chains(shapes_model<double>(), sampler, options);
        BOOST_TEST(std::isnan(draws.facts.target_acceptance) ==
                   (contents(draws.files[0]).find("engaged") == std::string::npos));
        return contents(draws.files[0]);
    };
    const auto has = [](const std::string& text, const std::string& part) { return text.find(part) != text.npos; };
    const Hmc own{.target_acceptance = 0.7, .warmup = {.gamma = 0.1, .t0 = 5, .kappa = 0.6}};
    BOOST_TEST(has(header("own", own, 30),
                   "#     adapt\n#       engaged = 1\n#       gamma = 0.1\n#       delta = 0.7\n#       kappa = 0.6\n"
                   "#       t0 = 5\n"));
    BOOST_TEST(!has(header("none", own, 0), "engaged"));
    BOOST_TEST(!has(header("fixed", Hmc{.step_size = 0.1, .warmup = {.step_size = false}}, 30), "engaged"));
}

BOOST_AUTO_TEST_CASE(some_quantities) {
    const Draws draws = run_chains(shapes_model<double>(), Nuts{}, short_run(100, 200));
    const std::string all = summary(draws), some = summary(draws, {"s", "w[2,1]"});
    const auto line = [](const std::string& text, const std::string& begin) {
        const std::size_t at = text.find("\n" + begin);
        std::string found = text.substr(at + 1, text.find('\n', at + 1) - at - 1);
        found.erase(std::remove(found.begin(), found.end(), ' '), found.end());
        return found;
    };
    BOOST_TEST(line(some, "s ") == line(all, "s "));
    BOOST_TEST(line(some, "w[2,1] ") == line(all, "w[2,1] "));
    BOOST_TEST(some.find("\nx ") == some.npos);
    BOOST_TEST(line(some, "3 chains of 200 draws") == line(all, "3 chains of 200 draws"));
    BOOST_TEST(summary(draws, {"w"}).find("w[2,3] ") != std::string::npos);
    BOOST_TEST(error_of<ValueError>([&] { summary(draws, {"y"}); }) ==
               "Draws: there is no y; there are x, s, w, x_plus_s");
    BOOST_TEST(error_of<ValueError>([&] { draws["lp__"]; }) ==
               "Draws: there is no lp__; there are x, s, w, x_plus_s; what the sampler says is in "
               "statistic(&ChainRecord::energy) and others");
}

// A run without draws that count says so, in place of a table.
BOOST_AUTO_TEST_CASE(summary_without_draws) {
    const Draws none = run_chains(shapes_model<double>(), Nuts{}, short_run(20, 0));
    BOOST_TEST(summary(none) == "no draws: none were asked for\n");
    BOOST_TEST(warnings(none).size() == 1);
    Draws stopped = none;
    stopped.interrupted = true;
    stopped.warmup = 400;
    stopped.asked = 1000;
    for (ChainRecord& r : stopped.chains) r.warmup_steps = 61, r.steps = 0;
    BOOST_TEST(summary(stopped) == "no draws yet: interrupted in the warm-up, after step 61 of 400\n");
    stopped.chains[1].warmup_steps = 64;
    stopped.files = {"chain_1.csv", "chain_2.csv", "chain_3.csv"};
    BOOST_TEST(summary(stopped) ==
               "no draws yet: interrupted in the warm-up, after steps 61 to 64 of 400; resume goes on from there\n");
    for (ChainRecord& r : stopped.chains) r.warmup_steps = 400, r.steps = 3;
    stopped.thin = 5;
    stopped.files = {};
    BOOST_TEST(summary(stopped) == "no draws yet: interrupted after step 403 of 5400\n");
    Draws weightless = run_chains(shapes_model<double>(), Walk{}, short_run(20, 30));
    for (ChainRecord& r : weightless.chains) r.weight.assign(30, 0.0);
    const std::string why =
        "no draws that count: the weight of all 30 is 0; they fell into the exploration part of a cycle, or their "
        "steps were 0";
    BOOST_TEST(summary(weightless) == why + "\n");
    BOOST_TEST(warnings(weightless)[0] == why);
    Draws half = run_chains(shapes_model<double>(), Walk{}, short_run(20, 30));
    half.interrupted = true;
    half.asked = 100;
    BOOST_TEST(summary(half).find("\n3 chains of 30 of 100 draws, interrupted; ") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(interrupted_runs_say_how_far_they_came) {
    const auto stopped = [](std::int64_t warmup) {
        const auto evaluations = std::make_shared<std::atomic<int>>(0);
        const ModelPotential<double> model([evaluations](Model<double>& m) {
            if (++*evaluations == 90) std::raise(SIGINT);
            m.prior(square(m.real("x")) * -0.5);
        });
        const Interrupt interrupt;
        return run_chains(model, Walk{},
                          {.chains = 1, .warmup = warmup, .draws = 1000, .seed = 7, .show = Show::nothing});
    };
    const std::string text = summary(stopped(400));
    BOOST_TEST(text.starts_with("no draws yet: interrupted in the warm-up, after step "));
    BOOST_TEST(text.ends_with(" of 400\n"));
    const std::string some = summary(stopped(10));
    BOOST_TEST(some.find("\n1 chain of ") != some.npos);
    BOOST_TEST(some.find(" of 1000 draws, interrupted; acceptance ") != some.npos);
}

BOOST_AUTO_TEST_CASE(cyclical_runs_whose_draws_cannot_count_do_not_start) {
    BOOST_TEST(error_of<ValueError>([] { run_chains(shapes_model<double>(), Cyclical{}, short_run(50, 100)); }) ==
               "run_chains: chain 1: Cyclical: all draws fall into the exploration part: Cyclical has .steps = 1000, "
               "the run has 150; set .steps to warmup + draws * thin, or make cycles shorter");
}

BOOST_AUTO_TEST_SUITE_END()
