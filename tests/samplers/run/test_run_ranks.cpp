#include "../../standard_error.hpp"
#include "../../support.hpp"
#include "rank_runs.hpp"

#include <pollen/autograd/parallel.hpp>
#include <pollen/samplers/draws/npz_draws.hpp>
#include <pollen/samplers/draws/predict_draws.hpp>
#include <pollen/samplers/draws/stan_csv.hpp>

#include <atomic>
#include <regex>

using namespace pollen;
using namespace pollen::test;

// Chains that are spread over the ranks of a group.
BOOST_AUTO_TEST_SUITE(run_ranks)

namespace {

constexpr int five = 5;

// Five chains, so that shares differ and seven ranks are too many.
RunOptions spread(const std::string& directory) {
    RunOptions options = quiet(directory);
    options.chains = five;
    return options;
}

RankResults run_on(int ranks, const RunOptions& options, Kind kind = Kind::nuts) {
    return on_ranks(ranks, [=](Group& group) {
        RunOptions own = options;
        own.group = &group;
        return run(own, kind);
    });
}

RunOptions resumed(RunOptions options) {
    options.resume = true;
    return options;
}

}  // namespace

BOOST_AUTO_TEST_CASE(draws_and_files_are_those_of_one_process) {
    const TemporaryDirectory folder;
    arm_files();  // without flushes to the disk
    const ResetCalls reset;
    for (const Kind kind : {Kind::nuts, Kind::sghmc}) {
        const std::string name = kind == Kind::nuts ? "nuts" : "sghmc";
        const Draws whole = run(spread(folder / name), kind);
        for (const int ranks : {1, 2, 3, 4, 7}) {
            RunOptions options = spread(folder / (name + std::to_string(ranks)));
            const RankResults results = run_on(ranks, options, kind);
            BOOST_TEST(results.fine());
            BOOST_TEST(different(results.root(), whole) == "", ranks << " ranks");
            BOOST_TEST(same_run(folder / name, options.directory, five), ranks << " ranks");
            BOOST_TEST(TemporaryDirectory::names_in(options.directory).size() == 2 * five);
            // A broken twin: with another seed nothing is the same.
            if (ranks == 2) {
                options.seed = 12;
                options.directory = folder / (name + "broken");
                BOOST_TEST(different(run_on(ranks, options, kind).root(), whole) != "");
                BOOST_TEST(!same_run(folder / name, options.directory, five));
            }
        }
    }
}

BOOST_AUTO_TEST_CASE(without_a_directory_and_without_values) {
    const TemporaryDirectory folder;
    arm_files();
    const ResetCalls reset;
    RunOptions in_memory = spread("");
    in_memory.save_warmup = false;
    const Draws whole = run(in_memory, Kind::nuts);
    for (const int ranks : {2, 7}) BOOST_TEST(different(run_on(ranks, in_memory).root(), whole) == "");

    RunOptions in_files = spread(folder / "one");
    in_files.keep = false;
    const Draws kept = run(in_files, Kind::nuts);
    in_files.directory = folder / "three";
    const RankResults results = run_on(3, in_files);
    BOOST_TEST(results.fine());
    BOOST_TEST(different(results.root(), kept) == "");
    std::vector<double> read;
    each_draw(results.root(), 1, [&](std::int64_t, std::int64_t, std::span<const double> values, double) {
        read.insert(read.end(), values.begin(), values.end());
    });
    BOOST_TEST(read == std::vector<double>(whole.values.begin(), whole.values.end()));
}

// Jobs with a range of chains each may have ranks of their own.
BOOST_AUTO_TEST_CASE(ranks_share_a_range_of_chains) {
    const TemporaryDirectory folder;
    arm_files();
    const ResetCalls reset;
    RunOptions options = spread(folder / "one");
    options.first_chain = 2;
    options.last_chain = 4;
    const Draws part = run(options, Kind::nuts);
    options.directory = folder / "two";
    const RankResults results = run_on(2, options);
    BOOST_TEST(results.fine());
    BOOST_TEST(different(results.root(), part) == "");
    BOOST_TEST(results.root().chains_of_run == five);
    BOOST_TEST(TemporaryDirectory::names_in(folder / "two") == TemporaryDirectory::names_in(folder / "one"));
    for (const char* name : {"/chain_2.csv", "/chain_3.csv", "/chain_4.csv"})
        BOOST_TEST(timeless(folder.path() + "/one" + name) == timeless(folder.path() + "/two" + name));
}

