#pragma once

#include <string>
#include <string_view>

namespace pollen::detail {

// Text out of a file, quoted for a message: control and non-ASCII characters shown as ?, cut after 60 characters.
inline std::string printable(std::string_view text) {
    std::string out = "\"";
    for (const char c : text.substr(0, 60)) out += c >= ' ' && c <= '~' ? c : '?';
    return out + (text.size() > 60 ? "...\"" : "\"");
}

}  // namespace pollen::detail
