#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>

namespace pollen::kernels {

// How many bytes all threads keep as scratch memory.
inline std::atomic<std::int64_t> scratch_bytes{0};

// Room for n elements that belongs to the calling thread, 64-byte aligned, with anything in it. It grows when it must
// and stays, so that a kernel called in a loop allocates nothing. The next call on the same thread for the same T and
// Purpose takes it back.
template <class T, class Purpose>
T* scratch(std::int64_t n) {
    struct Room {
        T* memory = nullptr;
        std::int64_t capacity = 0;

        static std::int64_t bytes(std::int64_t count) { return count * static_cast<std::int64_t>(sizeof(T)); }
        void release() {
            ::operator delete (memory, std::align_val_t{64});
            scratch_bytes -= bytes(capacity);
            memory = nullptr;
            capacity = 0;
        }
        void grow(std::int64_t count) {
            release();
            memory = static_cast<T*>(::operator new (static_cast<std::size_t>(bytes(count)), std::align_val_t{64}));
            capacity = count;
            scratch_bytes += bytes(count);
        }
        ~Room() { release(); }
    };
    thread_local Room room;
    if (n > room.capacity) room.grow(n);
    return room.memory;
}

}  // namespace pollen::kernels
