#pragma once

#include <pollen/autograd/support/interrupt.hpp>

#include <csignal>
#include <stop_token>

namespace pollen::test {

// Asks a run to stop: by a signal, which stops the runs of a program that has an Interrupt, or by the token of the run.
struct Stopper {
    int signal = SIGINT;  // 0: by the token
    std::stop_source source = {};

    void ask() {
        if (signal != 0)
            std::raise(signal);
        else
            source.request_stop();
    }
    std::stop_token token() const { return source.get_token(); }
};

}  // namespace pollen::test
