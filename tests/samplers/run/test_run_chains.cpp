#include "../../support.hpp"
#include "run_files.hpp"
#include "short_run.hpp"
#include "walk_sampler.hpp"

#include <pollen/autograd/parallel.hpp>
#include <pollen/nn/layers/activations.hpp>
#include <pollen/nn/layers/dense.hpp>
#include <pollen/nn/likelihoods/gaussian.hpp>
#include <pollen/nn/module/sequential.hpp>
#include <pollen/nn/potentials/network_potential.hpp>
#include <pollen/samplers/diagnostics/diagnostics.hpp>
#include <pollen/samplers/draws/stan_csv.hpp>
#include <pollen/samplers/full_batch/hmc.hpp>
#include <pollen/samplers/full_batch/kinetic_langevin.hpp>
#include <pollen/samplers/full_batch/mala.hpp>
#include <pollen/samplers/full_batch/metropolis.hpp>
#include <pollen/samplers/full_batch/nuts.hpp>
#include <pollen/samplers/full_batch/tempering.hpp>
#include <pollen/samplers/minibatch/cyclical.hpp>
#include <pollen/samplers/minibatch/psgld.hpp>
#include <pollen/samplers/minibatch/sghmc.hpp>
#include <pollen/samplers/minibatch/sgld.hpp>
#include <pollen/samplers/minibatch/sgnht.hpp>
#include <pollen/samplers/run/detail/run_progress.hpp>
#include <pollen/samplers/run/run_chains.hpp>

#include <csignal>
#include <cstdio>
#include <cstring>
#include <limits>

using namespace pollen;
using namespace pollen::test;

BOOST_AUTO_TEST_SUITE(run_chains_)

namespace {

bool same_bits(const Tensor<double>& a, const Tensor<double>& b) {
    return a.shape() == b.shape() &&
           std::memcmp(a.data(), b.data(), static_cast<std::size_t>(a.size()) * sizeof(double)) == 0;
}

template <class T>
std::string error_at(const RunOptions& options, const Walk& walk = {}) {
    return error_of<T>([&] { run_chains(shapes_model<double>(), walk, options); });
}

}  // namespace

BOOST_AUTO_TEST_CASE(draws_have_names_shapes_and_statistics) {
    const Draws draws = run_chains(shapes_model<double>(), Walk{.weight = 3}, short_run());
    BOOST_TEST(draws.values.shape() == (Shape{3, 60, 9}));
    BOOST_TEST(draws["x"].shape() == (Shape{3, 60}));
    BOOST_TEST(draws["w"].shape() == (Shape{3, 60, 2, 3}));
    const std::vector<std::string> names{"x",      "s",      "w[1,1]", "w[1,2]",  "w[1,3]",
                                         "w[2,1]", "w[2,2]", "w[2,3]", "x_plus_s"};
    BOOST_TEST(draws.names() == names, boost::test_tools::per_element());
    BOOST_TEST(draws["w[2,3]"] == draws.at("w", {1, 2}));
    for (std::int64_t c = 0; c < 3; ++c) {
        for (std::int64_t t = 0; t < 60; ++t) {
            BOOST_TEST(draws["w"](c, t, 1, 2) == draws.values(c, t, 7));
            BOOST_TEST(draws["x_plus_s"](c, t) == draws["x"](c, t) + draws["s"](c, t));
        }
    }
    BOOST_TEST(std::isfinite(rhat(draws["x"])));
    BOOST_TEST(!draws.interrupted);
    BOOST_TEST(draws.chains[2].chain == 3);
    BOOST_TEST(draws.chains[0].step_size_after_warmup == draws.chains[0].step_size[0]);
    BOOST_TEST(draws.chains[0].weight[9] == 3.0 / 7);  // after step 60
    // Every energy is that of its draw: x^2/2 + s - log s + w'w/2.
    const ChainRecord& first = draws.chains[0];
    for (std::int64_t t = 0; t < 60; ++t) {
        const double x = draws["x"](0, t), s = draws["s"](0, t);
        double energy = x * x / 2 + s - std::log(s);
        for (std::int64_t k = 2; k < 8; ++k) energy += draws.values(0, t, k) * draws.values(0, t, k) / 2;
        BOOST_TEST(first.energy[static_cast<std::size_t>(t)] == energy, boost::test_tools::tolerance(1e-12));
    }
    BOOST_TEST(summary(draws).find("3 chains of 60 draws; acceptance 0.") != std::string::npos);
    BOOST_TEST(error_of<ValueError>([&] { draws["y"]; }) == "Draws: there is no y; there are x, s, w, x_plus_s");
    BOOST_TEST(error_of<ValueError>([&] { draws["w[0,1]"]; }) ==
               "Draws: there is no w[0,1]; w has shape (2, 3), counted from 1 here");
    for (const char* name : {"w[1]", "w[1,2,3]", "w[1,2", "w[1,2]]", "w[1;2]", "w[1,4]", "w[]", "w[,]", "w[-1,1]"})
        BOOST_TEST(error_of<ValueError>([&] { draws[name]; }) ==
                   "Draws: there is no " + std::string(name) + "; w has shape (2, 3), counted from 1 here");
    BOOST_TEST(error_of<ShapeError>([&] {
                   draws.at("w", {2, 0});
               }) == "Draws: w has shape (2, 3) and no element (2, 0)");
}

