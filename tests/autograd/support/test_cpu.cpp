// What a program says on a CPU that lacks instructions; tests/consumer/cpu.cmake runs one on such a CPU.
#include "support.hpp"

#include <pollen/autograd/support/detail/cpu.hpp>

BOOST_AUTO_TEST_SUITE(cpu)

namespace {

using namespace pollen::detail;

std::string complaint(std::uint32_t needed, std::uint32_t present, const char* march, std::size_t size = 300) {
    std::string text(size, '?');
    text.resize(cpu_complaint(text.data(), size, needed, present, march));
    return text;
}

constexpr std::uint32_t v3 = cpu_popcnt | cpu_bmi | cpu_bmi2 | cpu_avx2 | cpu_fma;
constexpr std::uint32_t v4 = v3 | cpu_avx512f | cpu_avx512cd | cpu_avx512bw | cpu_avx512dq | cpu_avx512vl;

}  // namespace

BOOST_AUTO_TEST_CASE(nothing_is_missing) {
    BOOST_TEST(complaint(v3, v3, "x86-64-v3") == "");
    BOOST_TEST(complaint(v3, v4, "x86-64-v3") == "");
    BOOST_TEST(complaint(0, 0, "default") == "");
}

BOOST_AUTO_TEST_CASE(a_cpu_without_avx2) {
    BOOST_TEST(
        complaint(v3, cpu_popcnt, "x86-64-v3") ==
        "pollen: this CPU has no AVX2, which this library was compiled for (-march=x86-64-v3). pollen needs a CPU "
        "with AVX2 and FMA (x86-64-v3).\n");
    BOOST_TEST(complaint(v4, v4 & ~std::uint32_t{cpu_fma}, "native") ==
               "pollen: this CPU has no FMA, which this library was compiled for (-march=native). pollen needs a CPU "
               "with AVX2 and FMA (x86-64-v3).\n");
}

BOOST_AUTO_TEST_CASE(a_cpu_without_avx512) {
    BOOST_TEST(
        complaint(v4, v3, "x86-64-v4") ==
        "pollen: this CPU has no AVX-512F, which this library was compiled for (-march=x86-64-v4). Build pollen for "
        "this CPU: cmake -D POLLEN_MARCH=native; or for all CPUs with AVX2: cmake -D POLLEN_MARCH=x86-64-v3.\n");
    BOOST_TEST(
        complaint(v4, v4 & ~std::uint32_t{cpu_avx512vl}, "native") ==
        "pollen: this CPU has no AVX-512VL, which this library was compiled for (-march=native). Build pollen for "
        "this CPU: cmake -D POLLEN_MARCH=native; or for all CPUs with AVX2: cmake -D POLLEN_MARCH=x86-64-v3.\n");
}

BOOST_AUTO_TEST_CASE(a_long_name_is_cut) { BOOST_TEST(complaint(v3, 0, "x86-64-v3", 10) == "pollen: th"); }

#if defined(__x86_64__)
BOOST_AUTO_TEST_CASE(the_library_needs_avx2_and_fma) {
    BOOST_TEST((cpu_needed & cpu_avx2) != 0);
    BOOST_TEST((cpu_needed & cpu_fma) != 0);
}
#endif

BOOST_AUTO_TEST_SUITE_END()
