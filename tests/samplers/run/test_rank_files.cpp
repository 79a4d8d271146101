#include "../../support.hpp"
#include "rank_runs.hpp"

#include <pollen/samplers/run/detail/chain_file.hpp>
#include <pollen/samplers/run/detail/run_plan.hpp>

#include <fcntl.h>
#include <atomic>
#include <cerrno>
#include <filesystem>
#include <map>

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
    const StoppingFuse stopping(evaluation);
    run(options, Kind::nuts);
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
    const RankResults cut = [&] {
        const StoppingFuse stopping(900);
        return run_in({folder / "a", folder / "b"});
    }();
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

namespace {

// The files of a directory, by name.
std::map<std::string, std::string> files_in(const std::string& directory) {
    std::map<std::string, std::string> files;
    for (const std::string& name : TemporaryDirectory::names_in(directory))
        files[name] = contents((std::filesystem::path(directory) / name).string());
    return files;
}

// While it lives, the disk of one file is full after this number of writes to it.
class FullDisk {
  public:
    FullDisk(const std::string& path, int writes) : left_(writes) {
        const detail::FileCalls own = before_;
        detail::FileCalls& calls = detail::file_calls();
        calls.open = [=, this](const char* name, int flags, unsigned mode) {
            const int file = own.open(name, flags, mode);
            if (std::string_view(name).starts_with(path)) file_ = file;
            return file;
        };
        calls.close = [=, this](int file) {
            if (file == file_) file_ = -1;
            return own.close(file);
        };
        calls.write = [=, this](int file, const void* data, std::size_t bytes) -> std::ptrdiff_t {
            if (file != file_ || left_-- > 0) return own.write(file, data, bytes);
            errno = ENOSPC;
            return -1;
        };
    }

    ~FullDisk() { detail::file_calls() = before_; }
    FullDisk(const FullDisk&) = delete;
    FullDisk& operator=(const FullDisk&) = delete;

  private:
    const detail::FileCalls before_ = detail::file_calls();
    std::atomic<int> file_ = -1, left_;
};

// From now on nothing may be written in a directory. (Who runs the tests may be allowed everything.)
void make_read_only(const std::string& directory) {
    const detail::FileCalls own = detail::file_calls();
    detail::file_calls().open = [=](const char* path, int flags, unsigned mode) {
        if ((flags & O_ACCMODE) == O_RDONLY || !std::string_view(path).starts_with(directory + "/"))
            return own.open(path, flags, mode);
        errno = EROFS;
        return -1;
    };
}

}  // namespace

// The rows up to there and the files of all other chains come to rank 0, and the run goes on from them.
BOOST_AUTO_TEST_CASE(a_full_disk_on_one_rank_leaves_no_chain_behind) {
    const TemporaryDirectory folder;
    arm_files();
    const ResetCalls reset;
    const Draws whole = run(quiet(folder / "whole"), Kind::nuts);
    const std::string full =
        "run_chains: chain 3: " + folder / "b/chain_3.csv" + ": cannot be written: writing: No space left on device";
    const auto run_full = [&] {
        const FullDisk disk(folder / "b/chain_3.csv", 3);
        return run_in({folder / "a", folder / "b"});
    };
    const RankResults results = run_full();
    BOOST_TEST(results.errors[0] == "Error: " + full);
    BOOST_TEST(results.errors[1] == "GroupError: " + full);
    BOOST_TEST(TemporaryDirectory::names_in(folder / "a") == names_of({1, 2, 3, 4}));
    for (const char* name : {"/chain_3.csv", "/chain_3.state", "/chain_4.csv", "/chain_4.state"})
        BOOST_TEST(contents(folder.path() + "/a" + name) == contents(folder.path() + "/b" + name));
    RunOptions options = quiet(folder / "a");
    options.resume = true;
    BOOST_TEST(different(run(options, Kind::nuts), whole) == "");
    BOOST_TEST(same_run(folder / "whole", folder / "a", four));
}

// What cannot be copied is said after what has stopped the run, and the other chains are copied.
BOOST_AUTO_TEST_CASE(a_full_disk_of_rank_0) {
    const TemporaryDirectory folder;
    arm_files();
    const ResetCalls reset;
    for (const bool fault : {false, true}) {
        const std::string a = folder / ("a" + std::to_string(fault)), b = folder / ("b" + std::to_string(fault));
        const FullDisk disk(a + "/.chain_3.csv.", 0);
        const RankResults results = on_ranks(2, [&](Group& group) {
            RunOptions own = quiet(group.rank() == 0 ? a : b);
            own.group = &group;
            return run_chains(shapes_model<double>(), Walk{.bad_chain = fault ? 0 : -1, .bad_step = 70}, own);
        });
        const std::string copying = "rank 0: " + a + "/chain_3.csv: cannot be saved: writing: No space left on device";
        BOOST_TEST(results.errors[1] ==
                   (fault ? "GroupError: run_chains: chain 1: a fault; " : "GroupError: run_chains: ") + copying);
        BOOST_TEST(results.errors[0] == "Error" + results.errors[1].substr(10));
        BOOST_TEST(contents(a + "/chain_4.csv") == contents(b + "/chain_4.csv"));
        BOOST_TEST(contents(a + "/chain_4.state") == contents(b + "/chain_4.state"));
    }
}

