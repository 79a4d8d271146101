#include "../../data/child_process.hpp"
#include "../../support.hpp"

#include <pollen/autograd/support/interrupt.hpp>

#include <csignal>

using namespace pollen;
using namespace pollen::test;

BOOST_AUTO_TEST_SUITE(interrupt)

BOOST_AUTO_TEST_CASE(a_signal_asks_for_the_end) {
    for (const int signal : {SIGINT, SIGTERM}) {
        {
            const Interrupt interrupt;
            BOOST_TEST(!Interrupt::requested());
            std::raise(signal);
            BOOST_TEST(Interrupt::requested());
        }
        BOOST_TEST(!Interrupt::requested());  // the next run goes on
    }
}

// nohup, and a shell that starts a program with &, ask for that.
BOOST_AUTO_TEST_CASE(an_ignored_signal_stays_ignored) {
    for (const int signal : {SIGINT, SIGTERM}) {
        const auto before = std::signal(signal, SIG_IGN);
        {
            const Interrupt interrupt;
            std::raise(signal);
            BOOST_TEST(!Interrupt::requested());
        }
        BOOST_TEST((std::signal(signal, before) == SIG_IGN));
    }
}

// Not a test in itself.
BOOST_AUTO_TEST_CASE(child) {
    if (child_text().empty()) return;
    std::raise(std::stoi(child_text()));
}

// Tests of Ctrl-C do not depend on the shell that starts them.
BOOST_AUTO_TEST_CASE(tests_do_not_ignore_signals) {
    for (const int signal : {SIGINT, SIGTERM}) {
        const auto before = std::signal(signal, SIG_IGN);
        const int status = run_case("interrupt/child", std::to_string(signal));
        std::signal(signal, before);
        BOOST_TEST((WIFSIGNALED(status) && WTERMSIG(status) == signal));
    }
}

BOOST_AUTO_TEST_SUITE_END()
