#include "../../support.hpp"
#include "rank_runs.hpp"

#include <pollen/samplers/run/detail/chain_file.hpp>

#include <filesystem>

using namespace pollen;
using namespace pollen::test;

// Ranks whose directories are not the same, as on machines without a common file system.
BOOST_AUTO_TEST_SUITE(rank_files)

namespace {

constexpr int four = chains;

// Rank r has directories[r].
RankResults run_in(const std::vector<std::string>& directories, bool resume = false, std::uint64_t seed = 11) {
    return on_ranks(static_cast<int>(directories.size()), [&](Group& group) {
        RunOptions options = quiet(directories[static_cast<std::size_t>(group.rank())]);
        options.seed = seed;
        options.resume = resume;
        options.group = &group;
        return run(options, Kind::nuts);
    });
}

// Runs these chains alone in a directory, and stops them at this evaluation: what a job that dies leaves on one
// machine.
void leave(const std::string& directory, std::int64_t first, std::int64_t last, std::int64_t evaluation) {
    RunOptions options = quiet(directory);
    options.first_chain = first;
    options.last_chain = last;
    fuse.evaluations = 0;
    fuse.evaluation = evaluation;
    fuse.signal = SIGINT;
    run(options, Kind::nuts);
    fuse.evaluation = -1;
    fuse.signal = SIGKILL;
}

std::set<std::string> names_of(std::initializer_list<int> numbers) {
    std::set<std::string> names;
    for (const int c : numbers)
        for (const char* ending : {".csv", ".state"}) names.insert("chain_" + std::to_string(c) + ending);
    return names;
}

const std::string busy = ": is there already; resume that run, remove its files, or choose another directory";

}  // namespace

BOOST_AUTO_TEST_CASE(rank_0_gets_the_files_of_all_chains) {
    const TemporaryDirectory folder;
    arm_files();
    const ResetCalls reset;
    const Draws whole = run(quiet(folder / "whole"), Kind::nuts);
    // Ranks 1 and 2 have a directory of their own, and rank 3 that of rank 0.
    const RankResults results = run_in({folder / "a", folder / "b", folder / "c", folder / "a"});
    BOOST_TEST(results.fine());
    BOOST_TEST(different(results.root(), whole) == "");
    BOOST_TEST(same_run(folder / "whole", folder / "a", four));
    BOOST_TEST(TemporaryDirectory::names_in(folder / "a") == names_of({1, 2, 3, 4}));
    BOOST_TEST(TemporaryDirectory::names_in(folder / "b") == names_of({2}));
    BOOST_TEST(TemporaryDirectory::names_in(folder / "c") == names_of({3}));
    BOOST_TEST(results.root().files[3] == folder / "a/chain_4.csv");
    // They go on from there, and the other ranks may have forgotten everything.
    const RankResults again = run_in({folder / "a", folder / "new"}, true);
    BOOST_TEST(again.fine());
    BOOST_TEST(different(again.root(), whole) == "");
    BOOST_TEST(same_run(folder / "whole", folder / "a", four));
    BOOST_TEST(TemporaryDirectory::names_in(folder / "new") == names_of({3, 4}));
}

// Chains go on from the rank that has got furthest with them, on any number of ranks.
BOOST_AUTO_TEST_CASE(a_job_that_died_goes_on_elsewhere) {
    const TemporaryDirectory folder;
    arm_files();
    const ResetCalls reset;
    const Draws whole = run(quiet(folder / "whole"), Kind::nuts);
    const std::vector<std::vector<std::string>> jobs = {
        {"c", "a", "b"}, {"new", "b", "a", "c"}, {"a", "b", "c", "new", "d", "e", "f"}};
    for (const std::vector<std::string>& names : jobs) {
        const TemporaryDirectory job;
        leave(job / "a", 1, 2, 700);
        leave(job / "b", 3, 4, 400);
        leave(job / "c", 2, 4, 1000);  // further with chains 3 and 4
        std::vector<std::string> directories;
        for (const std::string& name : names) directories.push_back(job / name);
        const RankResults results = run_in(directories, true);
        BOOST_TEST(results.fine());
        BOOST_TEST(different(results.root(), whole) == "");
        BOOST_TEST(same_run(folder / "whole", directories[0], four));
        BOOST_TEST(TemporaryDirectory::names_in(directories[0]) == names_of({1, 2, 3, 4}));
    }
}

