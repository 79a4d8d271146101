#pragma once

#include <cstddef>
#include <string_view>

namespace pollen::detail {

// Returns the number of bytes of the control character that begins at text[at], or 0 if no control character begins
// there. Terminals obey the control characters of ASCII, and U+0080 to U+009F, which are C2 80 to C2 9F in UTF-8.
inline std::size_t control_length(std::string_view text, std::size_t at) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    if (byte(at) < 0x20 || byte(at) == 0x7f) return 1;
    return byte(at) == 0xc2 && at + 1 < text.size() && (byte(at + 1) & 0xe0) == 0x80 ? 2 : 0;
}

}  // namespace pollen::detail