// A pair of files that is further than the others, but damaged, replaces none.
BOOST_AUTO_TEST_CASE(damaged_files_are_not_sent) {
    const TemporaryDirectory folder;
    arm_files();
    const ResetCalls reset;
    const Draws whole = run(quiet(folder / "whole"), Kind::nuts);
    leave(folder / "a", 1, 1, 300);
    leave(folder / "b", 1, 1, 500);
    const std::string csv = folder / "b/chain_1.csv", rows = contents(csv);
    const auto before = files_in(folder / "a");
    const auto error = [&] { return run_in({folder / "a", folder / "b"}, true).error(); };

    std::filesystem::remove(csv);
    BOOST_TEST(error() == "GroupError: rank 1: " + csv + ": is gone, but " + folder / "b/chain_1.state" +
                              " is there; without its draws the run cannot go on. Remove that state, or choose another "
                              "directory");
    BOOST_TEST(TemporaryDirectory::names_in(folder / "b") == std::set<std::string>{"chain_1.state"});
    put(csv, "");
    const std::string empty = error(), begin = "GroupError: rank 1: " + csv + ": has 0 of the ";
    BOOST_TEST(empty.substr(0, begin.size()) == begin);
    std::string changed = rows;
    const std::size_t digit = changed.find_first_of("0123456789", changed.find("\n-") + 1);
    changed[digit] = changed[digit] == '1' ? '2' : '1';
    put(csv, changed);
    const std::string damaged = error();
    BOOST_TEST((damaged.find(csv + ": lines ") != damaged.npos), damaged);
    BOOST_TEST((damaged.find(" are not those that the run wrote") != damaged.npos), damaged);
    BOOST_TEST((files_in(folder / "a") == before));

    // The damage mended, the run goes on from there.
    put(csv, rows);
    const RankResults results = run_in({folder / "a", folder / "b"}, true);
    BOOST_TEST(results.fine());
    BOOST_TEST(different(results.root(), whole) == "");
    BOOST_TEST(same_run(folder / "whole", folder / "a", four));
}

// A finished run is read where rank 0 may not write, by ranks with directories of their own. They may even hold a state
// of the same name.
BOOST_AUTO_TEST_CASE(a_finished_run_is_read_where_rank_0_may_not_write) {
    const TemporaryDirectory folder;
    arm_files();
    const ResetCalls reset;
    const Draws whole = run(quiet(folder / "a"), Kind::nuts);
    leave(folder / "c", 1, 1, 300);
    const auto before = files_in(folder / "a"), older = files_in(folder / "c");
    make_read_only(folder / "a");
    // Ranks without the files, with older ones, with the finished ones, and with the directory itself.
    const std::vector<std::vector<std::string>> jobs = {{"a", "b"}, {"a", "c"}, {"a", "c"}, {"a", "a", "d", "c"}};
    for (const std::vector<std::string>& names : jobs) {
        std::vector<std::string> directories;
        for (const std::string& name : names) directories.push_back(folder / name);
        const RankResults results = run_in(directories, true);
        BOOST_TEST(results.error() == "");
        BOOST_TEST(results.fine());
        BOOST_TEST(different(results.root(), whole) == "");
        BOOST_TEST((files_in(folder / "a") == before));
    }
    BOOST_TEST(TemporaryDirectory::names_in(folder / "b") == names_of({3, 4}));
    BOOST_TEST(TemporaryDirectory::names_in(folder / "c") == names_of({1, 3, 4}));
    BOOST_TEST(TemporaryDirectory::names_in(folder / "d") == names_of({3}));
    BOOST_TEST(contents(folder / "c/chain_1.state") == older.at("chain_1.state"));
    BOOST_TEST(contents(folder / "c/chain_4.state") == before.at("chain_4.state"));
}

// Finished chains that rank 0 does not have yet come to it, and need room there; those that it has need none.
BOOST_AUTO_TEST_CASE(finished_chains_need_room_on_rank_0) {
    const TemporaryDirectory folder;
    arm_files();
    const ResetCalls reset;
    const std::string a = folder / "a", b = folder / "b";
    const Draws whole = run_in({a, b}).root();
    const auto free = [&](double bytes) {
        detail::file_calls().space = [=](const char* path, std::error_code&) {
            return std::filesystem::space_info{
                .capacity = 1'000'000'000,
                .free = 1'000'000'000,
                .available = path == a ? static_cast<std::uintmax_t>(bytes) : 1'000'000'000};
        };
        return run_in({a, b}, true);
    };
    BOOST_TEST(free(0).fine());
    double bytes = 0;
    for (const auto& [name, text] : files_in(b)) {
        bytes += static_cast<double>(text.size());
        std::filesystem::remove(std::filesystem::path(a) / name);
    }
    BOOST_TEST(free(bytes - 1).error() == "GroupError: rank 0: " + a + ": the files of this run need up to " +
                                              detail::bytes_text(bytes) + " more of disk space, but only " +
                                              detail::bytes_text(bytes - 1) +
                                              " are free; draw less, thin more, or choose another directory");
    const RankResults results = free(bytes);
    BOOST_TEST(results.fine());
    BOOST_TEST(different(results.root(), whole) == "");
    BOOST_TEST(TemporaryDirectory::names_in(a) == names_of({1, 2, 3, 4}));
    // A damaged copy of rank 0 is replaced.
    put(a + "/chain_4.csv", "");
    BOOST_TEST(free(1e6).fine());
    BOOST_TEST((contents(a + "/chain_4.csv") == contents(b + "/chain_4.csv")));
}

BOOST_AUTO_TEST_SUITE_END()
