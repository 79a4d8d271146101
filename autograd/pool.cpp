#include <pollen/autograd/pool.hpp>

#include <pollen/autograd/support/detail/cpu.hpp>
#include <pollen/autograd/support/error.hpp>

#include <bit>
#include <new>
#include <string>

namespace pollen {

namespace {

// Every program with a tensor needs this file, and the linker brings the check along.
[[gnu::used]] void (*const cpu_check)() = detail::check_cpu;

struct SizeClass {
    std::uint32_t index;
    std::size_t lines;  // capacity in cache lines of 64 bytes
};

// Classes 0 to 7 hold 1 to 8 lines; above, each power of two is cut into four: 10, 12, 14, 16, 20, 24, ...
SizeClass size_class(std::size_t bytes) {
    const std::size_t lines = bytes == 0 ? 1 : (bytes + 63) / 64;
    if (lines <= 8) return {static_cast<std::uint32_t>(lines - 1), lines};
    const std::size_t octave = static_cast<std::size_t>(std::bit_width(lines - 1)) - 1;
    const std::size_t step = std::size_t{1} << (octave - 2);
    const std::size_t quarters = (lines + step - 1) / step;
    return {static_cast<std::uint32_t>((octave - 3) * 4 + 8 + quarters - 5), quarters * step};
}

}  // namespace

Pool& Pool::global() {
    static Pool* pool = new Pool(Sharing::any_thread);  // never destroyed: static tensors may outlive any order of exit
    return *pool;
}

Buffer* Pool::take(std::size_t bytes) {
    const SizeClass fit = size_class(bytes);
    std::unique_lock<std::mutex> lock(mutex_, std::defer_lock);
    if (sharing_ == Sharing::any_thread) lock.lock();
    ++taken_;
    Buffer*& head = free_[fit.index];
    if (!head) collect_returns();
    if (!head) return allocate(fit.lines * 64, fit.index);
    Buffer* buffer = head;
    head = buffer->next;
    buffer->owners.store(1, std::memory_order_relaxed);
    return buffer;
}

Buffer* Pool::allocate(std::size_t bytes, std::uint32_t size_class) {
    void* memory = ::operator new(sizeof(Buffer) + bytes, std::align_val_t(alignof(Buffer)), std::nothrow);
    if (!memory) throw MemoryError("pool: the system has no " + std::to_string(bytes) + " bytes left for a tensor");
    Buffer* buffer = new (memory) Buffer;
    buffer->size_class = size_class;
    buffer->bytes = bytes;
    buffer->pool = this;
    ++allocated_;
    bytes_.fetch_add(bytes, std::memory_order_relaxed);
    return buffer;
}

void Pool::free(Buffer* buffer) {
    bytes_.fetch_sub(buffer->bytes, std::memory_order_relaxed);
    freed_.fetch_add(1, std::memory_order_relaxed);
    buffer->~Buffer();
    ::operator delete(buffer, std::align_val_t(alignof(Buffer)));
}

void Pool::give_back(Buffer* buffer) {
    if (closed_.load(std::memory_order_relaxed)) return free(buffer);
    Buffer* head = returns_.load(std::memory_order_relaxed);
    do {
        buffer->next = head;
    } while (!returns_.compare_exchange_weak(head, buffer, std::memory_order_release, std::memory_order_relaxed));
}

void Pool::collect_returns() {
    if (!returns_.load(std::memory_order_relaxed)) return;
    Buffer* buffer = returns_.exchange(nullptr, std::memory_order_acquire);
    while (buffer) {
        Buffer* next = buffer->next;
        give_back_here(buffer);
        buffer = next;
    }
}

void Pool::trim() {
    std::lock_guard<std::mutex> lock(mutex_);
    collect_returns();
    for (Buffer*& head : free_) {
        while (head) {
            Buffer* next = head->next;
            free(head);
            head = next;
        }
    }
}

PoolCounters Pool::counters() const {
    std::lock_guard<std::mutex> lock(mutex_);
    return {taken_, allocated_, freed_.load(), bytes_.load()};
}

}  // namespace pollen
