#include "../../data/child_process.hpp"
#include "../../data/fuse.hpp"
#include "checkpoint_run.hpp"

#include <sstream>

using namespace pollen;
using namespace pollen::test;

BOOST_AUTO_TEST_SUITE(checkpoint_killed)

namespace {

// A run that can be ended at any step, before it is saved, and at any call of the file system.
CheckpointRun killable(const std::string& path, bool bayes) {
    CheckpointRun run(path, true);
    run.bayes = bayes;
    run.options.augmentation = {};
    run.options.on_step = [](const StepRecord&) {
        if (fuse.evaluations++ == fuse.evaluation) burn();
        return true;
    };
    return run;
}

// What a run that was never killed ends with.
struct Whole {
    std::vector<double> theta;
    std::string file;
    std::int64_t evaluations, calls;  // that it took
};

Whole whole_run(bool bayes) {
    const TemporaryDirectory folder;
    arm_files();
    const ResetCalls reset;
    fuse.evaluations = 0;
    fuse.calls = 0;
    CheckpointRun run = killable(folder / "run", bayes);
    run();
    return {run.theta(), contents(folder / "run"), fuse.evaluations, fuse.calls};
}

void check_kills(bool bayes, int kills, std::uint64_t seed) {
    const Whole whole = whole_run(bayes);
    Random random(seed);
    Names left;  // by the killed runs
    for (int k = 0; k < kills; ++k) {
        const TemporaryDirectory folder;
        const std::string path = folder / "run";
        int killed = 0;
        // A second and a third kill, of the resumed run, which may come to its end before.
        for (int times = 0; times <= k % 3; ++times) {
            const bool at_step = (k + times) % 2 == 0;
            const auto at = static_cast<std::int64_t>(
                random.below(static_cast<std::uint64_t>(at_step ? whole.evaluations : whole.calls)));
            std::ostringstream text;
            text << path << ' ' << bayes << ' ' << (at_step ? at : -1) << ' ' << (at_step ? -1 : at);
            const int status = run_case("checkpoint_killed/child", text.str());
            const bool by_signal = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
            BOOST_TEST((by_signal || (times > 0 && status == 0)));
            killed += by_signal;
            left.merge(folder.names());
        }
        BOOST_TEST(killed > 0);
        CheckpointRun run = killable(path, bayes);
        run();
        BOOST_TEST((run.theta() == whole.theta), "killed, number " << k);
        BOOST_TEST((contents(path) == whole.file), "killed, number " << k);
        BOOST_TEST((folder.names() == Names{"run"}));
    }
    BOOST_TEST(left.contains(".run.lock"));
    BOOST_TEST(std::any_of(left.begin(), left.end(), [](const std::string& name) { return name.ends_with(".tmp"); }));
}

}  // namespace

// Not a test in itself: what the others run in a process of its own, and end.
BOOST_AUTO_TEST_CASE(child) {
    std::istringstream text(child_text());
    std::string path;
    bool bayes = false;
    if (!(text >> path >> bayes >> fuse.evaluation >> fuse.call)) return;
    arm_files();
    killable(path, bayes)();
}

BOOST_AUTO_TEST_CASE(killed_at_any_moment_and_resumed_the_run_is_the_same) {
    check_kills(false, 8, 1);
    check_kills(true, 8, 2);
}

BOOST_AUTO_TEST_CASE(killed_fifty_times, *boost::unit_test::label("slow")) {
    check_kills(false, 50, 3);
    check_kills(true, 50, 4);
}

BOOST_AUTO_TEST_SUITE_END()
