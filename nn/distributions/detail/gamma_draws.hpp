#pragma once

#include <pollen/autograd/random.hpp>

#include <cstdint>
#include <span>

namespace pollen::kernels {

// log g of gamma variables g of the given shapes and rate 1; the logarithm, because draws of a small shape are often
// too small for a double. Uses the normals and uniforms of the key from number `first` on.
void fill_log_gamma(const RandomKey& key, std::uint64_t first, std::span<const double> shape, std::span<double> out);

}  // namespace pollen::kernels