// The names of all of them are not written out to find it.
BOOST_AUTO_TEST_CASE(an_element_of_many_is_found_by_its_index) {
    const Draws draws{
        .quantities = {{"w", {2000, 1000}, 0}}, .values = normals({1, 1, 2'000'000}), .chains = {}, .files = {}};
    for (std::int64_t k = 1'999'000; k < 2'000'000; ++k) {
        const std::string name = "w[" + std::to_string(k / 1000 + 1) + "," + std::to_string(k % 1000 + 1) + "]";
        BOOST_TEST(draws[name](0, 0) == draws.values(0, 0, k));
    }
}

BOOST_AUTO_TEST_CASE(the_number_of_threads_changes_no_bit) {
    for (const bool single : {false, true}) {
        const auto run = [&] {
            return single ? run_chains(shapes_model<float>(), Walk{}, short_run())
                          : run_chains(shapes_model<double>(), Walk{}, short_run());
        };
        Draws one, other;
        with_threads(1, [&] { one = run(); });
        for (const int threads : {2, 8}) {
            with_threads(threads, [&] { other = run(); });
            BOOST_TEST(same_bits(one.values, other.values));
            BOOST_TEST(same_bits(one.statistic(&ChainRecord::energy), other.statistic(&ChainRecord::energy)));
        }
    }
}

// Loops inside of the potential are shared by threads, too.
BOOST_AUTO_TEST_CASE(nor_does_it_where_one_evaluation_is_shared_by_threads) {
    Dataset<float> data{.inputs = Tensor<float>::empty({1500, 20}), .targets = Tensor<float>::empty({1500, 1})};
    Random random(4);
    random.fill_normal(data.inputs.mutable_values());
    random.fill_normal(data.targets.mutable_values());
    const Sequential<float> net{Dense<float>(20, 120), Tanh<float>(), Dense<float>(120, 120), Tanh<float>(),
                                Dense<float>(120, 1)};
    const NetworkPotential<float> potential(net, Gaussian<float>::known(1), data);
    RunOptions options = short_run(6, 4);
    options.chains = 2;
    options.radius = 0.1;
    const auto check = [&](const auto& sampler) {
        Draws one, other;
        with_threads(1, [&] { one = run_chains(potential, sampler, options); });
        for (const int threads : {2, 4}) {
            with_threads(threads, [&] { other = run_chains(potential, sampler, options); });
            BOOST_TEST(same_bits(one.values, other.values), sampler.describe() << " on " << threads << " threads");
            BOOST_TEST(same_bits(one.statistic(&ChainRecord::energy), other.statistic(&ChainRecord::energy)));
        }
    };
    check(Nuts{.max_depth = 3});
    check(Sgld{.step_size = 1e-5, .batch = 700});
}

BOOST_AUTO_TEST_CASE(thinning_keeps_the_last_step_of_each_draw) {
    RunOptions options = short_run(20, 90);
    const Draws all = run_chains(shapes_model<double>(), Walk{}, options);
    options.draws = 30;
    options.thin = 3;
    const Draws thinned = run_chains(shapes_model<double>(), Walk{}, options);
    for (std::int64_t t = 0; t < 30; ++t) BOOST_TEST(thinned["x"](1, t) == all["x"](1, 3 * t + 2));
}

