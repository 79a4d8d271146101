#pragma once

#include <pollen/data/io/file.hpp>

#include <charconv>
#include <cmath>
#include <string_view>

// What the readers of text formats share.
namespace pollen::detail {

inline bool is_blank(char c) { return c == ' ' || c == '\t'; }

// The bytes as text, without the byte order mark that some programs put in front of UTF-8.
std::string_view as_text(Bytes bytes);

// The message for a carriage return elsewhere than at the end of a line.
inline constexpr const char* lone_return =
    "has a carriage return (CR) that no line feed (LF) follows; lines end in LF or CR LF";

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

// Whether the text names the number that parse_number() has read from it: 1e400 is not infinite, and 1e-400 is not 0.
inline bool fits_double(std::string_view text, double x) {
    if (std::isinf(x)) return text.find_first_of("0123456789") == text.npos;
    return x != 0 || text.substr(0, text.find_first_of("eE")).find_first_of("123456789") == text.npos;
}

// The end of the message if it does not.
inline const char* range_text(double x) { return x == 0 ? "is too small for a double" : "is too large for a double"; }

}  // namespace pollen::detail
