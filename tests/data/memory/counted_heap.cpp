#include "counted_heap.hpp"

#include <malloc.h>
#include <atomic>
#include <cerrno>

// The C library's own functions, behind those that this file replaces.
// NOLINTBEGIN(bugprone-reserved-identifier)
extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);
void __libc_free(void*);
}
// NOLINTEND(bugprone-reserved-identifier)

namespace {

std::atomic<std::size_t> now{0}, most{0};

void* counted(void* memory) {
    const std::size_t held = now += malloc_usable_size(memory);
    std::size_t before = most;
    while (before < held && !most.compare_exchange_weak(before, held)) {
    }
    return memory;
}

}  // namespace

extern "C" {
void* malloc(std::size_t size) { return counted(__libc_malloc(size)); }
void* calloc(std::size_t count, std::size_t size) { return counted(__libc_calloc(count, size)); }
void* realloc(void* memory, std::size_t size) {
    const std::size_t before = malloc_usable_size(memory);
    void* moved = counted(__libc_realloc(memory, size));
    if (moved || size == 0) now -= before;
    return moved;
}
void* memalign(std::size_t alignment, std::size_t size) { return counted(__libc_memalign(alignment, size)); }
void* aligned_alloc(std::size_t alignment, std::size_t size) { return counted(__libc_memalign(alignment, size)); }
int posix_memalign(void** memory, std::size_t alignment, std::size_t size) {
    *memory = counted(__libc_memalign(alignment, size));
    return *memory ? 0 : ENOMEM;
}
void free(void* memory) {
    now -= malloc_usable_size(memory);
    __libc_free(memory);
}
}

namespace pollen::test {

std::size_t heap_bytes() { return now; }
std::size_t most_heap_bytes() { return most; }
void forget_most_heap_bytes() { most = now.load(); }

}  // namespace pollen::test