BOOST_AUTO_TEST_CASE(the_other_ranks_say_where_the_draws_are) {
    const RankResults results = run_on(2, [] {
        RunOptions options = spread("");
        options.save_warmup = false;
        return options;
    }());
    const Draws& other = results.draws[1];
    const std::string where = "rank 0 of the group has the draws, and this rank has none";
    BOOST_TEST(summary(other) == "no draws here: " + where + "\n");
    BOOST_TEST(summary(other, {"mu"}) == "no draws here: " + where + "\n");
    BOOST_TEST(warnings(other) == std::vector<std::string>{"no draws here: " + where});
    BOOST_TEST(other.names() == results.root().names());
    BOOST_TEST(other.size() == 0);
    BOOST_TEST(other.statistic(&ChainRecord::energy).size() == 0);
    BOOST_TEST(error_of<ValueError>([&] { other["mu"]; }) == "Draws: mu: " + where);
    BOOST_TEST(error_of<ValueError>([&] { write_stan_csv("nowhere", other); }) == "write_stan_csv: " + where);
    BOOST_TEST(error_of<ValueError>([&] { write_npz_draws("nowhere", other); }) == "write_npz_draws: " + where);
    BOOST_TEST(error_of<ValueError>([&] { each_draw(other, 1, [](auto...) {}); }) == "each_draw: " + where);
}

// The signal is that of all threads, and each rank stops where it is.
BOOST_AUTO_TEST_CASE(an_interrupted_run_goes_on_at_another_number_of_ranks) {
    const TemporaryDirectory folder;
    arm_files();
    const ResetCalls reset;
    const Draws whole = run(spread(folder / "whole"), Kind::nuts);
    const std::vector<std::vector<int>> orders = {{1, 3}, {4, 2, 1}, {7, 4}, {2, 7, 3}};
    for (const std::vector<int>& order : orders) {
        const std::string name = "run" + std::to_string(order[0]);
        RunOptions options = resumed(spread(folder / name));
        for (std::size_t k = 0; k + 1 < order.size(); ++k) {
            const StoppingFuse stopping(700);
            const RankResults cut = run_on(order[k], options);
            BOOST_TEST(cut.fine());
            for (const Draws& draws : cut.draws) BOOST_TEST(draws.interrupted);
        }
        const RankResults results = run_on(order.back(), options);
        BOOST_TEST(results.fine());
        BOOST_TEST(different(results.root(), whole) == "", name);
        BOOST_TEST(same_run(folder / "whole", options.directory, five), name);
    }
}

BOOST_AUTO_TEST_CASE(ranks_that_disagree) {
    const TemporaryDirectory folder;
    const auto error = [](const auto& change, const std::string& directory = {}) {
        return on_ranks(3,
                        [&](Group& group) {
                            RunOptions options = spread(directory);
                            options.save_warmup = !directory.empty();
                            options.group = &group;
                            if (group.rank() == 2) change(options);
                            return run(options, Kind::nuts);
                        })
            .error();
    };
    const auto differ = [](const std::string& what, const std::string& most, const std::string& last) {
        return "GroupError: the ranks do not agree on " + what + ": ranks 0 and 1: \"" + most + "\"; rank 2: \"" +
               last + "\"";
    };
    BOOST_TEST(error([](RunOptions& o) { o.seed = 12; }) == differ("the seed", "11", "12"));
    BOOST_TEST(error([](RunOptions& o) { o.draws = 31; }) == differ("the draws", "30", "31"));
    BOOST_TEST(error([](RunOptions& o) { o.chains = 6; }) == differ("the chains", "5", "6"));
    BOOST_TEST(error([](RunOptions& o) { o.first_chain = 2, o.last_chain = 5; }) ==
               differ("the chains to run", "1 to 5", "2 to 5"));
    BOOST_TEST(error([&](RunOptions& o) { o.directory = folder.path(); }) ==
               differ("whether there is a directory", "no", "yes"));
    BOOST_TEST(error([](RunOptions& o) { o.resume = true; }, folder.path()) == differ("resume", "false", "true"));
    BOOST_TEST(error([](RunOptions& o) { o.keep = false; }, folder.path()) == differ("keep", "true", "false"));
    BOOST_TEST(folder.names().empty());

    // Data that differ in the last bit of one number.
    const std::string data = on_ranks(2, [](Group& group) {
                                 RunOptions options = spread("");
                                 options.save_warmup = false;
                                 options.group = &group;
                                 const double centre = group.rank() == 0 ? 1 : std::nextafter(1.0, 2.0);
                                 return run_chains(shapes_model<double>(centre), Walk{}, options);
                             }).error();
    const std::string begin = "GroupError: the ranks do not agree on the energies at fixed points: rank 0: \"";
    BOOST_TEST(data.substr(0, begin.size()) == begin);

    // An option that is wrong on one rank alone, or on all.
    BOOST_TEST(error([](RunOptions& o) { o.thin = 0; }) ==
               "GroupError: rank 2: run_chains: thin is 0; at least 1 is needed");
    RunOptions wrong = spread("");
    wrong.save_warmup = false;
    wrong.max_memory = 1000;
    BOOST_TEST(run_on(3, wrong).error() ==
               "GroupError: rank 0: run_chains: 5 chains of 30 draws of 18 numbers need 51 kB of memory (29.7 kB of "
               "draws, 21.3 kB of chains) on one rank, more than max_memory, 1 kB; draw less, thin more, or let draws "
               "go to a directory alone (keep = false)");
}

