#include "../../support.hpp"
#include "killable_run.hpp"

#include <sstream>

using namespace pollen;
using namespace pollen::test;

BOOST_AUTO_TEST_SUITE(run_killed)

namespace {

RunOptions long_run(const std::string& directory) {
    RunOptions options = quiet(directory);
    options.draws = 1000;
    options.flush_every = 100;
    options.resume = true;
    return options;
}

}  // namespace

// Not a test in itself: what the others run in a process of its own, and end or stop.
BOOST_AUTO_TEST_CASE(child) {
    std::istringstream text(child_text());
    std::string directory;
    int kind = 0;
    if (!(text >> directory >> kind >> fuse.evaluation >> fuse.call >> fuse.signal)) return;
    arm_files();
    RunOptions options = quiet(directory);
    options.resume = true;
    run(options, static_cast<Kind>(kind));
}

BOOST_AUTO_TEST_CASE(killed_at_any_moment_and_resumed_the_files_are_the_same) {
    for (const Kind kind : {Kind::nuts, Kind::walk, Kind::sghmc}) {
        const TemporaryDirectory folder;
        arm_files();
        const ResetCalls reset;
        fuse.evaluations = 0;
        fuse.calls = 0;
        const Draws whole = run(quiet(folder / "whole"), kind);
        const std::int64_t evaluations = fuse.evaluations, calls = fuse.calls;

        Random random(5);
        const auto moment = [&](std::int64_t n) {
            return static_cast<std::int64_t>(random.uniform<double>() * static_cast<double>(n));
        };
        const auto burn_once = [&](const std::string& directory, bool in_model) {
            std::ostringstream text;
            const std::int64_t at = moment(in_model ? evaluations : calls);
            text << directory << ' ' << static_cast<int>(kind) << ' ' << (in_model ? at : -1) << ' '
                 << (in_model ? -1 : at) << ' ' << SIGKILL;
            return run_case("run_killed/child", text.str());
        };
        for (int k = 0; k < (kind == Kind::nuts ? 20 : 6); ++k) {
            const std::string directory = folder / ("killed" + std::to_string(k));
            const int status = burn_once(directory, k % 2 == 0);
            BOOST_TEST((WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL));
            RunOptions options = quiet(directory);
            options.resume = true;
            const Draws resumed = run(options, kind);
            BOOST_TEST(resumed.values == whole.values);
            BOOST_TEST(same_run(folder / "whole", directory, chains), "killed at moment " << k);
        }
        // Killed again and again, it comes to its end as well.
        const std::string directory = folder / "often";
        for (int k = 0; k < 5; ++k) burn_once(directory, k % 2 == 0);
        RunOptions options = quiet(directory);
        options.resume = true;
        run(options, kind);
        BOOST_TEST(same_run(folder / "whole", directory, chains));
        BOOST_TEST(TemporaryDirectory::names_in(directory).size() == 2 * chains);  // nothing temporary is left
    }
}

// A run in another process is left alone, whatever it is doing. It is stopped here before any of its chains can be
// done.
BOOST_AUTO_TEST_CASE(two_processes_do_not_run_in_one_directory) {
    const TemporaryDirectory folder;
    const Draws whole = run(quiet(folder / "whole"), Kind::walk);
    RunOptions options = quiet(folder / "run");
    const pid_t other = start_case("run_killed/child", options.directory + " 0 40 -1 " + std::to_string(SIGSTOP));
    BOOST_TEST(WIFSTOPPED(status_of(other, WUNTRACED)));
    const std::string csv = options.directory + "/chain_1.csv", state = options.directory + "/chain_1.state";
    const std::string before = contents(csv) + contents(state);
    BOOST_TEST(error_of<FileError>([&] { run(options, Kind::walk); }) ==
               state + ": is there already; resume that run, remove its files, or choose another directory");
    options.resume = true;
    BOOST_TEST(error_of<FileError>([&] { run(options, Kind::walk); }) == csv + ": another run is writing to it now");
    BOOST_TEST(contents(csv) + contents(state) == before);
    BOOST_TEST(kill(other, SIGKILL) == 0);
    BOOST_TEST(WIFSIGNALED(status_of(other)));
    BOOST_TEST(run(options, Kind::walk).values == whole.values);
    BOOST_TEST(same_run(folder / "whole", options.directory, chains));
}

