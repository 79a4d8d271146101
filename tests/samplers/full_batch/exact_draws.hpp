#pragma once

#include <cmath>
#include <vector>

namespace pollen::test {

// The chain of make_diagnostics_reference.R: autoregressive, in steps of 1/65536, fed by the generator of Park and
// Miller. All of the arithmetic is exact, so that R has the same draws. rho is a multiple of 1/16.
inline std::vector<double> exact_chain(double seed, int draws, double rho) {
    std::vector<double> x;
    double state = seed, y = 0;
    for (int t = 0; t < draws; ++t) {
        double e = 0;
        for (int k = 0; k < 3; ++k) {
            state = std::fmod(16807 * state, 2147483647);
            e += std::floor(state / 32768) - 32768;
        }
        y = std::floor((rho * y + e / 65536) * 65536) / 65536;
        x.push_back(y);
    }
    return x;
}

}  // namespace pollen::test
