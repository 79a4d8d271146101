#include <pollen/autograd/detail/openblas.hpp>

#include <pollen/autograd/detail/cxxblas.hpp>

#include <sys/mman.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <new>

// Two things about the single-threaded OpenBLAS of Debian and Ubuntu have to be put right before its first use.
//
// Its working memory. Every product packs its operands into a buffer taken from a table that all threads share, and a
// serial build searches this table without a lock: two threads get the same buffer now and then, and wrong products.
// The three symbols below stand in for those of its driver/others/memory.c. Since they are defined here, the linker
// has no reason to take that file out of libopenblas.a, and each thread packs into a buffer of its own, without a lock.
//
// Its kernels. OpenBLAS knows the CPU models of its time and gives any other the kernels for SSE3, at a fifth of the
// speed. What it chooses is therefore compared with what the feature bits of the CPU allow.
//
// The symbols are weak: if something else in a program pulls memory.c in, its symbols win without an error at link
// time. Then, and if the shared OpenBLAS is linked, BlasCall lets one thread in at a time.
extern "C" {
void openblas_read_env();
void gotoblas_dynamic_init();
char* openblas_get_corename();

[[gnu::weak, gnu::visibility("hidden")]] void* gotoblas = nullptr;  // The table of kernels in use.
[[gnu::weak, gnu::visibility("hidden")]] void* blas_memory_alloc(int purpose);
[[gnu::weak, gnu::visibility("hidden")]] void blas_memory_free(void* buffer);
}

namespace pollen::kernels {
namespace {

// What OpenBLAS expects of a buffer: BUFFER_SIZE in its common_x86_64.h. The pages that are never touched cost nothing.
constexpr std::size_t buffer_bytes = std::size_t{128} << 20;

// The buffers of one thread. OpenBLAS rarely holds more than one at a time. They are plain data, so that a global
// object may still multiply matrices when it is destroyed.
struct Buffer {
    void* memory;
    bool taken;
};
constinit thread_local Buffer buffers[8] = {};
constinit thread_local long buffers_handed_out = 0;

// Gives the buffers back when the thread ends.
struct Release {
    ~Release() {
        for (Buffer& b : buffers) {
            if (b.memory != nullptr) munmap(b.memory, buffer_bytes);
            b = {};
        }
    }
};

void* new_buffer() {
    static thread_local Release release;
    void* memory =
        mmap(nullptr, buffer_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    madvise(memory, buffer_bytes, MADV_HUGEPAGE);  // Only a hint: packing meets fewer page boundaries.
    return memory;
}

// How wide the vectors of a family are: 2 for AVX-512, 1 for AVX2 with FMA, 0 for less.
int rank(const char* family) {
    for (const char* wide : {"SkylakeX", "Cooperlake", "SapphireRapids"})
        if (std::strcmp(family, wide) == 0) return 2;
    for (const char* middle : {"Haswell", "Zen"})
        if (std::strcmp(family, middle) == 0) return 1;
    return 0;
}

// The family that the feature bits of this CPU allow; null where OpenBLAS's own choice cannot be bettered.
const char* family_by_features() {
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

// A small solve tells whose memory OpenBLAS uses.
bool uses_our_buffers() {
    const float a[4] = {1, 0, 0, 1};
    float b[4] = {1, 2, 3, 4};
    const long before = buffers_handed_out;
    cxxblas::trsm<int>(cxxblas::RowMajor, cxxblas::Left, cxxblas::Lower, cxxblas::NoTrans, cxxblas::NonUnit, 2, 2, 1.0f,
                       a, 2, b, 2);
    return buffers_handed_out > before;
}

// Runs before the constructors of global objects, so that these may multiply matrices too. What the user put into
// OPENBLAS_CORETYPE wins; where pollen has to set it, it is taken away again at once.
[[gnu::constructor(101)]] void set_up_openblas() {
    openblas_read_env();
    gotoblas_dynamic_init();
    const char* better = family_by_features();
    if (better != nullptr && std::getenv("OPENBLAS_CORETYPE") == nullptr &&
        rank(better) > rank(openblas_get_corename())) {
        setenv("OPENBLAS_CORETYPE", better, 1);
        gotoblas = nullptr;
        gotoblas_dynamic_init();
        unsetenv("OPENBLAS_CORETYPE");
    }
}

}  // namespace

std::string openblas_family() { return openblas_get_corename(); }

bool openblas_is_concurrent() {
    static const bool concurrent = uses_our_buffers();
    return concurrent;
}

std::mutex& BlasCall::turns() {
    static std::mutex mutex;
    return mutex;
}

}  // namespace pollen::kernels

void* blas_memory_alloc(int) {
    using namespace pollen::kernels;
    ++buffers_handed_out;
    for (Buffer& b : buffers) {
        if (b.taken) continue;
        if (b.memory == nullptr) b.memory = new_buffer();
        b.taken = true;
        return b.memory;
    }
    throw std::bad_alloc();
}

void blas_memory_free(void* memory) {
    for (pollen::kernels::Buffer& b : pollen::kernels::buffers)
        if (b.memory == memory) b.taken = false;
}
