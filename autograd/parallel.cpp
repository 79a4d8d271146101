#include <pollen/autograd/parallel.hpp>

#include <pollen/autograd/support/error.hpp>

#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>

#include <algorithm>
#include <atomic>
#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace pollen {

namespace {

// libtbb is not compiled for the thread sanitizer, which therefore cannot see how work changes hands there. These two
// points in time are all it has to know: a loop's tasks begin after the loop did, and the loop ends after its tasks.
#ifdef POLLEN_TSAN
extern "C" void __tsan_acquire(void*);
extern "C" void __tsan_release(void*);
void publish(char& moment) { __tsan_release(&moment); }
void observe(char& moment) { __tsan_acquire(&moment); }
#else
void publish(char&) {}
void observe(char&) {}
#endif

// The only T, made by the first thread that asks for it, and never destroyed. The thread sanitizer must be told that
// the others come after it, too.
template <class T>
T& only() {
    static char made = 0;
    static T& all = []() -> T& {
        T& first = *new T;
        publish(made);
        return first;
    }();
    observe(made);
    return all;
}

}  // namespace

namespace detail {

// Isolated: a thread that waits here for its loop to end must not pick up another chain's step meanwhile.
void run_ranges(std::int64_t n, std::int64_t grain, void* body, RangeBody call) {
    const std::int64_t ranges = (n + grain - 1) / grain;
    if (tbb::this_task_arena::max_concurrency() == 1) {
        for (std::int64_t r = 0; r < ranges; ++r) call(body, r * grain, std::min(n, (r + 1) * grain));
        return;
    }
    char begun = 0, done = 0;
    publish(begun);
    tbb::this_task_arena::isolate([&] {
        tbb::parallel_for(
            tbb::blocked_range<std::int64_t>(0, ranges, 1),
            [&](const tbb::blocked_range<std::int64_t>& part) {
                observe(begun);
                for (std::int64_t r = part.begin(); r < part.end(); ++r)
                    call(body, r * grain, std::min(n, (r + 1) * grain));
                publish(done);
            },
            tbb::auto_partitioner());
    });
    observe(done);
}

namespace {

// oneTBB gives the 12 kB of an arena back only when its workers have left, which they may never do. So arenas are kept,
// one for each caller at a time, and used again.
class Arenas {
  public:
    struct Arena {
        explicit Arena(int n) : threads(n), arena(n) {}
        const int threads;
        bool busy = false;
        tbb::task_arena arena;
    };

    // Never destroyed: a program may end while another thread is in an arena.
    static Arenas& global() { return only<Arenas>(); }

    Arena& take(int threads) {
        const std::lock_guard lock(mutex_);
        const auto fits = [threads](const Arena& arena) { return arena.threads == threads && !arena.busy; };
        const auto found = std::find_if(all_.begin(), all_.end(), fits);
        Arena& arena = found != all_.end() ? *found : all_.emplace_back(threads);
        arena.busy = true;
        return arena;
    }

    void give_back(Arena& arena) {
        const std::lock_guard lock(mutex_);
        arena.busy = false;
    }

  private:
    std::mutex mutex_;
    std::list<Arena> all_;
};

// An arena for as long as this lives.
struct OwnArena {
    explicit OwnArena(int threads) : taken(Arenas::global().take(threads)) {}
    ~OwnArena() { Arenas::global().give_back(taken); }
    OwnArena(const OwnArena&) = delete;
    OwnArena& operator=(const OwnArena&) = delete;
    Arenas::Arena& taken;
};

}  // namespace

void run_in_arena(int threads, void* body, void (*call)(void* body)) {
    if (threads < 1) throw ValueError("with_threads: " + std::to_string(threads) + " threads; at least 1 is needed");
    // The arena has its own limit. That of the process is raised if necessary, but never lowered: it holds for the
    // loops of other threads, too.
    constexpr auto parallelism = tbb::global_control::max_allowed_parallelism;
    std::optional<tbb::global_control> allow;
    if (const auto most = static_cast<std::size_t>(threads); most > tbb::global_control::active_value(parallelism))
        allow.emplace(parallelism, most);
    const OwnArena own(threads);
    char begun = 0, done = 0;
    publish(begun);
    own.taken.arena.execute([&] {
        observe(begun);
        call(body);
        publish(done);
    });
    observe(done);
}

}  // namespace detail

int thread_count() { return tbb::this_task_arena::max_concurrency(); }

// Whoever comes first, a worker or the one who waits, does the work: both hold the ticket, one of them gets it.
// The worker's task may come late, or never when its arena goes before it, so it owns nothing: jobs are used again and
// never freed, and a task with an old ticket finds that out.
struct Background::Job {
    void run(std::uint64_t ticket) {
        if (!open.compare_exchange_strong(ticket, 0)) return;
        observe(begun);
        try {
            work();
        } catch (...) {
            error = std::current_exception();
        }
        publish(finished);
        done = true;
        done.notify_all();
    }

    std::function<void()> work;
    std::exception_ptr error;
    std::uint64_t last_ticket = 0;
    std::atomic<std::uint64_t> open = 0;  // the ticket of work that nobody has begun, or 0
    std::atomic<bool> done = false;
    char begun = 0, finished = 0;
};

struct Background::Jobs {
    std::mutex mutex;
    std::vector<Job*> idle;
};

// Never destroyed: a late task may still look at its job when the program ends.
Background::Jobs& Background::jobs() { return only<Jobs>(); }

Background::~Background() {
    if (job_) finish();
}

void Background::start(std::function<void()> work) {
    wait();
    Jobs& all = jobs();
    {
        const std::lock_guard lock(all.mutex);
        if (all.idle.empty()) all.idle.push_back(new Job);
        job_ = all.idle.back();
        all.idle.pop_back();
    }
    job_->work = std::move(work);
    job_->done = false;
    publish(job_->begun);
    job_->open = ++job_->last_ticket;
    if (thread_count() > 1)
        tbb::task_arena(tbb::task_arena::attach()).enqueue([job = job_, ticket = job_->last_ticket] {
            job->run(ticket);
        });
}

std::exception_ptr Background::finish() {
    Job& job = *std::exchange(job_, nullptr);
    job.run(job.last_ticket);
    job.done.wait(false);
    observe(job.finished);
    job.work = nullptr;
    std::exception_ptr error = std::exchange(job.error, nullptr);
    const std::lock_guard lock(jobs().mutex);
    jobs().idle.push_back(&job);
    return error;
}

void Background::wait() {
    if (!job_) return;
    if (const std::exception_ptr error = finish()) std::rethrow_exception(error);
}

}  // namespace pollen
