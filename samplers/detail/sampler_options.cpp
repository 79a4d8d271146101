#include <pollen/samplers/detail/sampler_options.hpp>

#include <bit>
#include <cmath>

namespace pollen::detail {

void check_positive(const char* who, const char* name, double x) {
    if (!(x > 0) || std::isinf(x))
        throw ValueError(std::string(who) + ": " + name + " is " + to_text(x) + "; it must be positive");
}

void check_fraction(const char* who, const char* name, double x) {
    if (!(x > 0 && x < 1))
        throw ValueError(std::string(who) + ": " + name + " is " + to_text(x) + "; it must be between 0 and 1");
}

// The checksum is FNV-1a of the bits.
std::string text_of(const std::vector<double>& numbers) {
    std::string text;
    if (numbers.size() <= 16) {
        for (const double x : numbers) text += (text.empty() ? "" : " ") + to_text(x);
        return "[" + text + "]";
    }
    std::uint64_t sum = 14695981039346656037u;
    for (const double x : numbers)
        for (int k = 0; k < 64; k += 8) sum = (sum ^ (std::bit_cast<std::uint64_t>(x) >> k & 255)) * 1099511628211u;
    return "[" + std::to_string(numbers.size()) + " numbers, checksum " + std::to_string(sum) + "]";
}

}  // namespace pollen::detail
