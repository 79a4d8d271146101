#pragma once

#include <pollen/autograd/tensor.hpp>

#include <cstdint>
#include <string>

namespace pollen {

// R-hat and ESS of a network's predictions, (chains, draws, outputs...). Weights are not identified: chains may be in
// mirror images of one mode, and then the R-hat of a weight says nothing. The outputs of the network can be compared.
struct FunctionSpace {
    struct Spread {
        double worst = 0;  // the greatest R-hat, the least ESS
        double q5 = 0, q50 = 0, q95 = 0;
        std::int64_t worst_output = 0;
    };
    Spread rhat, ess_bulk, ess_tail;
    std::int64_t outputs = 0;
    std::int64_t left_out = 0;  // outputs that are constant or not finite, and so have no diagnostics
};
template <Real T>
FunctionSpace function_space(const Tensor<T>& predictions);
// The same in words, a line each.
std::string summary(const FunctionSpace& space);

}  // namespace pollen
