#include "../../support.hpp"

#include "../../nn/potentials/spread_cases.hpp"
#include "shared_tempering.hpp"

using namespace pollen;
using namespace pollen::test;

// Tempering whose rungs are shared by the ranks of a group.
BOOST_AUTO_TEST_SUITE(shared_tempering)

namespace {

using Kernel = Tempering::Kernel;

template <Real T>
RankResults run_on(int ranks, const RunOptions& options, Kernel kernel, const ModelPotential<T>& model) {
    return on_ranks(ranks, [&](Group& group) { return run_chains(model, five_rungs(kernel, &group), options); });
}

// What each rank of three throws if rank 2 differs from the others.
template <class F>
std::vector<std::string> errors_of(const F& run) {
    return on_ranks(3, run).errors;
}

template <Real T>
void check_same(Kernel kernel, const std::string& folder) {
    const ModelPotential<T> model = tempered_model<T>();
    RunOptions options = pair_of_chains(folder + "/one");
    const Draws whole = run_chains(model, five_rungs(kernel), options);
    std::int64_t invalid = 0;
    for (const ChainRecord& chain : whole.chains) invalid += chain.invalid_steps;
    BOOST_TEST(invalid > 0);  // some points are refused
    for (const int ranks : {1, 2, 3, 4, 7}) {
        options.directory = folder + "/" + std::to_string(ranks) + "ranks";
        const RankResults results = run_on(ranks, options, kernel, model);
        BOOST_TEST(results.fine());
        BOOST_TEST(different(results.root(), whole) == "", ranks << " ranks");
        BOOST_TEST(same_run(folder + "/one", options.directory, pair), ranks << " ranks");
        BOOST_TEST(TemporaryDirectory::names_in(options.directory).size() == 2 * pair);
    }
    // A broken twin: with another seed nothing is the same.
    options.directory = folder + "/broken";
    options.seed = 12;
    BOOST_TEST(different(run_on(3, options, kernel, model).root(), whole) != "");
    BOOST_TEST(!same_run(folder + "/one", options.directory, pair));
}

}  // namespace

BOOST_AUTO_TEST_CASE(draws_and_files_are_those_of_one_process) {
    const TemporaryDirectory folder;
    arm_files();
    const ResetCalls reset;
    check_same<double>(Kernel::hmc, folder / "double");
    check_same<float>(Kernel::hmc, folder / "float");
    check_same<double>(Kernel::metropolis, folder / "walk_double");
    check_same<float>(Kernel::metropolis, folder / "walk_float");
}

// The other ranks take their part: of five rungs, the last of three ranks has one, which is rung 2.
BOOST_AUTO_TEST_CASE(each_rank_moves_its_rungs) {
    std::vector<std::int64_t> counts(3);
    RunOptions options = pair_of_chains("");
    const RankResults results = on_ranks(3, [&](Group& group) {
        std::int64_t& count = counts[static_cast<std::size_t>(group.rank())];
        Tempering ladder = five_rungs(Kernel::metropolis, &group);
        ladder.steps = 1000;
        return run_chains(tempered_model<double>([&](double) { ++count; }), ladder, options);
    });
    BOOST_TEST(results.fine());
    const std::int64_t moves = pair * (40 + 30 * 2) * 1000;
    for (std::size_t rank = 0; rank < 3; ++rank) {
        const std::int64_t rungs = rank < 2 ? 2 : 1;
        BOOST_TEST(counts[rank] >= rungs * moves);
        BOOST_TEST(counts[rank] < rungs * moves + 1000);  // starts, and the energies at fixed points
    }
    BOOST_TEST(different(results.root(), run_chains(
                                             tempered_model<double>(),
                                             [] {
                                                 Tempering ladder = five_rungs(Kernel::metropolis);
                                                 ladder.steps = 1000;
                                                 return ladder;
                                             }(),
                                             options)) == "");
}

