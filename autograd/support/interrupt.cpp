#include <pollen/autograd/support/interrupt.hpp>

#include <atomic>
#include <csignal>
#include <mutex>

namespace pollen {

namespace {

std::mutex guard;
int living = 0;
struct sigaction old_int, old_term;
std::atomic<bool> asked = false;
static_assert(std::atomic<bool>::is_always_lock_free);

void note(int signal) {
    if (asked) {
        // Twice means now: the signal comes again as soon as this handler returns.
        std::signal(signal, SIG_DFL);
        std::raise(signal);
    }
    asked = true;
}

}  // namespace

Interrupt::Interrupt() {
    const std::lock_guard lock(guard);
    if (living++ > 0) return;
    asked = false;
    struct sigaction action {};
    action.sa_handler = note;
    sigemptyset(&action.sa_mask);
    action.sa_flags = SA_RESTART;
    // Who ignores a signal, as nohup and a shell's & do for their programs, goes on ignoring it.
    const auto take = [&](int signal, struct sigaction& old) {
        sigaction(signal, nullptr, &old);
        if ((old.sa_flags & SA_SIGINFO) || old.sa_handler != SIG_IGN) sigaction(signal, &action, nullptr);
    };
    take(SIGINT, old_int);
    take(SIGTERM, old_term);
}

Interrupt::~Interrupt() {
    const std::lock_guard lock(guard);
    if (--living > 0) return;
    sigaction(SIGINT, &old_int, nullptr);
    sigaction(SIGTERM, &old_term, nullptr);
    asked = false;
}

bool Interrupt::requested() { return asked; }

}  // namespace pollen
