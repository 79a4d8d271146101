#pragma once

#include <pollen/data/formats/safetensors.hpp>

#include <cstddef>
#include <functional>
#include <string>

namespace pollen::detail {

// Calls put(data, bytes) for each part of what write_safetensors would write, in order. Messages call it `name`.
void each_safetensors_part(const TensorFile& file, const std::string& name,
                           const std::function<void(const void*, std::size_t)>& put);

}  // namespace pollen::detail
