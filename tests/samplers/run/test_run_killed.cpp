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

// Not a test in itself: what the others run in a process of its own, and end.
BOOST_AUTO_TEST_CASE(child) {
    std::istringstream text(child_text());
    std::string directory, sampler;
    if (!(text >> directory >> sampler >> fuse.evaluation >> fuse.call)) return;
    arm_files();
    RunOptions options = quiet(directory);
    options.resume = true;
    run(options, sampler == "nuts");
}

BOOST_AUTO_TEST_CASE(killed_at_any_moment_and_resumed_the_files_are_the_same) {
    for (const bool nuts : {true, false}) {
        const TemporaryDirectory folder;
        arm_files();
        const ResetCalls reset;
        fuse.evaluations = 0;
        fuse.calls = 0;
        const Draws whole = run(quiet(folder / "whole"), nuts);
        const std::int64_t evaluations = fuse.evaluations, calls = fuse.calls;

        Random random(5);
        const auto moment = [&](std::int64_t n) {
            return static_cast<std::int64_t>(random.uniform<double>() * static_cast<double>(n));
        };
        const auto burn_once = [&](const std::string& directory, bool in_model, std::int64_t least) {
            std::ostringstream text;
            const std::int64_t at = least + moment((in_model ? evaluations : calls) - least);
            text << directory << (nuts ? " nuts " : " walk ") << (in_model ? at : -1) << ' ' << (in_model ? -1 : at);
            return run_case("run_killed/child", text.str());
        };
        for (int k = 0; k < (nuts ? 20 : 6); ++k) {
            const std::string directory = folder / ("killed" + std::to_string(k));
            const int status = burn_once(directory, k % 2 == 0, 0);
            BOOST_TEST((WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL));
            RunOptions options = quiet(directory);
            options.resume = true;
            const Draws resumed = run(options, nuts);
            BOOST_TEST(resumed.values == whole.values);
            BOOST_TEST(same_run(folder / "whole", directory, chains), "killed at moment " << k);
        }
        // Killed again and again, it comes to its end as well.
        const std::string directory = folder / "often";
        for (int k = 0; k < 5; ++k) burn_once(directory, k % 2 == 0, 0);
        RunOptions options = quiet(directory);
        options.resume = true;
        run(options, nuts);
        BOOST_TEST(same_run(folder / "whole", directory, chains));
        BOOST_TEST(TemporaryDirectory::names_in(directory).size() == 2 * chains);  // nothing temporary is left
    }
}

// Not a test in itself: a longer run whose files go to the disk, and its end.
BOOST_AUTO_TEST_CASE(long_child) {
    std::istringstream text(child_text());
    std::string directory;
    if (text >> directory >> fuse.evaluation) run(long_run(directory), true);
}

BOOST_AUTO_TEST_CASE(killed_with_all_flushes_and_resumed_the_files_are_the_same, *boost::unit_test::label("slow")) {
    const TemporaryDirectory folder;
    fuse.evaluations = 0;
    run(long_run(folder / "whole"), true);
    const auto evaluations = static_cast<double>(fuse.evaluations);
    Random random(17);
    for (int k = 0; k < 20; ++k) {
        const std::string directory = folder / ("killed" + std::to_string(k));
        // The second and the third time there is less to do than at first, and it may come to its end.
        for (int times = 0; times <= k % 3; ++times) {
            const auto at = static_cast<std::int64_t>(evaluations * random.uniform<double>());
            const int status = run_case("run_killed/long_child", directory + ' ' + std::to_string(at));
            BOOST_TEST(((WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) || (times > 0 && status == 0)));
        }
        run(long_run(directory), true);
        BOOST_TEST(same_run(folder / "whole", directory, chains), "killed at moment " << k);
        BOOST_TEST(TemporaryDirectory::names_in(directory).size() == 2 * chains);
    }
}

BOOST_AUTO_TEST_CASE(control_c_ends_a_run_that_can_go_on) {
    const TemporaryDirectory folder;
    const Draws whole = run(quiet(folder / "whole"), false);
    RunOptions options = quiet(folder / "cut");
    fuse.evaluations = 0;
    fuse.evaluation = 390;  // of some 420
    fuse.signal = SIGINT;
    const Draws cut = run(options, false);
    fuse.evaluation = -1;
    fuse.signal = SIGKILL;
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
