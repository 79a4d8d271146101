#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>

namespace pollen {

class Pool;

// A block of memory with a counted number of owners. The numbers start one cache line after this header, 64-byte
// aligned, and the block always ends on a multiple of 64 bytes.
struct alignas(64) Buffer {
    std::atomic<std::uint32_t> owners{1};
    std::uint32_t size_class = 0;
    std::size_t bytes = 0;
    Pool* pool = nullptr;
    Buffer* next = nullptr;

    void* data() { return this + 1; }
    bool unique() const { return owners.load(std::memory_order_acquire) == 1; }
};

// What a pool has done so far. In the steady state of a training loop only `taken` grows.
struct PoolCounters {
    std::uint64_t taken = 0;      // buffers handed out
    std::uint64_t allocated = 0;  // of these, how many came from the heap
    std::uint64_t freed = 0;      // buffers given back to the heap
    std::uint64_t bytes = 0;      // bytes now held from the heap, in use or cached
};

// Buffers that are kept and handed out again instead of going back to the heap. Sizes are rounded up to classes at most
// a quarter apart, so that a reused buffer is never much too large.
//
// One thread at a time takes buffers from a tape's pool, but a buffer may be given back by any thread (a tensor kept
// from a tape may die anywhere): those returns go over a lock-free list that take() empties.
class Pool {
  public:
    enum class Sharing { one_thread, any_thread };

    explicit Pool(Sharing sharing) : sharing_(sharing) {}
    ~Pool() { trim(); }
    Pool(const Pool&) = delete;
    Pool& operator=(const Pool&) = delete;

    // The pool of tensors made outside a tape, by any thread.
    static Pool& global();

    // A buffer of at least `bytes` bytes and one owner, its contents unspecified. Throws MemoryError.
    Buffer* take(std::size_t bytes);

    // The same for a pool of one thread, with the common case inline: a small buffer that is in the cache.
    Buffer* take_here(std::size_t bytes) {
        const std::size_t line = (bytes + 63) / 64 - 1;
        if (line >= small_classes || !free_[line]) return take(bytes);
        Buffer* buffer = free_[line];
        free_[line] = buffer->next;
        buffer->owners.store(1, std::memory_order_relaxed);
        ++taken_;
        return buffer;
    }

    // Gives back a buffer that has no owner any more: by any thread, or by the thread that takes from this pool.
    void give_back(Buffer* buffer);
    void give_back_here(Buffer* buffer) {
        buffer->next = free_[buffer->size_class];
        free_[buffer->size_class] = buffer;
    }

    // Frees all cached buffers.
    void trim();

    // While closed, buffers that come back are freed at once. A destroyed tape closes its pool.
    void close() { closed_.store(true, std::memory_order_relaxed); }
    void open() { closed_.store(false, std::memory_order_relaxed); }

    PoolCounters counters() const;

  private:
    Buffer* allocate(std::size_t bytes, std::uint32_t size_class);
    void free(Buffer* buffer);
    void collect_returns();

    static constexpr std::size_t classes = 256;
    static constexpr std::size_t small_classes = 8;  // of 1 to 8 cache lines; above, four classes a power of two

    Sharing sharing_;
    mutable std::mutex mutex_;
    std::array<Buffer*, classes> free_{};
    std::atomic<Buffer*> returns_{nullptr};
    std::atomic<bool> closed_{false};
    std::uint64_t taken_ = 0;
    std::uint64_t allocated_ = 0;
    std::atomic<std::uint64_t> freed_{0};
    std::atomic<std::uint64_t> bytes_{0};
};

// One owner less; the last one gives the buffer back.
inline void release(Buffer* buffer) {
    if (buffer->unique() || buffer->owners.fetch_sub(1, std::memory_order_acq_rel) == 1)
        buffer->pool->give_back(buffer);
}

}  // namespace pollen
