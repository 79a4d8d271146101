// Nothing but constants: what the library's flags allow the compiler to use.
#include <pollen/autograd/support/detail/cpu.hpp>

namespace pollen::detail {

const std::uint32_t cpu_needed = 0
#if defined(__POPCNT__)
                                 | cpu_popcnt
#endif
#if defined(__BMI__)
                                 | cpu_bmi
#endif
#if defined(__BMI2__)
                                 | cpu_bmi2
#endif
#if defined(__AVX2__)
                                 | cpu_avx2
#endif
#if defined(__FMA__)
                                 | cpu_fma
#endif
#if defined(__AVX512F__)
                                 | cpu_avx512f
#endif
#if defined(__AVX512CD__)
                                 | cpu_avx512cd
#endif
#if defined(__AVX512BW__)
                                 | cpu_avx512bw
#endif
#if defined(__AVX512DQ__)
                                 | cpu_avx512dq
#endif
#if defined(__AVX512VL__)
                                 | cpu_avx512vl
#endif
#if defined(__AVX512IFMA__)
                                 | cpu_avx512ifma
#endif
#if defined(__AVX512VBMI__)
                                 | cpu_avx512vbmi
#endif
#if defined(__AVX512VBMI2__)
                                 | cpu_avx512vbmi2
#endif
#if defined(__AVX512VNNI__)
                                 | cpu_avx512vnni
#endif
#if defined(__AVX512BITALG__)
                                 | cpu_avx512bitalg
#endif
#if defined(__AVX512VPOPCNTDQ__)
                                 | cpu_avx512vpopcntdq
#endif
    ;

const char* const cpu_march = POLLEN_MARCH_NAME;

}  // namespace pollen::detail
