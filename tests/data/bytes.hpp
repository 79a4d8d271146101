#pragma once

#include <pollen/data/io/file.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace pollen::test {

using namespace std::string_literals;  // "\0\0"s keeps its zeros

inline Bytes bytes_of(std::string_view text) { return std::as_bytes(std::span(text.data(), text.size())); }

inline std::string text_of(const std::vector<std::byte>& bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace pollen::test
