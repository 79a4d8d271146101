#include "../../standard_error.hpp"
#include "../../support.hpp"

#include <pollen/autograd/support/progress.hpp>

using namespace pollen;
using namespace pollen::test;

BOOST_AUTO_TEST_SUITE(progress)

namespace {

void work(Show show) {
    Progress progress(show, 1000);
    for (std::int64_t step = 1; step <= 1000; ++step) progress.update(step, "step " + std::to_string(step));
    progress.say("done");
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_log_gets_few_lines) {
    const std::string text = written([] { work(Show::lines); });
    BOOST_TEST(std::count(text.begin(), text.end(), '\n') <= 22);
    BOOST_TEST(text.find("step 1000\n") != std::string::npos);
    BOOST_TEST(text.ends_with("done\n"));
    BOOST_TEST(text.find('\r') == std::string::npos);
    // This output is a file, not a terminal.
    const std::string automatic = written([] { work(Show::automatic); });
    BOOST_TEST(automatic.find('\r') == std::string::npos);
    BOOST_TEST(automatic.ends_with("done\n"));
}

BOOST_AUTO_TEST_CASE(a_terminal_gets_one_line) {
    const std::string text = written([] { work(Show::bar); });
    BOOST_TEST(std::count(text.begin(), text.end(), '\n') == 1);
    BOOST_TEST(text.find("[############] step 1000") != std::string::npos);
    BOOST_TEST(text.ends_with("\rdone\n"));
}

BOOST_AUTO_TEST_CASE(nothing_is_nothing) {
    BOOST_TEST(written([] { work(Show::nothing); }) == "");
}

BOOST_AUTO_TEST_CASE(durations) {
    BOOST_TEST(duration_text(0.2) == "0 s");
    BOOST_TEST(duration_text(59.4) == "59 s");
    BOOST_TEST(duration_text(750) == "12 min 30 s");
    BOOST_TEST(duration_text(12000) == "3 h 20 min");
    BOOST_TEST(duration_text(-5) == "0 s");
}

BOOST_AUTO_TEST_SUITE_END()