// A rank counts its own chains, and rank 0 the draws of all.
BOOST_AUTO_TEST_CASE(memory_is_that_of_a_rank) {
    const auto least = [](int ranks) {
        for (std::uint64_t bytes = 1000;; bytes += 1000) {
            RunOptions options = spread("");
            options.save_warmup = false;
            options.max_memory = bytes;
            if (run_on(ranks, options).fine()) return bytes;
        }
    };
    const std::uint64_t one = least(1), five_ranks = least(5);
    BOOST_TEST(five_ranks < one);
    BOOST_TEST(five_ranks > 30'000U);
}

BOOST_AUTO_TEST_CASE(an_exception_in_one_chain_stops_all_ranks) {
    const TemporaryDirectory folder;
    arm_files();
    const ResetCalls reset;
    const auto run_with = [&](int ranks, const RunOptions& options, const Walk& walk) {
        return on_ranks(ranks, [=](Group& group) {
            RunOptions own = options;
            own.group = &group;
            return run_chains(shapes_model<double>(), walk, own);
        });
    };
    const Draws good = run_with(1, spread(folder / "good"), Walk{}).root();
    for (const int ranks : {1, 2, 3, 4, 7}) {
        RunOptions options = spread(folder / ("bad" + std::to_string(ranks)));
        const RankResults results = run_with(ranks, options, Walk{.bad_chain = 4, .bad_step = 70});
        for (std::size_t rank = 0; rank < results.errors.size(); ++rank)
            BOOST_TEST(results.errors[rank] == (rank == 0 ? "Error: run_chains: chain 5: a fault"
                                                          : "GroupError: run_chains: chain 5: a fault"));
        BOOST_REQUIRE(results.kept);
        BOOST_TEST(results.kept->interrupted);
        for (std::size_t c = 0; c < results.kept->chains.size(); ++c) {
            const std::int64_t chain = results.kept->chains[c].chain - 1;
            for (std::int64_t t = 0; t < results.kept->size(); ++t)
                BOOST_TEST(results.kept->values(static_cast<std::int64_t>(c), t, 0) == good.values(chain, t, 0));
        }
        StanCsvReader reader(options.directory + "/chain_5.csv");
        std::int64_t draws = 0;
        for (StanCsvReader::Row row; reader.next(row, false);) draws += !row.warmup;
        BOOST_TEST(draws == 15);
        // The fault mended, the run goes on as if nothing had been.
        const RankResults mended = run_with(ranks % 3 + 1, resumed(options), Walk{});
        BOOST_TEST(mended.fine());
        BOOST_TEST(different(mended.root(), good) == "");
        BOOST_TEST(same_run(folder / "good", options.directory, five));
    }
}

// Its chain 4 cannot begin.
struct Refusing : Walk {
    template <Real T>
    std::unique_ptr<Chain<T>> begin(std::unique_ptr<Potential<T>> potential, ChainStart<T> start) const {
        if (start.chain == 3) throw DomainError("no place to begin");
        return Walk::begin(std::move(potential), std::move(start));
    }
};

// What goes wrong before the first step reaches all, and leaves no files.
BOOST_AUTO_TEST_CASE(a_chain_that_cannot_begin) {
    const TemporaryDirectory folder;
    const ModelPotential<double> model([](Model<double>& m) {
        const auto x = m.real("x");
        if (x.item() > 5) throw std::logic_error("x is large");
        m.prior(x * x * -0.5);
    });
    RunOptions options = spread(folder / "run");
    options.starts = {{0}, {0}, {0}, {6}, {7}};
    const auto results = on_ranks(3, [&](Group& group) {
        RunOptions own = options;
        own.group = &group;
        return run_chains(model, Walk{}, own);
    });
    BOOST_TEST(results.error() == "GroupError: rank 1: run_chains: chain 4: x is large");
    BOOST_TEST(TemporaryDirectory::names_in(folder / "run").empty());

    // Also what a sampler takes for a point that is refused.
    const auto refused = on_ranks(3, [&](Group& group) {
        RunOptions own = spread("");
        own.group = &group;
        own.resume = own.save_warmup = false;
        return run_chains(model, Refusing{}, own);
    });
    BOOST_TEST(refused.error() == "GroupError: rank 1: run_chains: chain 4: no place to begin");

    // A file in the way of the last chain.
    options.starts = {};
    put(folder / "run/chain_5.csv", "mine");
    BOOST_TEST(run_on(3, options).error() == "GroupError: rank 2: " + folder / "run/chain_5.csv" +
                                                 ": is there already; resume that run, remove its files, or choose "
                                                 "another directory");
    BOOST_TEST(TemporaryDirectory::names_in(folder / "run") == std::set<std::string>{"chain_5.csv"});
}

// Rank 0 shows all chains.
BOOST_AUTO_TEST_CASE(one_rank_says_how_far_all_chains_are) {
    const TemporaryDirectory folder;
    arm_files();
    const ResetCalls reset;
    RunOptions options = spread(folder / "run");
    options.show = Show::lines;
    with_threads(1, [] {});  // the arenas are made by one thread, which the thread sanitizer can follow
    // Without the lines that a run of more than 2 seconds adds.
    const auto said = [&](int ranks) {
        const std::string text = written([&] {
            run_group(ranks, [&](Group& group) {
                RunOptions own = options;
                own.group = &group;
                with_threads(1, [&] { run(own, Kind::walk); });
            });
        });
        return std::regex_replace(text, std::regex("[0-9]+ % of 5 chains; .*\n"), "");
    };
    const std::string begin = said(3);
    const std::string first = "5 chains of 100 steps (40 of warm-up) on 3 threads of 3 ranks; memory: ";
    BOOST_TEST(begin.substr(0, first.size()) == first);
    BOOST_TEST(std::count(begin.begin(), begin.end(), '\n') == 1);
    options.resume = true;
    for (const int ranks : {1, 2, 7}) BOOST_TEST(said(ranks) == "complete: read from " + options.directory + "\n");
    options.draws = 40;
    BOOST_TEST(said(2).find("\ngoing on from draw 30 of 40\n") != std::string::npos);
}

// Not a test in itself: a run that is killed, and its end.
BOOST_AUTO_TEST_CASE(child) {
    std::istringstream text(child_text());
    std::string directory;
    int ranks = 0;
    if (!(text >> directory >> ranks >> fuse.evaluation)) return;
    arm_files();
    run_on(ranks, resumed(spread(directory)));
}

BOOST_AUTO_TEST_CASE(killed_at_any_moment_the_run_goes_on_at_another_number_of_ranks) {
    const TemporaryDirectory folder;
    arm_files();
    const ResetCalls reset;
    fuse.evaluations = 0;
    const Draws whole = run(spread(folder / "whole"), Kind::nuts);
    const auto evaluations = static_cast<double>(fuse.evaluations);
    Random random(23);
    for (const int ranks : {2, 3, 7}) {
        const std::string directory = folder / ("killed" + std::to_string(ranks));
        for (int times = 0; times < 2; ++times) {
            std::ostringstream text;
            text << directory << ' ' << ranks << ' '
                 << static_cast<std::int64_t>(evaluations * 0.4 * random.uniform<double>());
            const int status = run_case("run_ranks/child", text.str());
            BOOST_TEST((WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL));
        }
        const RankResults results = run_on(ranks % 4 + 1, resumed(spread(directory)));
        BOOST_TEST(different(results.root(), whole) == "");
        BOOST_TEST(same_run(folder / "whole", directory, five));
        BOOST_TEST(TemporaryDirectory::names_in(directory).size() == 2 * five);
    }
}

BOOST_AUTO_TEST_SUITE_END()
