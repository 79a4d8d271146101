#pragma once

#include <pollen/autograd/support/detail/control.hpp>

#include <string>
#include <string_view>

namespace pollen::detail {

// Text out of a file, quoted for a message: control and non-ASCII characters shown as ?, cut after 60 characters.
inline std::string printable(std::string_view text) {
    std::string out = "\"";
    for (std::size_t i = 0; i < text.size() && i < 60; ++i) {
        const bool is_ascii = static_cast<unsigned char>(text[i]) < 0x80;
        out += is_ascii && control_length(text, i) == 0 ? text[i] : '?';
    }
    return out + (text.size() > 60 ? "...\"" : "\"");
}

}  // namespace pollen::detail
