#pragma once

#include <pollen/autograd/tensor.hpp>
#include <pollen/data/io/detail/crc32.hpp>
#include <pollen/data/io/detail/xxh64.hpp>

#include <span>
#include <string>

namespace pollen::detail {

// The hash of some bytes as 16 digits.
inline std::string hash_text(std::span<const std::byte> bytes) { return hash_text(xxh64(bytes)); }

// "(60000, 784) 3f8a...": the shape of a tensor and the hash of all its numbers.
template <class T>
std::string hash_text(const Tensor<T>& numbers) {
    return to_string(numbers.shape()) + " " + hash_text(std::as_bytes(numbers.values()));
}

}  // namespace pollen::detail
