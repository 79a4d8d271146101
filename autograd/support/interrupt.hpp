#pragma once

namespace pollen {

// How a program asks that Ctrl-C stops its runs. While one of these lives, Ctrl-C and a request to terminate (SIGTERM)
// do not end the program but make requested() true: all runs (train, run_chains, calibrate, geweke_test) stop at a good
// place, on all threads, and keep what they have. A run that begins afterwards stops at once. A second Ctrl-C ends the
// program as usual. A signal that the program ignores stays ignored.
//
//     int main() {
//         const Interrupt interrupt;
//         ...
//     }
//
// The library makes none of its own: in a program without one it leaves signals alone. To stop one run of several, use
// the option `stop` of the run.
class Interrupt {
  public:
    Interrupt();
    ~Interrupt();  // the last one brings back what the signals did before, and requested() becomes false
    Interrupt(const Interrupt&) = delete;
    Interrupt& operator=(const Interrupt&) = delete;

    static bool requested();
};

}  // namespace pollen
