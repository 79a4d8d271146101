#include "../../support.hpp"

#include <pollen/autograd/support/interrupt.hpp>

#include <csignal>

using namespace pollen;

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

BOOST_AUTO_TEST_SUITE_END()
