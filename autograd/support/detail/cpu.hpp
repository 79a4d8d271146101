#pragma once

#include <cstddef>
#include <cstdint>

// Whether this CPU has the instructions that the library was compiled for. A program that links pollen finds out before
// anything else runs: it prints a sentence and ends, where it would have died of an illegal instruction.
namespace pollen::detail {

// Sets of instructions, as bits. Those of a CPU with AVX2 that a compiler uses for x86-64-v3, and what wider CPUs have.
enum CpuFeature : std::uint32_t {
    cpu_popcnt = 1u << 0,
    cpu_bmi = 1u << 1,
    cpu_bmi2 = 1u << 2,
    cpu_avx2 = 1u << 3,
    cpu_fma = 1u << 4,
    cpu_avx512f = 1u << 5,
    cpu_avx512cd = 1u << 6,
    cpu_avx512bw = 1u << 7,
    cpu_avx512dq = 1u << 8,
    cpu_avx512vl = 1u << 9,
    cpu_avx512ifma = 1u << 10,
    cpu_avx512vbmi = 1u << 11,
    cpu_avx512vbmi2 = 1u << 12,
    cpu_avx512vnni = 1u << 13,
    cpu_avx512bitalg = 1u << 14,
    cpu_avx512vpopcntdq = 1u << 15,
};

// What the library was compiled for, and its -march.
extern const std::uint32_t cpu_needed;
extern const char* const cpu_march;

// What is said if a CPU has `present` and the library needs `needed`: written to `out`, cut to `size` characters.
// Returns how many; 0 if nothing is missing.
std::size_t cpu_complaint(char* out, std::size_t size, std::uint32_t needed, std::uint32_t present, const char* march);

// Ends the program if this CPU lacks something. Runs by itself before main.
void check_cpu();

}  // namespace pollen::detail
