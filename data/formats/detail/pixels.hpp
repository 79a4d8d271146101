#pragma once

#include <pollen/autograd/tensor.hpp>
#include <pollen/data/formats/image.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace pollen::detail {

// Refuses a width or height of 0 or above the limits.
void check_image_size(const std::string& place, const char* field, std::uint64_t size, std::int64_t limit);

// An empty tensor of shape (channels, height, width), after a look at limits.max_bytes.
template <Real T>
Tensor<T> new_image(const std::string& name, std::uint64_t channels, std::uint64_t height, std::uint64_t width,
                    const ReadLimits& limits);

// (channels, height, width) as bytes in the order of files: rows of pixels of channels. Throws where the image has not
// 1 to max_channels channels and at least one pixel.
template <Real T>
std::vector<std::uint8_t> pixel_bytes(const char* op, const Tensor<T>& image, std::int64_t max_channels);

}  // namespace pollen::detail
