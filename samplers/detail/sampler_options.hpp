#pragma once

#include <pollen/autograd/support/checks.hpp>
#include <pollen/autograd/support/error.hpp>
#include <pollen/nn/training/schedule.hpp>
#include <pollen/samplers/chain.hpp>

#include <cmath>
#include <initializer_list>
#include <string>
#include <vector>

// How samplers describe and check their options.
namespace pollen::detail {

struct NamedOption {
    const char* name;
    std::string text;
};

// "Sgld(step_size = 0.01, batch = 128)"
inline std::string describe_options(const char* sampler, std::initializer_list<NamedOption> options) {
    std::string text;
    for (const auto& [name, value] : options) text += (text.empty() ? "" : ", ") + std::string(name) + " = " + value;
    return std::string(sampler) + "(" + text + ")";
}

// Throws `Sgld: batch is -1; it must not be negative`.
inline void check_option(bool good, const char* sampler, const char* name, const std::string& value,
                         const char* expected) {
    if (!good) throw ValueError(std::string(sampler) + ": " + name + " is " + value + "; it must " + expected);
}

// Throws `Hmc: step_size is 0; it must be positive`.
void check_positive(const char* who, const char* name, double x);
// ... unless 0 < x < 1.
void check_fraction(const char* who, const char* name, double x);
// Up to 16 numbers, or how many and a checksum.
std::string text_of(const std::vector<double>& numbers);

// The bytes of so many vectors of `size` numbers, each number of so many bytes.
inline double vector_bytes(double vectors, std::int64_t size, std::size_t number) {
    return vectors * static_cast<double>(size) * static_cast<double>(number);
}

// The step size of a step; a schedule of one's own may return anything.
inline double step_size_at(const char* sampler, const Schedule& schedule, std::int64_t step) {
    const double e = schedule(step);
    if (!(e >= 0) || std::isinf(e))
        throw ValueError(std::string(sampler) + ": step_size is " + to_text(e) + " at step " + std::to_string(step) +
                         "; it must be finite and not negative");
    return e;
}

// What a sampler without acceptance says of a step size that may change: the draws are weighted by it then.
inline ChainFacts facts_of(const Schedule& schedule, double step_size) {
    return {.acceptance = false, .weighted = !schedule.constant(), .step_size = step_size};
}

}  // namespace pollen::detail

// The end of a sampler's .cpp file.
#define POLLEN_INSTANTIATE_SAMPLER(S)                                                                               \
    template std::unique_ptr<Chain<float>> S::begin(std::unique_ptr<Potential<float>>, ChainStart<float>) const;    \
    template std::unique_ptr<Chain<double>> S::begin(std::unique_ptr<Potential<double>>, ChainStart<double>) const; \
    static_assert(SamplerOf<S, float> && SamplerOf<S, double>);
