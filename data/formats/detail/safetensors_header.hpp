#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace pollen::detail {

// Bytes of the longest header that the format allows.
inline constexpr std::size_t longest_safetensors_header = 100'000'000;

// What the header of a safetensors file says about one tensor. Nothing but the form is checked yet.
struct TensorPlace {
    std::string name;
    std::string dtype;
    std::vector<std::uint64_t> shape;
    std::vector<std::uint64_t> offsets;  // begin and end, counted from the first byte after the header
};

struct SafetensorsHeader {
    std::vector<TensorPlace> tensors;  // in the order of the header
    std::map<std::string, std::string> metadata;
};

// Reads the JSON text. Throws a FileError beginning with `file` for whatever is not as the format has it: keys that
// appear twice, unknown or missing ones, values of another kind, text that is not JSON or not UTF-8.
SafetensorsHeader parse_safetensors_header(std::string_view json, const std::string& file);

// A JSON string literal. Throws a FileError beginning with `file` if the text is not UTF-8.
std::string json_string(const std::string& text, const std::string& file);

}  // namespace pollen::detail
