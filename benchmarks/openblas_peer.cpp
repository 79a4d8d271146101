#include "openblas_peer.hpp"

#include <unistd.h>

#include <cstdlib>

extern "C" char* openblas_get_corename();

namespace pollen::bench {

namespace {

// The family that the features of this CPU allow; null if OpenBLAS's own choice cannot be bettered.
const char* best_family() {
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
        return __builtin_cpu_supports("avx512bf16") ? "Cooperlake" : "SkylakeX";
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return __builtin_cpu_is("amd") ? "Zen" : "Haswell";
#endif
    return nullptr;
}

}  // namespace

void use_best_openblas_kernels(char** argv) {
    const char* const family = best_family();
    if (!family || std::getenv("OPENBLAS_CORETYPE") || openblas_kernels() == family) return;
    setenv("OPENBLAS_CORETYPE", family, 1);
    execv("/proc/self/exe", argv);  // returns only if it fails; OpenBLAS is then slower than it could be
}

std::string openblas_kernels() { return openblas_get_corename(); }

std::string openblas_warning() {
    const char *const family = best_family(), *const chosen = std::getenv("OPENBLAS_CORETYPE");
    if (!family || !chosen || openblas_kernels() == family) return "";
    return "OPENBLAS_CORETYPE is " + std::string(chosen) + ", but this CPU has " + family +
           " kernels, too. Unset the variable to compare with the faster ones.";
}

}  // namespace pollen::bench
