#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>

namespace pollen::kernels {

// Room for n elements that belongs to the calling thread, 64-byte aligned, with anything in it. It grows when it must
// and stays, so that a kernel called in a loop allocates nothing. The next call on the same thread for the same T and
// Purpose takes it back.
template <class T, class Purpose>
T* scratch(std::int64_t n) {
    struct Free {
        void operator()(T* p) const { ::operator delete (p, std::align_val_t{64}); }
    };
    thread_local std::unique_ptr<T, Free> memory;
    thread_local std::int64_t capacity = 0;
    if (n > capacity) {
        memory.reset();
        capacity = 0;
        memory.reset(static_cast<T*>(::operator new (static_cast<std::size_t>(n) * sizeof(T), std::align_val_t{64})));
        capacity = n;
    }
    return memory.get();
}

}  // namespace pollen::kernels
