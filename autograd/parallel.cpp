#include <pollen/autograd/parallel.hpp>

#include <pollen/autograd/error.hpp>

#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>

#include <algorithm>
#include <string>

namespace pollen {

namespace detail {

// Isolated: a thread that waits here for its loop to end must not pick up another chain's step meanwhile.
void run_ranges(std::int64_t n, std::int64_t grain, void* body, RangeBody call) {
    const std::int64_t ranges = (n + grain - 1) / grain;
    if (tbb::this_task_arena::max_concurrency() == 1) {
        for (std::int64_t r = 0; r < ranges; ++r) call(body, r * grain, std::min(n, (r + 1) * grain));
        return;
    }
    tbb::this_task_arena::isolate([&] {
        tbb::parallel_for(
            tbb::blocked_range<std::int64_t>(0, ranges, 1),
            [&](const tbb::blocked_range<std::int64_t>& part) {
                for (std::int64_t r = part.begin(); r < part.end(); ++r)
                    call(body, r * grain, std::min(n, (r + 1) * grain));
            },
            tbb::auto_partitioner());
    });
}

void run_in_arena(int threads, void* body, void (*call)(void* body)) {
    if (threads < 1) throw ValueError("with_threads: " + std::to_string(threads) + " threads; at least 1 is needed");
    tbb::global_control allow(tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(threads));
    tbb::task_arena arena(threads);
    arena.execute([&] { call(body); });
}

}  // namespace detail

int thread_count() { return tbb::this_task_arena::max_concurrency(); }

}  // namespace pollen