BOOST_AUTO_TEST_CASE(an_interrupted_run_goes_on_at_another_number_of_ranks) {
    const TemporaryDirectory folder;
    arm_files();
    const ResetCalls reset;
    const ModelPotential<double> model = tempered_model<double>();
    for (const Kernel kernel : {Kernel::hmc, Kernel::metropolis}) {
        const std::string name = kernel == Kernel::hmc ? "/hmc" : "/walk";
        const Draws whole = run_chains(model, five_rungs(kernel), pair_of_chains(folder.path() + name));
        for (const std::vector<int>& order : {std::vector<int>{1, 3}, {4, 2, 1}, {7, 5}, {2, 7, 3}}) {
            const RunOptions options = pair_of_chains(folder.path() + name + std::to_string(order[0]));
            for (std::size_t k = 0; k + 1 < order.size(); ++k) {
                const StoppingFuse stopping(900);
                const RankResults cut = run_on(order[k], options, kernel, model);
                BOOST_TEST(cut.fine());
                BOOST_TEST(cut.root().interrupted);
            }
            const RankResults results = run_on(order.back(), options, kernel, model);
            BOOST_TEST(results.fine());
            BOOST_TEST(different(results.root(), whole) == "", options.directory);
            BOOST_TEST(same_run(folder.path() + name, options.directory, pair), options.directory);
        }
    }
}

// The draws before the fault are kept, and the run goes on once it is mended.
BOOST_AUTO_TEST_CASE(an_exception_on_one_rank) {
    const TemporaryDirectory folder;
    arm_files();
    const ResetCalls reset;
    const ModelPotential<double> model = tempered_model<double>();
    const Draws whole = run_chains(model, five_rungs(Kernel::hmc), pair_of_chains(folder / "whole"));
    for (int bad = 0; bad < 3; ++bad) {
        const RunOptions options = pair_of_chains(folder / std::to_string(bad));
        const RankResults results = on_ranks(3, [&](Group& group) {
            std::int64_t left = group.rank() == bad ? 700 : -1;
            return run_chains(tempered_model<double>([&](double) {
                                  if (left-- == 0) throw std::runtime_error("a fault");
                              }),
                              five_rungs(Kernel::hmc, &group), options);
        });
        const std::string text = std::string("run_chains: chain ") +
                                 (results.errors[0].find("chain 2") < 30 ? "2" : "1") + ": " +
                                 (bad > 0 ? "rank " + std::to_string(bad) + ": " : "") + "a fault";
        BOOST_TEST(results.errors[0] == "Error: " + text);
        BOOST_TEST(results.errors[1] == "GroupError: rank 0: " + text);
        BOOST_TEST(results.errors[2] == results.errors[1]);
        BOOST_REQUIRE(results.kept);
        BOOST_TEST(results.kept->interrupted);
        const RankResults mended = run_on(bad + 1, options, Kernel::hmc, model);
        BOOST_TEST(mended.fine());
        BOOST_TEST(different(mended.root(), whole) == "");
        BOOST_TEST(same_run(folder / "whole", options.directory, pair));
    }
}

// What goes wrong on rank 0 alone.
BOOST_AUTO_TEST_CASE(what_rank_0_throws) {
    const TemporaryDirectory folder;
    put(folder / "chain_1.csv", "mine");
    RunOptions options = pair_of_chains(folder.path());
    options.resume = false;
    const std::string text =
        folder / "chain_1.csv" + ": is there already; resume that run, remove its files, or choose another directory";
    const std::vector<std::string> errors = run_on(3, options, Kernel::hmc, tempered_model<double>()).errors;
    BOOST_TEST(errors[0] == "Error: " + text);
    for (const std::size_t rank : {1, 2}) BOOST_TEST(errors[rank] == "GroupError: rank 0: " + text);
}

