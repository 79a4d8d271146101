#pragma once

#include <pollen/autograd/ops.hpp>
#include <pollen/autograd/support/checks.hpp>

#include <string>

// What the convolutions share: a check of their groups, and how they describe themselves.
namespace pollen::detail {

inline void check_groups(const char* layer, std::int64_t inputs, std::int64_t outputs, std::int64_t groups) {
    if (inputs % groups != 0 || outputs % groups != 0)
        throw ValueError(std::string(layer) + ": " + std::to_string(groups) + " groups do not divide " +
                         std::to_string(inputs) + " inputs and " + std::to_string(outputs) + " outputs");
}

// ", stride 2, padding 1", what is not the default. Pairs of equal sizes are written as one.
inline std::string convolution_extras(const Pair& stride, const Pair& padding, const Pair& dilation,
                                      std::int64_t groups, bool bias) {
    std::string text;
    if (stride != Pair{1, 1}) text += ", stride " + to_text(stride);
    if (padding != Pair{0, 0}) text += ", padding " + to_text(padding);
    if (dilation != Pair{1, 1}) text += ", dilation " + to_text(dilation);
    if (groups != 1) text += ", groups " + std::to_string(groups);
    return text + (bias ? "" : ", without bias");
}

}  // namespace pollen::detail
