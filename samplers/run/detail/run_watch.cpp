#include <pollen/samplers/run/detail/run_watch.hpp>

#include <chrono>

namespace pollen::detail {

namespace {

constexpr std::chrono::milliseconds between_calls{200};

}  // namespace

RunWatch::RunWatch(Group& group, const Shares& shares, RunProgress& progress, std::function<RunNews()> mine)
    : group_(group), shares_(shares), progress_(progress), mine_(std::move(mine)) {
    const std::int64_t chains = group.rank() == 0 ? shares.leaves() : shares.count(group.rank());
    status_.resize(static_cast<std::size_t>(chains));
}

RunWatch::~RunWatch() {
    end(false);
    if (thread_.joinable()) thread_.join();
}

void RunWatch::start() {
    if (group_.size() == 1) return;
    // A rank whose system has no thread left says so before any thread of the others calls the group.
    group_.together([this] { thread_ = std::thread([this] { run(); }); });
    const std::lock_guard lock(mutex_);
    go_ = true;
    changed_.notify_all();
}

void RunWatch::end(bool done) {
    const std::lock_guard lock(mutex_);
    (done ? done_ : given_up_) = true;
    changed_.notify_all();
}

void RunWatch::run() {
    try {
        for (bool told = false;;) {
            {
                std::unique_lock lock(mutex_);
                changed_.wait(lock, [&] { return given_up_ || go_; });
                changed_.wait_for(lock, between_calls, [&] { return given_up_ || (done_ && !told); });
                if (given_up_) return;
                told = done_;
            }
            if (exchange()) return;
        }
    } catch (...) {
        error_ = std::current_exception();
        stop_ = true;
    }
}

// Returns true if the chains of all ranks are done.
bool RunWatch::exchange() {
    bool done;
    {
        const std::lock_guard lock(mutex_);
        done = done_;
    }
    const RunNews mine = mine_();
    const auto first = static_cast<std::size_t>(shares_.first(group_.rank()));
    const auto own = static_cast<std::size_t>(shares_.count(group_.rank()));
    for (std::size_t c = 0; c < own; ++c) {
        const ChainStatus s = progress_.status(first + c);
        status_[c] = {s.steps, s.warmup, s.divergences.value_or(-1), s.acceptance, s.step_size};
    }
    std::array<std::int64_t, 4> news{done, !mine.stop, !mine.unfinished, mine.failed};
    {
        Group::Call call(group_, "the progress of the chains");
        call.smallest(news);
        if (group_.rank() > 0) call.send(0, std::as_bytes(std::span(status_)));
        for (int rank = 1; group_.rank() == 0 && rank < group_.size(); ++rank)
            call.receive(rank, std::as_writable_bytes(std::span(status_))
                                   .subspan(static_cast<std::size_t>(shares_.first(rank)) * sizeof(Status),
                                            static_cast<std::size_t>(shares_.count(rank)) * sizeof(Status)));
    }
    all_ = {.stop = news[1] == 0, .unfinished = news[2] == 0, .failed = news[3]};
    if (all_.stop) stop_ = true;
    for (std::size_t c = own; c < status_.size(); ++c) {
        const Status& s = status_[c];
        progress_.update(c, {.steps = s.steps,
                             .warmup = s.warmup != 0,
                             .acceptance = s.acceptance,
                             .step_size = s.step_size,
                             .divergences = s.divergences < 0 ? std::nullopt : std::optional(s.divergences)});
    }
    return news[0] != 0;
}

RunNews RunWatch::finish() {
    if (!thread_.joinable()) return mine_();
    end(true);
    thread_.join();
    if (error_) std::rethrow_exception(error_);
    return all_;
}

}  // namespace pollen::detail
