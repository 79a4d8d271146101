// Compiled for the oldest CPU, whatever the rest is compiled for, and without the C++ library: an inline function of it
// might be the copy of another source, with instructions that this CPU lacks.
#include <pollen/autograd/support/detail/cpu.hpp>

#include <unistd.h>

namespace pollen::detail {

namespace {

struct Name {
    std::uint32_t bit;
    const char* name;
};

// The order in which they are looked at: the best known first.
constexpr Name names[] = {{cpu_avx2, "AVX2"},
                          {cpu_fma, "FMA"},
                          {cpu_bmi, "BMI1"},
                          {cpu_bmi2, "BMI2"},
                          {cpu_popcnt, "POPCNT"},
                          {cpu_avx512f, "AVX-512F"},
                          {cpu_avx512cd, "AVX-512CD"},
                          {cpu_avx512bw, "AVX-512BW"},
                          {cpu_avx512dq, "AVX-512DQ"},
                          {cpu_avx512vl, "AVX-512VL"},
                          {cpu_avx512ifma, "AVX-512IFMA"},
                          {cpu_avx512vbmi, "AVX-512VBMI"},
                          {cpu_avx512vbmi2, "AVX-512VBMI2"},
                          {cpu_avx512vnni, "AVX-512VNNI"},
                          {cpu_avx512bitalg, "AVX-512BITALG"},
                          {cpu_avx512vpopcntdq, "AVX-512VPOPCNTDQ"}};
constexpr std::uint32_t least = cpu_avx2 | cpu_fma | cpu_bmi | cpu_bmi2 | cpu_popcnt;

struct Text {
    char* out;
    std::size_t size, used = 0;
    void operator+=(const char* more) {
        for (; *more != '\0' && used < size; ++more) out[used++] = *more;
    }
};

#if defined(__x86_64__)
std::uint32_t cpu_present() {
    __builtin_cpu_init();
    std::uint32_t present = 0;
    if (__builtin_cpu_supports("popcnt")) present |= cpu_popcnt;
    if (__builtin_cpu_supports("bmi")) present |= cpu_bmi;
    if (__builtin_cpu_supports("bmi2")) present |= cpu_bmi2;
    if (__builtin_cpu_supports("avx2")) present |= cpu_avx2;
    if (__builtin_cpu_supports("fma")) present |= cpu_fma;
    if (__builtin_cpu_supports("avx512f")) present |= cpu_avx512f;
    if (__builtin_cpu_supports("avx512cd")) present |= cpu_avx512cd;
    if (__builtin_cpu_supports("avx512bw")) present |= cpu_avx512bw;
    if (__builtin_cpu_supports("avx512dq")) present |= cpu_avx512dq;
    if (__builtin_cpu_supports("avx512vl")) present |= cpu_avx512vl;
    if (__builtin_cpu_supports("avx512ifma")) present |= cpu_avx512ifma;
    if (__builtin_cpu_supports("avx512vbmi")) present |= cpu_avx512vbmi;
    if (__builtin_cpu_supports("avx512vbmi2")) present |= cpu_avx512vbmi2;
    if (__builtin_cpu_supports("avx512vnni")) present |= cpu_avx512vnni;
    if (__builtin_cpu_supports("avx512bitalg")) present |= cpu_avx512bitalg;
    if (__builtin_cpu_supports("avx512vpopcntdq")) present |= cpu_avx512vpopcntdq;
    return present;
}
#else
std::uint32_t cpu_present() { return ~std::uint32_t{0}; }  // pollen is compiled for all aarch64 CPUs
#endif

}  // namespace

std::size_t cpu_complaint(char* out, std::size_t size, std::uint32_t needed, std::uint32_t present, const char* march) {
    const std::uint32_t missing = needed & ~present;
    Text text{out, size};
    for (const Name& feature : names) {
        if ((missing & feature.bit) == 0) continue;
        text += "pollen: this CPU has no ";
        text += feature.name;
        text += ", which this library was compiled for (-march=";
        text += march;
        text += "). ";
        text += (missing & least) != 0
                    ? "pollen needs a CPU with AVX2 and FMA (x86-64-v3).\n"
                    : "Build pollen for this CPU: cmake -D POLLEN_MARCH=native; or for all CPUs with AVX2: "
                      "cmake -D POLLEN_MARCH=x86-64-v3.\n";
        break;
    }
    return text.used;
}

// 101 is the first priority that programs have: nothing of pollen's runs before.
__attribute__((constructor(101))) void check_cpu() {
    char text[300];
    const std::size_t length = cpu_complaint(text, sizeof text, cpu_needed, cpu_present(), cpu_march);
    if (length == 0) return;
    [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, text, length);
    _exit(1);
}

}  // namespace pollen::detail