BOOST_AUTO_TEST_CASE(starts_are_used) {
    RunOptions options = short_run(0, 1);
    options.starts = {{10, 0, 1, 2, 3, 4, 5, 6}, {20, 0, 1, 2, 3, 4, 5, 6}, {30, 0, 1, 2, 3, 4, 5, 6}};
    const Draws draws = run_chains(shapes_model<double>(), Walk{.scale = 1e-9}, options);
    for (std::int64_t c = 0; c < 3; ++c)
        BOOST_TEST(draws["x"](c, 0) == 10 * static_cast<double>(c + 1), boost::test_tools::tolerance(1e-8));
    options.starts = {{1, 2}};
    BOOST_TEST(error_at<ValueError>(options) == "run_chains: start 1 has 2 numbers; theta has 8");
    options.starts = {{1, 2}, {1, 2}};
    BOOST_TEST(error_at<ValueError>(options) ==
               "run_chains: 2 starts for 3 chains; one a chain, or one for all, is needed");
    options.starts = {{10, 800, 1, 2, 3, 4, 5, 6}};
    BOOST_TEST(error_at<ValueError>(options) ==
               "run_chains: chain 1: the energy of its start is inf + 0 (prior and likelihood); it must be finite; "
               "look at s");
}

BOOST_AUTO_TEST_CASE(files_hold_the_same_draws_as_the_memory) {
    const TemporaryDirectory folder;
    RunOptions options = short_run();
    options.directory = folder / "deep/down";
    options.save_warmup = true;
    options.flush_every = 7;
    const Draws draws = run_chains(shapes_model<double>(), Walk{.weight = 2}, options);
    BOOST_REQUIRE(draws.files.size() == 3);
    const Draws read = read_stan_csv(draws.files);
    BOOST_TEST(same_bits(read.values, draws.values));
    BOOST_TEST(same_bits(read.statistic(&ChainRecord::weight), draws.statistic(&ChainRecord::weight)));
    BOOST_TEST(same_bits(read.statistic(&ChainRecord::energy), draws.statistic(&ChainRecord::energy)));
    BOOST_TEST(read.chains[1].step_size_after_warmup == draws.chains[1].step_size_after_warmup);
    std::int64_t warmup = 0;
    StanCsvReader reader(draws.files[0]);
    for (StanCsvReader::Row row; reader.next(row);) warmup += row.warmup;
    BOOST_TEST(warmup == 50);

    // Resumed, the finished run gives the same draws and leaves the files as they are; also without keeping values.
    const std::string before = contents(draws.files[0]);
    options.resume = true;
    BOOST_TEST(same_bits(run_chains(shapes_model<double>(), Walk{.weight = 2}, options).values, draws.values));
    options.keep = false;
    const Draws unkept = run_chains(shapes_model<double>(), Walk{.weight = 2}, options);
    BOOST_TEST(unkept.values.size() == 0);
    BOOST_TEST(unkept.size() == 60);
    BOOST_TEST(same_bits(unkept.statistic(&ChainRecord::energy), draws.statistic(&ChainRecord::energy)));
    BOOST_TEST(contents(draws.files[0]) == before);
    BOOST_TEST(error_of<ValueError>([&] { unkept["x"]; }) ==
               "Draws: x: the values were not kept in memory (keep = false); read the files with read_stan_csv");
    BOOST_TEST(!std::filesystem::exists(folder / "deep/down/.chain_1.state.1-0.tmp"));
}

BOOST_AUTO_TEST_CASE(energies_that_are_not_numbers_are_counted) {
    const auto model = ModelPotential<double>([](Model<double>& m) {
        const auto x = m.real("x");
        m.prior(x * x * -0.5 + sqrt(x + 1.0) * 0.0);
    });
    RunOptions options = short_run(0, 200);
    options.starts = {{0}};
    const Draws draws = run_chains(model, Walk{.scale = 2}, options);
    std::int64_t count = 0;
    for (const ChainRecord& r : draws.chains) {
        BOOST_TEST(r.invalid_steps == std::count(r.invalid.begin(), r.invalid.end(), 1));
        BOOST_TEST(r.steps == 200);
        count += r.invalid_steps;
    }
    BOOST_TEST(count > 10);
    BOOST_TEST(warnings(draws).back().starts_with("An energy that is not a number was met, and rejected, in " +
                                                  std::to_string(count) + " of 600 steps: chain 1 ("));
}

