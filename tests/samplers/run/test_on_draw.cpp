#include "../../data/fuse.hpp"
#include "../../nn/potentials/spread_cases.hpp"
#include "../../support.hpp"
#include "rank_runs.hpp"
#include "short_run.hpp"

#include <pollen/autograd/parallel.hpp>
#include <pollen/samplers/draws/stan_csv.hpp>
#include <pollen/samplers/full_batch/hmc.hpp>

#include <atomic>
#include <cmath>
#include <filesystem>
#include <limits>
#include <stdexcept>
#include <thread>

using namespace pollen;
using namespace pollen::test;

// The option on_draw of a run.
BOOST_AUTO_TEST_SUITE(on_draw)

namespace {

struct OneRecord {
    std::int64_t chain = 0, draw = 0;
    std::vector<double> values;
    double weight = 1;
    StepStatistics statistics;

    explicit OneRecord(const DrawRecord& r)
        : chain(r.chain),
          draw(r.draw),
          values(r.values.begin(), r.values.end()),
          weight(r.weight),
          statistics(r.statistics) {}
};

// Keeps what is reported. `overlapping` says whether there were two calls at once.
struct Reports {
    std::vector<OneRecord> all;
    bool overlapping = false;

    std::function<bool(const DrawRecord&)> keep(std::int64_t most = std::numeric_limits<std::int64_t>::max()) {
        return [this, most](const DrawRecord& record) {
            if (inside_.exchange(true)) overlapping = true;
            all.emplace_back(record);
            const bool go_on = std::ssize(all) < most;
            inside_ = false;
            return go_on;
        };
    }
    std::vector<const OneRecord*> of_chain(std::int64_t chain) const {
        std::vector<const OneRecord*> some;
        for (const OneRecord& r : all)
            if (r.chain == chain) some.push_back(&r);
        return some;
    }

  private:
    std::atomic<bool> inside_ = false;
};

bool same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

// What differs between the reports from draw `first` on and the rows of the files; empty if nothing does.
std::string different_from_files(const Reports& reports, const std::string& directory, int count,
                                 std::int64_t first = 1) {
    std::string text;
    for (int c = 1; c <= count; ++c) {
        const std::vector<const OneRecord*> own = reports.of_chain(c);
        StanCsvReader reader(directory + "/chain_" + std::to_string(c) + ".csv");
        std::int64_t draw = 0;
        std::size_t next = 0;
        for (StanCsvReader::Row row; reader.next(row);) {
            if (row.warmup || ++draw < first) continue;
            if (next == own.size()) return "chain " + std::to_string(c) + " has more draws than were reported";
            const OneRecord& r = *own[next++];
            const StepStatistics &a = r.statistics, &b = row.statistics;
            if (r.draw != draw) text += " number";
            if (r.values != row.values) text += " values";
            if (!same(r.weight, row.weight)) text += " weight";
            if (!same(a.energy, b.energy)) text += " energy";
            if (!same(a.hamiltonian, b.hamiltonian)) text += " hamiltonian";
            if (!same(a.acceptance, b.acceptance)) text += " acceptance";
            if (!same(a.step_size, b.step_size)) text += " step_size";
            if (a.tree_depth != b.tree_depth) text += " tree_depth";
            if (a.divergent != b.divergent) text += " divergent";
        }
        if (next < own.size()) text += " chain " + std::to_string(c) + " has fewer draws than were reported";
    }
    return text;
}

}  // namespace

// Rows of the warm-up, which the files have, are not reported.
BOOST_AUTO_TEST_CASE(each_draw_is_reported_as_it_is_in_the_files) {
    const TemporaryDirectory folder;
    for (const Walk& sampler : {Walk{}, Walk{.weight = 2}, Walk{.diverges = true}}) {
        for (const bool keep : {true, false}) {
            Reports reports;
            RunOptions options = quiet(folder / std::to_string(keep));
            options.keep = keep;
            options.on_draw = reports.keep();
            const Draws draws = run_chains(shapes_model<double>(), sampler, options);
            BOOST_TEST(std::ssize(reports.all) == chains * options.draws);
            BOOST_TEST(!reports.overlapping);
            BOOST_TEST(different_from_files(reports, options.directory, chains) == "");
            for (std::size_t c = 0; keep && c < chains; ++c) {
                const auto own = reports.of_chain(static_cast<std::int64_t>(c) + 1);
                BOOST_REQUIRE(std::ssize(own) == draws.size());
                for (std::size_t t = 0; t < own.size(); ++t)
                    for (std::size_t k = 0; k < own[t]->values.size(); ++k)
                        BOOST_TEST(own[t]->values[k] == draws.values(static_cast<std::int64_t>(c),
                                                                     static_cast<std::int64_t>(t),
                                                                     static_cast<std::int64_t>(k)));
            }
            std::filesystem::remove_all(options.directory);
        }
    }
}

