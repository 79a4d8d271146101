#pragma once

#include <pollen/autograd/support/checks.hpp>
#include <pollen/nn/layers/recurrent.hpp>

#include <cmath>

// What Gru and Lstm share.
namespace pollen::detail {

inline Init recurrent_init(std::int64_t hidden, const RecurrentOptions& options) {
    const double a = 1 / std::sqrt(static_cast<double>(hidden));
    return options.init.value_or(Init::uniform(-a, a));
}

inline void check_sequences(const char* layer, const Shape& x, std::int64_t features) {
    if (x.rank() != 3 || x[2] != features)
        throw ShapeError(std::string(layer) + ": x " + to_string(x) + "; sequences (n, steps, " +
                         std::to_string(features) + ") are needed");
    if (x[1] == 0) throw ShapeError(std::string(layer) + ": x " + to_string(x) + " has no steps; at least 1 is needed");
}

template <Real T>
Var<T> output_of(Var<T> states, Steps output) {
    if (output == Steps::all) return states;
    const Shape shape = states.shape();
    return reshape(slice(states, 1, shape[1] - 1, shape[1]), {shape[0], shape[2]});
}

inline std::string describe_recurrent(const char* layer, std::int64_t inputs, std::int64_t hidden, Steps output) {
    return call(layer, inputs, hidden) + (output == Steps::last ? ", last step" : "");
}

}  // namespace pollen::detail
