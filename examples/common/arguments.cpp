#include "arguments.hpp"

#include <pollen/autograd/support/error.hpp>

#include <charconv>
#include <cmath>

namespace {

// As it is printed: not without end. (A pollen::Error makes it safe to print.)
std::string cut(const std::string& text) {
    if (text.empty()) return "empty";
    return text.size() > 60 ? text.substr(0, 60) + "..." : text;
}

template <class Number>
bool reads_as(const std::string& text, Number& number) {
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, number);
    return error == std::errc{} && stop == end;
}

}  // namespace

template <class Integer>
Integer whole_number(const std::string& option, const std::string& text, Integer least, Integer most) {
    Integer number{};
    if (reads_as(text, number) && number >= least && number <= most) return number;
    throw pollen::ValueError(option + " is " + cut(text) + "; it must be a whole number from " + std::to_string(least) +
                             " to " + std::to_string(most));
}

template std::int64_t whole_number(const std::string&, const std::string&, std::int64_t, std::int64_t);
template std::uint64_t whole_number(const std::string&, const std::string&, std::uint64_t, std::uint64_t);

double finite_number(const std::string& option, const std::string& text) {
    double number = 0;
    if (reads_as(text, number) && std::isfinite(number)) return number;
    throw pollen::ValueError(option + " is " + cut(text) + "; it must be a finite number");
}

void check_path(const std::string& option, const std::string& path) {
    if (path.empty()) throw pollen::ValueError(option + " is empty; it must be a path");
    // The message of an Error shows control characters in another way, and all else as it is.
    if (pollen::Error(path).what() != path)
        throw pollen::ValueError(option + " is " + cut(path) + "; it must be a path without control characters");
}
