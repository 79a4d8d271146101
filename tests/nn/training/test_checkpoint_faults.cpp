#include "../../data/child_process.hpp"
#include "../../data/faults.hpp"
#include "../../data/fuse.hpp"
#include "../../standard_error.hpp"
#include "checkpoint_run.hpp"

#include <fcntl.h>
#include <sstream>
#include <thread>

using namespace pollen;
using namespace pollen::test;

BOOST_AUTO_TEST_SUITE(checkpoint_faults)

namespace {

// The parameters of an undisturbed run without validation data: at first, and after each epoch.
std::vector<std::vector<double>> after_each_epoch() {
    std::vector<std::vector<double>> all;
    CheckpointRun run;
    run.validates = false;
    run.options.on_step = [&](const StepRecord& now) { return now.step > 1 || !all.empty(); };
    run.options.epochs = 0;
    run();
    all.push_back(run.theta());
    run.options.epochs = 6;
    run.options.on_epoch = [&](const EpochRecord&) {
        all.push_back(run.theta());
        return true;
    };
    run();
    return all;
}

}  // namespace

// Not a test in itself: a second run, in a process of its own. It writes down what became of it.
BOOST_AUTO_TEST_CASE(child) {
    std::istringstream text(child_text());
    std::string path, said;
    bool resume = false;
    if (!(text >> path >> resume >> said)) return;
    CheckpointRun run(path, resume);
    put(said, run.error());
}

BOOST_AUTO_TEST_CASE(two_runs_cannot_have_one_checkpoint) {
    const TemporaryDirectory folder;
    const std::string path = folder / "run", link = folder / "link", said = folder / "said";
    std::filesystem::create_symlink("run", link);
    const auto run_second = [&](const std::string& name, bool resume) {
        run_case("checkpoint_faults/child", name + (resume ? " 1 " : " 0 ") + said);
    };
    CheckpointRun whole;
    whole();
    for (const bool resume : {false, true}) {
        std::vector<std::string> errors;
        CheckpointRun run(path, resume);
        run.options.on_step = [&](const StepRecord& now) {
            if (now.step != 8) return true;
            for (const std::string& name : {path, link}) {
                run_second(name, resume);
                errors.push_back(contents(said));
                std::thread([&] { errors.push_back(CheckpointRun(name, resume).error()); }).join();
                errors.push_back(CheckpointRun(name, resume).error());
            }
            return true;
        };
        run();
        BOOST_TEST((run.theta() == whole.theta()));
        BOOST_TEST(errors.size() == 6u);
        for (std::size_t k = 0; k < errors.size(); ++k)
            BOOST_TEST(errors[k] == (k < 3 ? path : link) + ": another run is writing to it now");
        BOOST_TEST((folder.names() == Names{"link", "run", "said"}));
        // It is free again.
        run_second(path, false);
        BOOST_TEST(contents(said) == "");
        std::filesystem::remove(path);
    }
    // Two checkpoints in one folder are two.
    CheckpointRun first(folder / "first"), second(folder / "first.2");
    first.options.on_step = [&](const StepRecord& now) {
        if (now.step == 8) BOOST_TEST(second().steps == 18);
        return true;
    };
    BOOST_TEST(first().steps == 18);
    BOOST_TEST((first.theta() == second.theta()));
}

BOOST_AUTO_TEST_CASE(a_file_system_without_locks) {
    const TemporaryDirectory folder;
    const std::string path = folder / "run";
    CheckpointRun whole;
    whole();
    detail::file_calls().flock = [](int, int) {
        errno = ENOLCK;
        return -1;
    };
    put(folder / ".run.1-1.tmp", "of a run that may be alive");
    CheckpointRun run(path);
    run.options.show = Show::lines;
    run.options.on_step = [&](const StepRecord&) {
        BOOST_TEST((folder.names() == Names{".run.1-1.tmp", "run"}));
        return true;
    };
    const std::string said = written([&] { run(); });
    detail::file_calls() = detail::FileCalls();
    BOOST_TEST(
        said.starts_with(path + ": cannot be locked on this file system; make sure that no other run writes to it\n"));
    BOOST_TEST((run.theta() == whole.theta()));
}

