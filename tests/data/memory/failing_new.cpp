#include "failing_new.hpp"

#include <cstdlib>
#include <new>

namespace {

thread_local int left = -1;  // -1: none fails
thread_local bool failed = false;

void* checked(void* memory) {
    if (!memory) throw std::bad_alloc();
    return memory;
}

void count() {
    if (left < 0 || left-- > 0) return;
    failed = true;
    throw std::bad_alloc();
}

}  // namespace

// The other forms of new and delete call these.
void* operator new(std::size_t size) {
    count();
    return checked(std::malloc(size > 0 ? size : 1));
}
void* operator new(std::size_t size, std::align_val_t alignment) {
    count();
    const auto multiple = static_cast<std::size_t>(alignment);
    return checked(std::aligned_alloc(multiple, (size / multiple + 1) * multiple));
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }

namespace pollen::test {

void fail_new(int n) {
    failed = false;
    left = n;
}

bool new_has_failed() {
    left = -1;
    return failed;
}

}  // namespace pollen::test
