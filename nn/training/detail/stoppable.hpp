#pragma once

#include <pollen/autograd/support/error.hpp>
#include <pollen/autograd/support/interrupt.hpp>

namespace pollen::detail {

// Leaves a step or a validation of a training run that is to stop. Thrown where nothing has changed yet.
struct TrainingStopped : Error {
    TrainingStopped() : Error("train: stopped") {}
};

[[noreturn]] inline void stop_training() { throw TrainingStopped(); }

// Throws after Ctrl-C.
inline void stop_training_if_asked() {
    if (Interrupt::requested()) stop_training();
}

// Calls f(). Returns false if it was stopped.
template <class F>
bool unless_stopped(const F& f) {
    try {
        f();
        return true;
    } catch (const TrainingStopped&) {
        return false;
    }
}

}  // namespace pollen::detail
