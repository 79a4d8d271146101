#pragma once

#include <pollen/data/io/file.hpp>

#include <charconv>
#include <string_view>

// What the readers of text formats share.
namespace pollen::detail {

inline bool is_blank(char c) { return c == ' ' || c == '\t'; }

// The bytes as text, without the byte order mark that some programs put in front of UTF-8.
std::string_view as_text(Bytes bytes);

[[noreturn]] void fail_at_line(const std::string& name, std::int64_t line, const std::string& what);

// What from_chars refuses to decide: a number too small for a double is 0, one too large is infinite.
double parse_extreme(std::string_view text);

// The whole text as a number, in the notation of C and of no other locale; one + in front is accepted. False where the
// text is anything else. Gives NaN and infinities where the text names them.
inline bool parse_number(std::string_view text, double& value) {
    if (!text.empty() && text[0] == '+') {
        text.remove_prefix(1);
        if (!text.empty() && text[0] == '-') return false;
    }
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (end != text.data() + text.size()) return false;
    if (error == std::errc::result_out_of_range) value = parse_extreme(text);
    return error != std::errc::invalid_argument;
}

}  // namespace pollen::detail
