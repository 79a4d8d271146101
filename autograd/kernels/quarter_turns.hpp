#pragma once

#include <cstdint>

namespace pollen::kernels {

// a = k pi/2 + r with |r| <= pi/4: k modulo 4, and r to all digits of a double.
struct QuarterTurns {
    double r;
    std::uint64_t k;
};

// For finite a >= 1, however large (Payne and Hanek, 1983). In integers, so with the same bits everywhere.
QuarterTurns quarter_turns(double a);

}  // namespace pollen::kernels