// A run that has ended can be loaded from a medium that cannot be written; no other run begins there.
BOOST_AUTO_TEST_CASE(a_file_system_that_cannot_be_written) {
    const TemporaryDirectory folder;
    const std::string path = folder / "run", half = folder / "half";
    CheckpointRun whole(path);
    whole();
    {
        CheckpointRun run(half);
        run.until(11);
    }
    const Names names = folder.names();
    const std::string saved = contents(path), half_saved = contents(half);
    for (const int reason : {EROFS, EACCES}) {
        const ResetCalls reset;
        const detail::FileCalls real;
        detail::file_calls().open = [&](const char* name, int flags, unsigned mode) {
            if ((flags & O_ACCMODE) == O_RDONLY) return real.open(name, flags, mode);
            errno = reason;
            return -1;
        };
        CheckpointRun run(path, true);
        run.options.show = Show::lines;
        std::int64_t steps = 0;
        BOOST_TEST(written([&] { steps = run().steps; }) == "");
        BOOST_TEST(steps == 18);
        BOOST_TEST((run.theta() == whole.theta()));
        const auto refused = [&](const std::string& name, bool resume) {
            CheckpointRun other(folder / name, resume);
            other.options.on_step = [](const StepRecord&) -> bool { throw Error("it trains"); };
            BOOST_TEST(other.error() ==
                       folder / name + ": cannot be saved: making its lock, " + folder / "." + name +
                           ".lock: " + (reason == EROFS ? "Read-only file system" : "Permission denied"));
        };
        refused("half", true);
        refused("run", false);
        refused("new", true);
        refused("new", false);
        BOOST_TEST((folder.names() == names));
        BOOST_TEST((contents(path) == saved));
        BOOST_TEST((contents(half) == half_saved));
    }
}

BOOST_AUTO_TEST_CASE(what_killed_runs_left_is_removed) {
    const TemporaryDirectory folder;
    const Names others{".run.2.55-1.tmp", ".run.x-1.tmp", ".other.55-1.tmp", ".run.55-1.tmp.old", "run.55-1.tmp"};
    for (const std::string& name : others) put(folder / name, "");
    for (const char* name : {".run.55-1.tmp", ".run.4194304-999.tmp", ".run.lock"}) put(folder / name, "");
    Names left = others;
    left.insert("run");
    CheckpointRun run(folder / "run");
    run.options.on_step = [&](const StepRecord&) {
        left.insert(".run.lock");
        BOOST_TEST((folder.names() == left));
        return false;
    };
    run();
    left.erase(".run.lock");
    BOOST_TEST((folder.names() == left));
}

// The disk is full at each call of the file system in turn.
BOOST_AUTO_TEST_CASE(a_full_disk) {
    const std::vector<std::vector<double>> epochs = after_each_epoch();
    CheckpointRun whole;
    whole.validates = false;
    whole();
    const TemporaryDirectory before;
    {
        CheckpointRun run(before / "run");
        run.validates = false;
        run.until(4);
    }
    const std::string old = contents(before / "run");
    int n = 0, errors = 0;
    for (;; ++n) {
        BOOST_REQUIRE(n < 1000);
        const TemporaryDirectory folder;
        const std::string path = folder / "run";
        put(path, old);
        CheckpointRun run(path);
        run.validates = false;
        run.options.checkpoint_every = 3;
        std::size_t steps = 0;
        run.options.on_step = [&](const StepRecord&) { return ++steps > 0; };
        std::string error, struck;
        {
            const Faults faults(n, [] { return ENOSPC; });
            error = run.error();
            struck = faults.struck();
        }
        if (struck.empty()) break;
        // Where the lock could not be removed, it is left; nothing else is.
        BOOST_TEST((folder.names() == (struck == "unlink" ? Names{".run.lock", "run"} : Names{"run"})));
        if (error.empty()) continue;
        ++errors;
        BOOST_TEST(error.starts_with(path + ": cannot be saved: "));
        BOOST_TEST(error.ends_with(": No space left on device"));
        // A step that ends an epoch calls on_step only after the run was saved.
        const std::size_t at = steps == 0 ? 0 : (steps + 1) / 3;
        const bool begun = !run.theta().empty();
        BOOST_TEST((begun ? run.theta() == epochs[at] : n == 0), "call " << n);
        if (at == 0 && error.find("though the new file") == error.npos) BOOST_TEST((contents(path) == old));
        // What the file holds is a whole run, from which the rest can be made.
        run.options.resume = true;
        run.options.on_step = {};
        BOOST_TEST(run().steps == 18);
        BOOST_TEST((run.theta() == whole.theta()));
        BOOST_TEST((folder.names() == Names{"run"}));
    }
    BOOST_TEST(errors > 20);
    BOOST_TEST(n > errors);
}