BOOST_AUTO_TEST_CASE(ranks_that_disagree) {
    const RunOptions options = pair_of_chains("");
    const auto all = [](const std::vector<std::string>& errors, const std::string& text) {
        for (const std::string& error : errors) BOOST_TEST(error == text);
    };
    all(errors_of([&](Group& group) {
            Tempering ladder = five_rungs(Kernel::hmc, &group);
            ladder.adapt = group.rank() < 2;
            return run_chains(tempered_model<double>(), ladder, options);
        }),
        "GroupError: the ranks do not agree on the sampler, from byte 123 on: ranks 0 and 1: \"... by kernel, adapt = "
        "yes)\"; rank 2: \"... by kernel, adapt = no)\"");
    all(errors_of([&](Group& group) {
            RunOptions own = options;
            own.seed = group.rank() < 2 ? 1 : 2;
            return run_chains(tempered_model<double>(), five_rungs(Kernel::hmc, &group), own);
        }),
        "GroupError: the ranks do not agree on the seed: ranks 0 and 1: \"1\"; rank 2: \"2\"");
    const std::vector<std::string> data = errors_of([&](Group& group) {
        return run_chains(tempered_model<double>({}, group.rank() < 2 ? 3 : std::nextafter(3.0, 4.0)),
                          five_rungs(Kernel::hmc, &group), options);
    });
    const std::string begin = "GroupError: the ranks do not agree on the energies at fixed points: ranks 0 and 1: \"";
    for (const std::string& error : data) BOOST_TEST(error.substr(0, begin.size()) == begin);
    all(errors_of([&](Group& group) {
            RunOptions own = options;
            own.thin = group.rank() < 2 ? 1 : 0;
            return run_chains(tempered_model<double>(), five_rungs(Kernel::hmc, &group), own);
        }),
        "GroupError: rank 2: run_chains: thin is 0; at least 1 is needed");
}

// One thing at a time is spread.
BOOST_AUTO_TEST_CASE(what_else_is_spread) {
    const auto errors = errors_of([](Group& group) {
        RunOptions options = pair_of_chains("");
        options.group = &group;
        return run_chains(tempered_model<double>(), five_rungs(Kernel::hmc, &group), options);
    });
    for (const std::string& error : errors)
        BOOST_TEST(error ==
                   "ValueError: run_chains: the ranks share the steps of the sampler, so they cannot share its chains; "
                   "leave out the option group of the run, or that of the sampler");
    const auto items = errors_of([](Group& group) {
        const auto potential = spread_potential<double>(NetworkCase<double>{}, group, spread_data<double>(20), 7);
        return run_chains(potential, five_rungs(Kernel::hmc, &group), pair_of_chains(""));
    });
    for (const std::string& error : items)
        BOOST_TEST(error ==
                   "ValueError: run_chains: the items of the potential are spread over the ranks, so the steps of its "
                   "chains cannot be shared; leave out the sampler's option group");
}

// A program may make the steps itself.
BOOST_AUTO_TEST_CASE(steps_inside_of_lead) {
    const ModelPotential<double> model = tempered_model<double>();
    const auto positions = [&](Group* group) {
        const Tempering ladder = five_rungs(Kernel::hmc, group);
        std::vector<double> all;
        ladder.lead(model, [&] {
            const auto chain = ladder.begin(model.clone(), ChainStart<double>{{0.5, 0.5}, 3, 1, 10});
            for (int step = 0; step < 30; ++step) {
                chain->step();
                all.insert(all.end(), chain->position().begin(), chain->position().end());
            }
        });
        return all;
    };
    const std::vector<double> alone = positions(nullptr);
    run_group(3, [&](Group& group) {
        const std::vector<double> own = positions(&group);
        require(own == (group.rank() == 0 ? alone : std::vector<double>()), "the positions");
        const std::string error = thrown_by([&] {
            if (group.rank() > 0)
                five_rungs(Kernel::hmc, &group).begin(model.clone(), ChainStart<double>{{0.5, 0.5}, 3, 1, 10});
        });
        require(error == (group.rank() == 0 ? ""
                                            : "ValueError: Tempering: rank 0 of the group has the chains; call "
                                              "run_chains(), or lead() with a function that begins them, on all ranks"),
                error);
    });
    // Outside of it, the others make other calls.
    const std::vector<std::string> errors = errors_of([&](Group& group) {
        if (group.rank() == 0)
            five_rungs(Kernel::hmc, &group).begin(model.clone(), ChainStart<double>{{0.5, 0.5}, 3, 1, 10})->step();
        group.barrier();
        return Draws{};
    });
    for (const std::string& error : errors)
        BOOST_TEST(error ==
                   "GroupError: the ranks make different calls: rank 0: Tempering: step of 5 rungs of 2 numbers; ranks "
                   "1 and 2: barrier");
}

BOOST_AUTO_TEST_SUITE_END()
