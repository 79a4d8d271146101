#pragma once

#include <pollen/autograd/support/error.hpp>

#include <algorithm>
#include <string>

namespace pollen {

// The name that a quantity has as a column of a file of draws; names that no file could have are refused.
inline std::string column_name(const char* who, const std::string& name) {
    std::string text = name;
    std::replace(text.begin(), text.end(), '.', '_');
    const bool odd =
        text.empty() || text.ends_with("__") || text[0] == '#' || std::any_of(text.begin(), text.end(), [](char c) {
            return static_cast<unsigned char>(c) <= ' ' || c == ',' || c == '"' || c == '\x7f';
        });
    if (odd)
        throw ValueError(std::string(who) + ": the quantity \"" + name +
                         "\" cannot be a column: a name has no blanks, commas or quotes, does not begin with # and "
                         "does not end in __");
    return text;
}

}  // namespace pollen
