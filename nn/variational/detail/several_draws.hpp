#pragma once

#include <pollen/autograd/support/error.hpp>
#include <pollen/autograd/tensor.hpp>

#include <string>
#include <vector>

namespace pollen::detail {

// Draws first, ..., first + count - 1 of a posterior that has draw(seed, which). `who` is for the message.
template <Real T, class Posterior>
std::vector<Tensor<T>> several_draws(const char* who, const Posterior& posterior, std::int64_t count,
                                     std::uint64_t seed, std::uint64_t first) {
    if (count < 1) throw ValueError(std::string(who) + ": " + std::to_string(count) + " draws; at least 1 is needed");
    std::vector<Tensor<T>> all;
    for (std::int64_t k = 0; k < count; ++k) all.push_back(posterior.draw(seed, first + static_cast<std::uint64_t>(k)));
    return all;
}

}  // namespace pollen::detail
