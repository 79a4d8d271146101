#pragma once

#include <pollen/autograd/support/checks.hpp>
#include <pollen/autograd/support/error.hpp>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

// How samplers check and describe their options.
namespace pollen {

struct NamedOption {
    const char* name;
    std::string text;
};

// "Sgld(step_size = 0.01, batch = 128)". A resumed run compares these texts, so every option has to be in them;
// to_text() of checks.hpp makes texts that read back as the same numbers.
std::string describe_options(const char* sampler, std::initializer_list<NamedOption> options);

// Throws a ValueError `Sgld: batch is -1; it must not be negative` unless `good`; `expected` is what follows "it must".
void check_option(bool good, const std::string& sampler, const char* name, const std::string& value,
                  const char* expected);
// Throws `Hmc: step_size is 0; it must be positive` unless x is positive and finite.
void check_positive(const std::string& sampler, const char* name, double x);
// Throws `Nuts: target_acceptance is 1; it must be between 0 and 1` unless 0 < x < 1.
void check_fraction(const std::string& sampler, const char* name, double x);

// For a chain that has visited a saved state: throws a ValueError unless the vector has as many numbers as expected, or
// unless the count is from 0 to 10^15.
void check_saved_size(const char* name, std::size_t size, std::size_t expected);
void check_saved_count(const char* name, std::int64_t count);

// "[1 2 3]" for up to 16 numbers; for more, how many they are and a checksum.
std::string numbers_text(const std::vector<double>& numbers);

// The bytes of `vectors` vectors of `size` numbers of `number` bytes each: for a sampler's state_bytes().
double vector_bytes(double vectors, std::int64_t size, std::size_t number);

}  // namespace pollen
