#pragma once

#include <pollen/autograd/tape.hpp>

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace pollen {

struct GradcheckOptions {
    int directions = 8;       // random directions tried for each input, and for all inputs together
    double step = 1e-3;       // relative to the size of an input's numbers, at least 1
    double tolerance = 1e-7;  // |tape - differences| <= tolerance (1 + |tape| + |differences|)
    std::uint64_t seed = 1;
};

struct GradcheckResult {
    bool ok = true;
    double worst = 0;     // the largest |tape - differences| / (1 + |tape| + |differences|)
    std::string message;  // which input failed, in which direction, and both derivatives
    explicit operator bool() const { return ok; }
};

// Holds the derivatives that an op or a whole function passes back against central differences.
//
// f maps Vars to one Var of any shape; L = <r, f(x)> with random numbers r. Along a random direction d,
//
//     dL = (8 [L(x + h d) - L(x - h d)] - [L(x + 2h d) - L(x - 2h d)]) / (12 h) + O(h^4)
//
// must equal <grad L, d>. At a kink (relu at 0) the two rightly differ: choose inputs away from it.
GradcheckResult gradcheck(const std::function<Var<double>(std::span<const Var<double>>)>& f,
                          const std::vector<Tensor<double>>& inputs, const GradcheckOptions& options = {});

}  // namespace pollen
