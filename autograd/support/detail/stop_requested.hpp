#pragma once

#include <pollen/autograd/support/interrupt.hpp>

#include <stop_token>

namespace pollen::detail {

// Whether a run with this token is to end: the program has asked for it, or there was a Ctrl-C.
inline bool stop_requested(const std::stop_token& stop) { return stop.stop_requested() || Interrupt::requested(); }

}  // namespace pollen::detail
