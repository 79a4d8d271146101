#include <pollen/samplers/options.hpp>

#include <bit>
#include <cmath>

namespace pollen {

std::string describe_options(const char* sampler, std::initializer_list<NamedOption> options) {
    std::string text;
    for (const auto& [name, value] : options) text += (text.empty() ? "" : ", ") + std::string(name) + " = " + value;
    return std::string(sampler) + "(" + text + ")";
}

void check_option(bool good, const std::string& sampler, const char* name, const std::string& value,
                  const char* expected) {
    if (!good) throw ValueError(sampler + ": " + name + " is " + value + "; it must " + expected);
}

void check_positive(const std::string& sampler, const char* name, double x) {
    check_option(x > 0 && !std::isinf(x), sampler, name, to_text(x), "be positive");
}

void check_fraction(const std::string& sampler, const char* name, double x) {
    check_option(x > 0 && x < 1, sampler, name, to_text(x), "be between 0 and 1");
}

void check_saved_size(const char* name, std::size_t size, std::size_t expected) {
    if (size != expected)
        throw ValueError(std::string(name) + " has " + std::to_string(size) + " numbers; " + std::to_string(expected) +
                         " are expected");
}

void check_saved_count(const char* name, std::int64_t count) {
    if (count < 0 || count > 1'000'000'000'000'000)
        throw ValueError(std::string(name) + " is " + std::to_string(count) + ", which is impossible");
}

// The checksum is FNV-1a of the bits.
std::string numbers_text(const std::vector<double>& numbers) {
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

double vector_bytes(double vectors, std::int64_t size, std::size_t number) {
    return vectors * static_cast<double>(size) * static_cast<double>(number);
}

}  // namespace pollen
