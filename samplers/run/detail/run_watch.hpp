#pragma once

#include <pollen/autograd/shares.hpp>
#include <pollen/autograd/support/group.hpp>
#include <pollen/samplers/run/detail/run_progress.hpp>

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <limits>
#include <mutex>
#include <thread>
#include <vector>

namespace pollen::detail {

// What the ranks tell each other while their chains run.
struct RunNews {
    static constexpr std::int64_t nobody = std::numeric_limits<std::int64_t>::max();

    bool stop = false;             // after a request to stop, or an error
    bool unfinished = false;       // a chain has been stopped
    std::int64_t failed = nobody;  // the lowest number of a chain that is known to have thrown
};

// A thread that calls the group about every 0.2 seconds until the chains of all ranks are done: it takes requests to
// stop and errors from rank to rank, and the progress of all chains to rank 0. Nobody else uses the group meanwhile. A
// group of one needs no thread.
class RunWatch {
  public:
    // `mine` returns what this rank has to tell. The progress has all chains, and this rank sends what it says of its
    // share.
    RunWatch(Group& group, const Shares& shares, RunProgress& progress, std::function<RunNews()> mine);
    ~RunWatch();
    RunWatch(const RunWatch&) = delete;
    RunWatch& operator=(const RunWatch&) = delete;

    // Starts the thread. All ranks do so, or none.
    void start();
    // Whether the chains of this rank are to stop, because of another rank.
    bool stop() const { return stop_.load(std::memory_order_relaxed); }
    // The chains of this rank are done. Waits for those of the others, and returns what all ranks know then. Throws a
    // GroupError if the group has failed.
    RunNews finish();

  private:
    void run();
    bool exchange();
    void end(bool done);

    // A ChainStatus, as it is sent.
    struct Status {
        std::int64_t steps, warmup, divergences;
        double acceptance, step_size;
    };

    Group& group_;
    Shares shares_;
    RunProgress& progress_;
    std::function<RunNews()> mine_;
    std::vector<Status> status_;  // of all chains on rank 0
    RunNews all_;
    std::exception_ptr error_;
    std::atomic<bool> stop_ = false;
    std::mutex mutex_;
    std::condition_variable changed_;
    bool go_ = false, done_ = false, given_up_ = false;
    std::thread thread_;
};

}  // namespace pollen::detail
