#pragma once

#include <pollen/autograd/support/detail/stop_requested.hpp>
#include <pollen/autograd/support/error.hpp>

namespace pollen::detail {

// Leaves a step or a validation of a training run that is to stop. Thrown where nothing has changed yet.
struct TrainingStopped : Error {
    TrainingStopped() : Error("train: stopped") {}
};

[[noreturn]] inline void stop_training() { throw TrainingStopped(); }

// Throws if the run with this token is to end.
inline void stop_training_if_asked(const std::stop_token& stop) {
    if (stop_requested(stop)) stop_training();
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
