#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <type_traits>

// Loops and reductions over index ranges, on oneTBB.
//
// How a loop is cut depends on its size and grain alone, never on how many threads there are. A body that writes only
// what its own range owns therefore gives the same bits on 1, 2 or 64 threads.
namespace pollen {

namespace detail {
using RangeBody = void (*)(void* body, std::int64_t begin, std::int64_t end);
void run_ranges(std::int64_t n, std::int64_t grain, void* body, RangeBody call);
void run_in_arena(int threads, void* body, void (*call)(void* body));
}  // namespace detail

// Calls body(begin, end) for [0, grain), [grain, 2 grain), ... until [0, n) is covered. Work of at most one grain runs
// right here: a ten-element op never sees the scheduler.
template <class Body>
void parallel_for(std::int64_t n, std::int64_t grain, Body&& body) {
    if (n <= grain) {
        if (n > 0) body(std::int64_t{0}, n);
        return;
    }
    using B = std::remove_reference_t<Body>;
    detail::run_ranges(n, grain, const_cast<std::remove_const_t<B>*>(std::addressof(body)),
                       [](void* b, std::int64_t begin, std::int64_t end) { (*static_cast<B*>(b))(begin, end); });
}

// Runs body() with at most `threads` threads for every parallel loop inside it; more than the machine has is allowed.
template <class Body>
void with_threads(int threads, Body&& body) {
    using B = std::remove_reference_t<Body>;
    detail::run_in_arena(threads, const_cast<std::remove_const_t<B>*>(std::addressof(body)),
                         [](void* b) { (*static_cast<B*>(b))(); });
}

// The number of threads a parallel loop started here would use.
int thread_count();

// One piece of work that goes on beside the program, on the same threads as the loops.
class Background {
  public:
    Background() = default;
    ~Background();
    Background(const Background&) = delete;
    Background& operator=(const Background&) = delete;

    // Starts the work, after the piece before it.
    void start(std::function<void()> work);
    // Returns when the work is done, and throws what it threw. Where no thread has begun it, it is done here and now.
    void wait();

  private:
    struct Job;
    struct Jobs;
    static Jobs& jobs();
    std::exception_ptr finish();

    Job* job_ = nullptr;
};

}  // namespace pollen