// What was drawn is not lost with the directory.
BOOST_AUTO_TEST_CASE(a_directory_that_is_removed_ends_the_run) {
    const TemporaryDirectory folder;
    RunOptions options = quiet(folder / "run");
    options.chains = 1;
    std::int64_t evaluations = 0;
    const ModelPotential<double> model([&](Model<double>& m) {
        if (++evaluations == 80) std::filesystem::remove_all(options.directory);
        m.prior(square(m.real("x")) * -0.5);
    });
    std::int64_t draws = -1;
    try {
        run_chains(model, Walk{}, options);
    } catch (const RunError& error) {
        BOOST_TEST(error.what() == "run_chains: chain 1: " + options.directory +
                                       "/chain_1.state: cannot be saved: creating a temporary file beside it: No such "
                                       "file or directory");
        draws = error.draws().size();
    }
    BOOST_TEST(draws > 0);
}

// Not a test in itself: a longer run whose files go to the disk, and its end.
BOOST_AUTO_TEST_CASE(long_child) {
    std::istringstream text(child_text());
    std::string directory;
    int kind = 0;
    if (text >> directory >> kind >> fuse.evaluation) run(long_run(directory), static_cast<Kind>(kind));
}

BOOST_AUTO_TEST_CASE(killed_with_all_flushes_and_resumed_the_files_are_the_same, *boost::unit_test::label("slow")) {
    for (const Kind kind : {Kind::nuts, Kind::sghmc}) {
        const TemporaryDirectory folder;
        fuse.evaluations = 0;
        run(long_run(folder / "whole"), kind);
        const auto evaluations = static_cast<double>(fuse.evaluations);
        Random random(17);
        for (int k = 0; k < 50; ++k) {
            const std::string directory = folder / ("killed" + std::to_string(k));
            // The second and the third time there is less to do than at first, and it may come to its end.
            for (int times = 0; times <= k % 3; ++times) {
                std::ostringstream text;
                text << directory << ' ' << static_cast<int>(kind) << ' '
                     << static_cast<std::int64_t>(evaluations * random.uniform<double>());
                const int status = run_case("run_killed/long_child", text.str());
                BOOST_TEST(((WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) || (times > 0 && status == 0)));
            }
            run(long_run(directory), kind);
            BOOST_TEST(same_run(folder / "whole", directory, chains), "killed at moment " << k);
            BOOST_TEST(TemporaryDirectory::names_in(directory).size() == 2 * chains);
        }
    }
}

BOOST_AUTO_TEST_CASE(control_c_ends_a_run_that_can_go_on) {
    const TemporaryDirectory folder;
    const Draws whole = run(quiet(folder / "whole"), false);
    RunOptions options = quiet(folder / "cut");
    const Draws cut = [&] {
        const StoppingFuse stopping(390);  // of some 420
        return run(options, false);
    }();
    BOOST_TEST(cut.interrupted);
    BOOST_TEST(!whole.interrupted);
    BOOST_TEST(cut.size() > 0);
    BOOST_TEST(cut.files.size() == cut.chains.size());
    for (std::size_t c = 0; c < cut.chains.size(); ++c) {
        const auto from = static_cast<std::size_t>(cut.chains[c].chain - 1);
        for (std::size_t t = 0; t < static_cast<std::size_t>(cut.size()); ++t) {
            BOOST_TEST(cut.values(c, t, 0) == whole.values(from, t, 0));
            BOOST_TEST(cut.chains[c].energy[t] == whole.chains[from].energy[t]);
        }
    }
    BOOST_TEST(contents(folder / "cut/chain_1.csv").ends_with(" seconds (Total)\n# \n"));
    options.resume = true;
    BOOST_TEST(run(options, false).values == whole.values);
    BOOST_TEST(same_run(folder / "whole", folder / "cut", chains));
}

BOOST_AUTO_TEST_SUITE_END()
