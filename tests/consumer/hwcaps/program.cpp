#include <cstdio>

const char* compiled_for();

int main() {
    std::puts(compiled_for());
    __builtin_cpu_init();
    std::puts(__builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512cd")
                  ? "pollen x86-64-v4"
                  : "pollen x86-64-v3");
}
