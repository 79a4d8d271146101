#pragma once

#include <pollen/autograd/tensor.hpp>
#include <pollen/data/formats/image.hpp>
#include <pollen/data/io/detail/memory_budget.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace pollen::detail {

// Refuses a width or height of 0 or above the limits.
void check_image_size(const std::string& place, const char* field, std::uint64_t size, std::int64_t limit);

// A tensor of shape (channels, height, width), its contents unspecified. `beside` is what else is kept for each number.
template <Real T>
Tensor<T> new_image(MemoryBudget& budget, std::uint64_t channels, std::uint64_t height, std::uint64_t width,
                    std::uint64_t beside);

// (channels, height, width) as bytes in the order of files: rows of pixels of channels. Throws where the image has not
// 1 to max_channels channels and at least one pixel.
template <Real T>
std::vector<std::uint8_t> pixel_bytes(const char* op, const Tensor<T>& image, std::int64_t max_channels);

}  // namespace pollen::detail