BOOST_AUTO_TEST_CASE(options_that_cannot_be) {
    const auto with = [](auto change) {
        RunOptions options = short_run();
        change(options);
        return error_at<ValueError>(options);
    };
    BOOST_TEST(with([](auto& o) { o.chains = 0; }) == "run_chains: chains is 0; at least 1 is needed");
    BOOST_TEST(with([](auto& o) { o.warmup = -1; }) == "run_chains: warmup is -1; it must not be negative");
    BOOST_TEST(with([](auto& o) { o.thin = 0; }) == "run_chains: thin is 0; at least 1 is needed");
    BOOST_TEST(with([](auto& o) { o.radius = NAN; }) == "run_chains: radius is nan; it must be a number from 0 up");
    BOOST_TEST(with([](auto& o) { o.resume = true; }) == "run_chains: resume needs a directory");
    BOOST_TEST(with([](auto& o) { o.save_warmup = true; }) == "run_chains: save_warmup needs a directory");
    BOOST_TEST(with([](auto& o) { o.keep = false; }) ==
               "run_chains: keep = false needs a directory for the draws to go to");
    BOOST_TEST(
        with([](auto& o) { o.draws = 1'000'000'000; }) ==
        "run_chains: 3 chains of 1000000000 draws of 9 numbers need 378 GB of memory (378 GB of draws, 2.3 kB of "
        "chains), more than max_memory, 4.29 GB; draw less, thin more, or let draws go to a directory alone (keep = "
        "false)");
    BOOST_TEST(with([](auto& o) { o.max_memory = 1000; }) ==
               "run_chains: 3 chains of 60 draws of 9 numbers need 25 kB of memory (22.7 kB of draws, 2.3 kB of "
               "chains), more than max_memory, 1 kB; draw less, thin more, or let draws go to a directory alone (keep "
               "= false)");
}

// What chains keep counts, before they take it: two matrices of numbers and two in double each, for a dense metric.
BOOST_AUTO_TEST_CASE(dense_metrics_are_part_of_the_memory) {
    const ModelPotential<double> model([](Model<double>& m) { m.prior(sum(square(m.real("x", {20000}))) * -0.5); });
    BOOST_TEST(error_of<ValueError>([&] { run_chains(model, Nuts{.metric = MetricKind::dense}, short_run(100, 1)); }) ==
               "run_chains: 3 chains of 1 draws of 20000 numbers need 38.5 GB of memory (480 kB of draws, 38.5 GB of "
               "chains), more than max_memory, 4.29 GB; take a diagonal metric, or run fewer chains");
    // With files a state is there three times while it is saved; what to do is the same.
    RunOptions saved = short_run(100, 1);
    saved.directory = "/nowhere";
    BOOST_TEST(error_of<ValueError>([&] { run_chains(model, Nuts{.metric = MetricKind::dense}, saved); }) ==
               "run_chains: 3 chains of 1 draws of 20000 numbers need 115 GB of memory (480 kB of draws, 15.3 MB of "
               "file buffers, 115 GB of chains), more than max_memory, 4.29 GB; take a diagonal metric, or run fewer "
               "chains");
    // Long names of many numbers are in the header of each file.
    const ModelPotential<double> named(
        [](Model<double>& m) { m.prior(sum(square(m.real(std::string(100, 'x'), {20000}))) * -0.5); });
    saved.max_memory = 1000;
    BOOST_TEST(error_of<ValueError>([&] { run_chains(named, Walk{}, saved); }).find(" 27.1 MB of file buffers") !=
               std::string::npos);
    // The advice is for the sampler that was asked for.
    RunOptions little = short_run(100, 1);
    little.max_memory = 1000;
    BOOST_TEST(error_of<ValueError>([&] {
                   run_chains(model, Sghmc{.step_size = 0.01}, little);
               }).ends_with(" of chains), more than max_memory, 1 kB; run fewer chains"));
}

// The estimate is that of what a chain keeps from step to step, and of no more than three times as much.
BOOST_AUTO_TEST_CASE(state_bytes_are_about_right) {
    struct Counter final : StateVisitor {
        double bytes = 0;
        void number(const char*, double&) override {}
        void integer(const char*, std::int64_t&) override {}
        void vector(const char*, std::vector<float>& x) override { bytes += static_cast<double>(4 * x.size()); }
        void vector(const char*, std::vector<double>& x) override { bytes += static_cast<double>(8 * x.size()); }
    };
    const ModelPotential<double> model([](Model<double>& m) { m.prior(sum(square(m.real("x", {100}))) * -0.5); });
    // NUTS has room for the points of a tree, and tempering for momenta, which are not part of a state.
    const auto check = [&](const auto& sampler, double slack = 200 * 800) {
        const auto chain = sampler.begin(model.clone(), ChainStart<double>{std::vector<double>(100, 0.1), 0, 0, 100});
        for (int t = 0; t < 3; ++t) chain->step();
        Counter kept;
        chain->visit(kept);
        const double estimate = state_bytes_of(sampler, 100, sizeof(double));
        BOOST_TEST(estimate >= kept.bytes, sampler.describe());
        BOOST_TEST(estimate < 3 * kept.bytes + slack, sampler.describe());
    };
    for (const MetricKind metric : {MetricKind::unit, MetricKind::diagonal, MetricKind::dense}) {
        check(Nuts{.metric = metric});
        check(Hmc{.metric = metric});
        check(Mala{.metric = metric});
        check(Metropolis{.metric = metric});
        check(KineticLangevin{.step_size = 0.1, .metric = metric});
    }
    check(Tempering{.temperatures = {1, 2, 4}});
    check(Sgld{.step_size = 1e-3}, 6 * 800);
    check(Psgld{.step_size = 1e-3}, 6 * 800);
    check(Sghmc{.step_size = 1e-3}, 6 * 800);
    check(Sgnht{.step_size = 1e-3}, 6 * 800);
}

BOOST_AUTO_TEST_CASE(progress_says_how_far_a_chain_is) {
    std::vector<detail::ChainStatus> many(200, {.steps = 10, .divergences = 1});
    many[0] = {.steps = 100, .warmup = false};
    many[1] = {.steps = 60, .warmup = false};
    BOOST_TEST(detail::all_text(many, 100) == "10 % of 200 chains: 198 in the warm-up, 1 sampling, 1 done, 198 div");
    const detail::ChainStatus s{
        .steps = 900, .warmup = false, .acceptance = 0.871, .step_size = 0.3125, .divergences = 1};
    BOOST_TEST(detail::status_text(s, 2000, "  12 s left", false) ==
               "sampling  45 %  12 s left  acceptance 0.87  step 0.312  1 divergence");
    BOOST_TEST(detail::status_text(s, 900, "", true) == "done     100 %  accept 0.87  step 0.312  1 div");
    BOOST_TEST(detail::status_text({.divergences = 0}, 10, "", false) == "warm-up    0 %  0 divergences");
    // A sampler that cannot diverge.
    BOOST_TEST(detail::status_text({}, 10, "", false) == "warm-up    0 %");
    BOOST_TEST(detail::all_text(std::vector<detail::ChainStatus>(2), 10) ==
               "0 % of 2 chains: 2 in the warm-up, 0 sampling, 0 done");
}

BOOST_AUTO_TEST_CASE(no_draws_at_all) {
    const TemporaryDirectory folder;
    RunOptions options = short_run(5, 0);
    options.directory = folder.path();
    const Draws draws = run_chains(shapes_model<double>(), Walk{}, options);
    BOOST_TEST(draws.values.shape() == (Shape{3, 0, 9}));
    BOOST_TEST(contents(folder / "chain_1.csv").find("# Adaptation terminated") != std::string::npos);

    // The step size is the one that draws would have had.
    options.directory = {};
    options.warmup = 100;
    const Draws none = run_chains(shapes_model<double>(), Nuts{}, options);
    options.draws = 1;
    const Draws one = run_chains(shapes_model<double>(), Nuts{}, options);
    for (std::size_t c = 0; c < 3; ++c) {
        BOOST_TEST(none.chains[c].step_size_after_warmup == one.chains[c].step_size[0]);
        BOOST_TEST(one.chains[c].step_size_after_warmup == one.chains[c].step_size[0]);
    }
}

BOOST_AUTO_TEST_SUITE_END()