// It changes no bit.
BOOST_AUTO_TEST_CASE(draws_are_those_of_a_run_without_it) {
    RunOptions options = short_run();
    const Draws draws = run_chains(shapes_model<double>(), Walk{}, options);
    Reports reports;
    options.on_draw = reports.keep();
    BOOST_TEST(different(run_chains(shapes_model<double>(), Walk{}, options), draws) == "");
    // One chain is in order.
    options.chains = 1;
    reports.all.clear();
    run_chains(shapes_model<double>(), Walk{}, options);
    for (std::int64_t t = 0; t < options.draws; ++t) BOOST_TEST(reports.all[static_cast<std::size_t>(t)].draw == t + 1);
}

// It is called by the threads that run the chains: without others, by the one that calls run_chains.
BOOST_AUTO_TEST_CASE(who_calls_it) {
    RunOptions options = short_run();
    int others = 0;
    options.on_draw = [&, here = std::this_thread::get_id()](const DrawRecord&) {
        others += std::this_thread::get_id() != here;
        return true;
    };
    with_threads(1, [&] { run_chains(shapes_model<double>(), Walk{}, options); });
    BOOST_TEST(others == 0);
}

// All draws in the files have been reported, also those that other chains made meanwhile. The run goes on where it was,
// and reports the draws that are new.
BOOST_AUTO_TEST_CASE(false_ends_the_run) {
    const TemporaryDirectory folder;
    arm_files();  // without flushes to the disk
    const ResetCalls reset;
    for (const Kind kind : {Kind::walk, Kind::nuts}) {
        const std::string name = kind == Kind::nuts ? "nuts" : "walk";
        run(quiet(folder / ("whole" + name)), kind);
        RunOptions options = quiet(folder / name);
        options.resume = true;
        Reports reports;
        for (const std::int64_t most : {1, 17, 60}) {
            options.on_draw = reports.keep(most);
            BOOST_TEST(run(options, kind).interrupted);
            BOOST_TEST(std::ssize(reports.all) >= most);
            BOOST_TEST(std::ssize(reports.all) < most + chains);
            BOOST_TEST(different_from_files(reports, options.directory, chains) == "");
        }
        options.on_draw = reports.keep();
        BOOST_TEST(!run(options, kind).interrupted);
        BOOST_TEST(different_from_files(reports, options.directory, chains) == "");
        BOOST_TEST(same_run(folder / ("whole" + name), options.directory, chains));
        const std::size_t all = reports.all.size();
        run(options, kind);  // it is complete
        BOOST_TEST(reports.all.size() == all);
        // Twice as many draws, of which half are new.
        reports.all.clear();
        options.draws *= 2;
        options.keep = false;
        run(options, kind);
        BOOST_TEST(different_from_files(reports, options.directory, chains, options.draws / 2 + 1) == "");
    }
}

// The last draw of all is no reason to say that the run was interrupted.
BOOST_AUTO_TEST_CASE(false_after_the_last_draw) {
    RunOptions options = short_run();
    std::int64_t left = options.chains * options.draws;
    options.on_draw = [&](const DrawRecord&) { return --left > 0; };
    const Draws draws = run_chains(shapes_model<double>(), Walk{}, options);
    BOOST_TEST(left == 0);
    BOOST_TEST(!draws.interrupted);
    BOOST_TEST(draws.size() == options.draws);
}

namespace {

struct NoError {
    int number;
};

}  // namespace

// It is thrown as it is, when all chains are saved: the run goes on where it was.
BOOST_AUTO_TEST_CASE(what_it_throws) {
    const TemporaryDirectory folder;
    arm_files();
    const ResetCalls reset;
    run(quiet(folder / "whole"), Kind::nuts);
    RunOptions options = quiet(folder / "run");
    options.resume = true;
    Reports reports;
    const auto throwing_at = [&](std::int64_t most, auto thrown) {
        options.on_draw = [keep = reports.keep(most), thrown](const DrawRecord& record) {
            if (!keep(record)) throw thrown;
            return true;
        };
    };
    throwing_at(5, NoError{7});
    BOOST_CHECK_EXCEPTION(run(options, Kind::nuts), NoError, [](const NoError& e) { return e.number == 7; });
    BOOST_TEST(reports.all.size() == 5U);  // it is not called again
    throwing_at(20, std::out_of_range("no such place"));
    BOOST_CHECK_EXCEPTION(run(options, Kind::nuts), std::out_of_range,
                          [](const auto& e) { return e.what() == std::string("no such place"); });
    throwing_at(40, DomainError("not defined"));
    BOOST_CHECK_EXCEPTION(run(options, Kind::nuts), DomainError,
                          [](const auto& e) { return e.what() == std::string("not defined"); });
    options.on_draw = {};
    BOOST_TEST(!run(options, Kind::nuts).interrupted);
    BOOST_TEST(same_run(folder / "whole", options.directory, chains));
}

// The first error of a run is thrown, of a chain or of on_draw.
BOOST_AUTO_TEST_CASE(what_it_throws_after_a_chain) {
    RunOptions options = short_run(0, 60);
    const auto error = [&](std::int64_t bad_step, std::int64_t bad_draw) {
        options.on_draw = [=](const DrawRecord& record) {
            if (record.chain == 1 && record.draw == bad_draw) throw NoError{1};
            return true;
        };
        try {
            with_threads(
                1, [&] { run_chains(shapes_model<double>(), Walk{.bad_chain = 0, .bad_step = bad_step}, options); });
        } catch (const NoError&) {
            return std::string("NoError");
        } catch (const RunError& e) {
            return std::string(e.what());
        }
        return std::string();
    };
    BOOST_TEST(error(20, 30) == "run_chains: chain 1: a fault");
    BOOST_TEST(error(30, 20) == "NoError");
}