BOOST_AUTO_TEST_CASE(the_folder_disappears) {
    const std::vector<std::vector<double>> epochs = after_each_epoch();
    const TemporaryDirectory folder;
    std::filesystem::create_directory(folder / "deep");
    CheckpointRun run(folder / "deep/run");
    run.validates = false;
    run.options.on_step = [&](const StepRecord& now) {
        if (now.step == 7) std::filesystem::remove_all(folder / "deep");
        return true;
    };
    BOOST_TEST(run.error() == run.options.checkpoint +
                                  ": cannot be saved: creating a temporary file beside it: No such file or directory");
    BOOST_TEST((run.theta() == epochs[3]));
    BOOST_TEST(folder.names().empty());
}

// Stopped by a callback or Ctrl-C where the parameters have become infinite: no such run is saved.
BOOST_AUTO_TEST_CASE(a_run_gone_wild_is_not_saved) {
    const TemporaryDirectory folder;
    const std::string path = folder / "run";
    CheckpointRun run(path);
    run.validates = false;
    run.options.optimiser = Sgd{.rate = 1e308};
    for (double& y : run.data.targets.mutable_values()) y *= 1000;
    std::string saved;
    run.options.on_step = [&](const StepRecord& now) {
        saved = contents(path);
        return now.step < 1;
    };
    BOOST_TEST(error_of<ValueError>([&] { run(); }) ==
               "train: parameters are not finite after step 1; a smaller rate (now 1e+308) or a clip_norm may help");
    BOOST_TEST((contents(path) == saved));
    for (const double x : run.theta()) BOOST_TEST(std::isfinite(x));
}

BOOST_AUTO_TEST_CASE(names_that_no_file_can_have) {
    const TemporaryDirectory folder;
    put(folder / "plain", "");
    std::filesystem::create_directory(folder / "folder");
    std::filesystem::create_symlink("loop", folder / "loop");
    std::filesystem::create_symlink("missing/run", folder / "lost");
    put(folder / ".taken.lock", "notes");
    const auto cannot = [&](const std::string& name, const std::string& why, const std::string& lock) {
        const std::string path = folder / name;
        return path + ": cannot be saved: making its lock, " + folder / lock + ": " + why;
    };
    const std::string long_name(256, 'n');
    for (const bool resume : {false, true}) {
        const auto error = [&](const std::string& name) { return CheckpointRun(folder / name, resume).error(); };
        BOOST_TEST(error("missing/run") == cannot("missing/run", "No such file or directory", "missing/.run.lock"));
        BOOST_TEST(error("lost") == cannot("lost", "No such file or directory", "missing/.run.lock"));
        BOOST_TEST(error("plain/run") == cannot("plain/run", "Not a directory", "plain/.run.lock"));
        BOOST_TEST(error(long_name) == folder / long_name + ": cannot be looked at: File name too long");
        BOOST_TEST(error("loop") == folder / "loop" +
                                        ": cannot be saved: following its symbolic links: Too many levels of symbolic "
                                        "links");
        for (const char* name : {"folder", "folder/"})
            BOOST_TEST(error(name) == folder / name + ": is not a regular file");
        BOOST_TEST(error("taken") == folder / "taken: cannot be saved: " + folder / ".taken.lock" +
                                         " is in the way, where its lock would be; it is not empty");
        if (::geteuid() == 0) continue;  // who may do anything
        std::filesystem::permissions(folder / "folder", std::filesystem::perms::none);
        BOOST_TEST(error("folder/run") == (resume ? folder / "folder/run: cannot be looked at: Permission denied"
                                                  : cannot("folder/run", "Permission denied", "folder/.run.lock")));
        std::filesystem::permissions(folder / "folder", std::filesystem::perms::owner_all);
    }
    BOOST_TEST((folder.names() == Names{".taken.lock", "folder", "loop", "lost", "plain"}));
    BOOST_TEST(TemporaryDirectory::names_in(folder / "folder").empty());
    const std::string name(255, 'n');
    CheckpointRun run(folder / name);
    BOOST_TEST(run().steps == 18);
    BOOST_TEST(folder.names().contains(name));
    BOOST_TEST(folder.names().size() == 6u);
}

BOOST_AUTO_TEST_SUITE_END()