BOOST_AUTO_TEST_CASE(a_stopped_run_and_a_fault_bring_their_files_as_well) {
    const TemporaryDirectory folder;
    arm_files();
    const ResetCalls reset;
    const Draws whole = run(quiet(folder / "whole"), Kind::nuts);
    fuse.evaluations = 0;
    fuse.evaluation = 900;
    fuse.signal = SIGINT;
    const RankResults cut = run_in({folder / "a", folder / "b"});
    fuse.evaluation = -1;
    fuse.signal = SIGKILL;
    BOOST_TEST(cut.fine());
    BOOST_TEST(cut.draws[1].interrupted);
    BOOST_TEST(TemporaryDirectory::names_in(folder / "a") == names_of({1, 2, 3, 4}));
    RunOptions options = quiet(folder / "a");
    options.resume = true;
    BOOST_TEST(different(run(options, Kind::nuts), whole) == "");
    BOOST_TEST(same_run(folder / "whole", folder / "a", four));

    const RankResults fault = on_ranks(2, [&](Group& group) {
        RunOptions own = quiet(folder / ("fault" + std::to_string(group.rank())));
        own.group = &group;
        return run_chains(shapes_model<double>(), Walk{.bad_chain = 3, .bad_step = 70}, own);
    });
    BOOST_TEST(fault.errors[1] == "GroupError: run_chains: chain 4: a fault");
    BOOST_TEST(TemporaryDirectory::names_in(folder / "fault0") == names_of({1, 2, 3, 4}));
    BOOST_TEST(contents(folder / "fault0/chain_4.csv") == contents(folder / "fault1/chain_4.csv"));
}

BOOST_AUTO_TEST_CASE(directories_that_do_not_do) {
    const TemporaryDirectory folder;
    arm_files();
    const ResetCalls reset;
    put(folder / "file", "text");
    BOOST_TEST(run_in({folder / "a", folder / "file/run"}).error() ==
               "GroupError: rank 1: " + folder / "file/run: the directory cannot be made: Not a directory");
    // Rank 0 has a file of a chain that another rank runs.
    std::filesystem::create_directory(folder / "b");
    put(folder / "b/chain_4.csv", "mine");
    BOOST_TEST(run_in({folder / "b", folder / "c"}).error() ==
               "GroupError: rank 0: " + folder / "b/chain_4.csv" + busy);
    BOOST_TEST(contents(folder / "b/chain_4.csv") == "mine");
    // A rank has files of another run.
    run_in({folder / "d", folder / "e"}, false, 12);
    BOOST_TEST(run_in({folder / "f", folder / "e"}, true).error() ==
               "GroupError: rank 1: " + folder / "e/chain_3.state" +
                   ": the saved run has seed 12, this one has 11; to start anew, choose another directory");
    BOOST_TEST(TemporaryDirectory::names_in(folder / "f").empty());
    // Another run is writing to the file that would be replaced.
    leave(folder / "g", 1, 1, 300);
    leave(folder / "h", 1, 1, 500);
    detail::ChainFile running;
    running.open(folder / "g/chain_1.csv", false);
    const std::string before = contents(folder / "g/chain_1.csv");
    BOOST_TEST(run_in({folder / "g", folder / "h"}, true).error() ==
               "GroupError: rank 0: " + folder / "g/chain_1.csv: another run is writing to it now");
    BOOST_TEST(contents(folder / "g/chain_1.csv") == before);
}

// All files come to rank 0, and a rank with a directory of its own needs room for its own.
BOOST_AUTO_TEST_CASE(each_file_system_needs_room) {
    const TemporaryDirectory folder;
    arm_files();
    const ResetCalls reset;
    const auto error = [&](const std::vector<std::string>& directories, const std::string& full,
                           std::uintmax_t available) {
        detail::file_calls().space = [=](const char* path, std::error_code&) {
            return std::filesystem::space_info{.capacity = 1'000'000'000,
                                               .free = 1'000'000'000,
                                               .available = path == full ? available : 1'000'000'000};
        };
        const std::string text = run_in(directories).error();
        return text.substr(0, text.find(" of disk space"));
    };
    const std::string a = folder / "a", b = folder / "b";
    const std::string all = error({a, a}, a, 1000), mine = error({a, b}, b, 1000);
    BOOST_TEST(all == "GroupError: rank 0: " + a + ": the files of this run need up to 271 kB");
    BOOST_TEST(error({a, b}, a, 1000) == all);
    BOOST_TEST(mine == "GroupError: rank 1: " + b + ": the files of this run need up to 135 kB");
    BOOST_TEST(error({a}, a, 1000) == "Error: " + a + ": the files of this run need up to 271 kB");
    BOOST_TEST(error({a, a}, b, 0) == "");
}

BOOST_AUTO_TEST_SUITE_END()