// Each rank reports the draws of its chains. One that says false, or is asked to stop, stops all.
BOOST_AUTO_TEST_CASE(of_a_group) {
    const TemporaryDirectory folder;
    arm_files();
    const ResetCalls reset;
    run(quiet(folder / "whole"), Kind::nuts);
    for (const bool by_token : {false, true}) {
        RunOptions options = quiet(folder / std::to_string(by_token));
        options.resume = true;
        std::vector<Reports> reports(3);
        const auto run_until = [&](std::int64_t most) {
            return on_ranks(3, [&](Group& group) {
                RunOptions own = options;
                own.group = &group;
                std::stop_source source;
                own.stop = source.get_token();
                Reports& mine = reports[static_cast<std::size_t>(group.rank())];
                own.on_draw = [&, keep = mine.keep(group.rank() == 2 ? most : 1000)](const DrawRecord& record) {
                    if (keep(record)) return true;
                    if (by_token) source.request_stop();
                    return by_token;
                };
                return run(own, Kind::nuts);
            });
        };
        const RankResults cut = run_until(3);
        BOOST_TEST(cut.fine());
        for (const Draws& draws : cut.draws) BOOST_TEST(draws.interrupted);
        BOOST_TEST(reports[2].all.size() == 3U);
        BOOST_TEST(run_until(1000).fine());
        Reports all;
        for (std::size_t rank = 0; rank < 3; ++rank) {
            BOOST_TEST(!reports[rank].all.empty());
            for (const OneRecord& r : reports[rank].all) {
                BOOST_TEST((rank == 0 ? r.chain <= 2 : r.chain == static_cast<std::int64_t>(rank) + 2));
                all.all.push_back(r);
            }
        }
        BOOST_TEST(different_from_files(all, options.directory, chains) == "");
        BOOST_TEST(same_run(folder / "whole", options.directory, chains));
    }
}

BOOST_AUTO_TEST_CASE(what_it_throws_on_a_rank_is_the_error_of_the_chain) {
    for (const int bad : {0, 1}) {
        const RankResults results = on_ranks(2, [&](Group& group) {
            RunOptions own = quiet("");
            own.save_warmup = false;
            own.group = &group;
            own.on_draw = [rank = group.rank(), bad](const DrawRecord& record) {
                if (rank == bad && record.draw == 4) throw std::out_of_range("no such place");
                return true;
            };
            return run(own, Kind::walk);
        });
        const std::string first = "run_chains: chain ", last = ": no such place";
        BOOST_TEST(results.errors[0].starts_with("Error: " + first));
        BOOST_TEST(results.errors[0].ends_with(last));
        BOOST_TEST(results.errors[1] == "Group" + results.errors[0]);
        BOOST_REQUIRE(results.kept);
        BOOST_TEST(results.kept->interrupted);
    }
}

// Rank 0 runs the chains of a potential whose items are spread.
BOOST_AUTO_TEST_CASE(of_a_spread_potential) {
    std::vector<Reports> reports(2);
    const auto run_until = [&](std::int64_t most, bool throws) {
        std::vector<std::string> errors(2);
        run_group(2, [&](Group& group) {
            const auto rank = static_cast<std::size_t>(group.rank());
            const auto u = spread_potential<double>(ModelCase<double>{}, group, spread_data<double>(60), 8);
            RunOptions options{.chains = 1, .warmup = 5, .draws = 8, .seed = 7, .show = Show::nothing};
            options.on_draw = [keep = reports[rank].keep(most), throws](const DrawRecord& record) {
                const bool go_on = keep(record);
                if (!go_on && throws) throw NoError{2};
                return go_on;
            };
            try {
                const Draws draws = run_chains(u, Hmc{.steps = 2}, options);
                errors[rank] = draws.interrupted ? "interrupted" : "";
            } catch (const NoError&) {
                errors[rank] = "NoError";
            } catch (const GroupError& error) {
                errors[rank] = error.what();
            }
        });
        return errors;
    };
    BOOST_TEST(run_until(100, false) == std::vector<std::string>(2), boost::test_tools::per_element());
    BOOST_TEST(reports[0].all.size() == 8U);
    BOOST_TEST(reports[1].all.empty());
    reports[0].all.clear();
    BOOST_TEST(run_until(3, false) == std::vector<std::string>(2, "interrupted"), boost::test_tools::per_element());
    BOOST_TEST(reports[0].all.size() == 3U);
    const std::vector<std::string> errors = run_until(4, true);
    BOOST_TEST(errors[0] == "NoError");
    BOOST_TEST(errors[1] == "rank 0: run_chains: chain 1: something that is not a std::exception was thrown");
}

BOOST_AUTO_TEST_SUITE_END()
