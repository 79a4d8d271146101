#include <pollen/nn/interrupt.hpp>

#include <csignal>
#include <mutex>

namespace pollen {

namespace {

std::mutex guard;
int living = 0;
struct sigaction old_int, old_term;
volatile std::sig_atomic_t asked = 0;

void note(int signal) {
    if (asked) {
        // Twice means now: the signal comes again as soon as this handler returns.
        std::signal(signal, SIG_DFL);
        std::raise(signal);
    }
    asked = 1;
}

}  // namespace

Interrupt::Interrupt() {
    const std::lock_guard lock(guard);
    if (living++ > 0) return;
    asked = 0;
    struct sigaction action {};
    action.sa_handler = note;
    sigemptyset(&action.sa_mask);
    action.sa_flags = SA_RESTART;
    sigaction(SIGINT, &action, &old_int);
    sigaction(SIGTERM, &action, &old_term);
}

Interrupt::~Interrupt() {
    const std::lock_guard lock(guard);
    if (--living > 0) return;
    sigaction(SIGINT, &old_int, nullptr);
    sigaction(SIGTERM, &old_term, nullptr);
}

bool Interrupt::requested() { return asked != 0; }

}  // namespace pollen
