#pragma once

#include <pollen/nn/module/module.hpp>

#include <optional>

namespace pollen {

// Which states a recurrent layer returns: those of all steps, (n, steps, hidden), or that of the last one, (n, hidden).
enum class Steps { all, last };

struct RecurrentOptions {
    Steps output = Steps::all;
    std::optional<Init> init = {};  // of all parameters; empty: U(-a, a), a^2 = 1 / hidden, as in PyTorch
};

}  // namespace pollen
