#pragma once

#include <cstddef>
#include <string_view>

namespace pollen::detail {

// How many bytes the control character at this place has; 0 if it is none. There is one of ASCII, or U+0080 to U+009F,
// which are C2 80 to C2 9F in UTF-8 and which terminals obey as well.
inline std::size_t control_length(std::string_view text, std::size_t at) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    if (byte(at) < 0x20 || byte(at) == 0x7f) return 1;
    return byte(at) == 0xc2 && at + 1 < text.size() && (byte(at + 1) & 0xe0) == 0x80 ? 2 : 0;
}

}  // namespace pollen::detail
