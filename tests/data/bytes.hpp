#pragma once

#include <pollen/data/io/file.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pollen::test {

using namespace std::string_literals;  // "\0\0"s keeps its zeros

inline Bytes bytes_of(std::string_view text) { return std::as_bytes(std::span(text.data(), text.size())); }

inline std::string text_of(const std::vector<std::byte>& bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// CRC-32 as its definition has it, bit by bit.
inline std::uint32_t crc32_of(Bytes bytes) {
    std::uint32_t crc = ~0u;
    for (const std::byte b : bytes) {
        crc ^= std::to_integer<std::uint32_t>(b);
        for (int k = 0; k < 8; ++k) crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
    }
    return ~crc;
}

}  // namespace pollen::test
