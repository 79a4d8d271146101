#pragma once

#include <pollen/autograd/support/error.hpp>

#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <string>

// What the layers share: checks of their arguments, and how they describe themselves.
namespace pollen {

struct NamedSize {
    const char* name;
    std::int64_t size;
};

// Throws `Dense: inputs is 0; at least 1 is needed`.
inline void check_sizes(const char* layer, std::initializer_list<NamedSize> sizes) {
    for (const auto& [name, size] : sizes) {
        if (size < 1)
            throw ValueError(std::string(layer) + ": " + name + " is " + std::to_string(size) +
                             "; at least 1 is needed");
    }
}

// Throws `each_sample: the function is empty`.
template <class F>
void check_function(const std::string& who, const F& f) {
    if (!f) throw ValueError(who + ": the function is empty");
}

inline std::string to_text(std::int64_t n) { return std::to_string(n); }
inline std::string to_text(int n) { return std::to_string(n); }
// The shortest text that reads back as the same number.
inline std::string to_text(double x) {
    char text[40];
    if (x != x) return "nan";
    return {text, std::to_chars(text, text + sizeof text, x).ptr};
}
inline std::string to_text(const std::string& text) { return text; }
inline std::string to_text(const std::array<std::int64_t, 2>& p) {
    return p[0] == p[1] ? std::to_string(p[0]) : std::to_string(p[0]) + "x" + std::to_string(p[1]);
}

// Throws `Predictive: a weight is -1; it must be finite and not negative`.
inline void check_weight(const char* who, double weight) {
    if (!(weight >= 0 && std::isfinite(weight)))
        throw ValueError(std::string(who) + ": a weight is " + to_text(weight) +
                         "; it must be finite and not negative");
}

// "Dense(784, 800)"
template <class... Arguments>
std::string call(const char* name, const Arguments&... arguments) {
    std::string text;
    ((text += (text.empty() ? "" : ", ") + to_text(arguments)), ...);
    return std::string(name) + "(" + text + ")";
}

}  // namespace pollen
