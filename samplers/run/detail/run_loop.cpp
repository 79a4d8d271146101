#include <pollen/autograd/parallel.hpp>
#include <pollen/autograd/support/interrupt.hpp>
#include <pollen/samplers/detail/rethrow.hpp>
#include <pollen/samplers/run/detail/chain_runner.hpp>

#include <algorithm>
#include <cstdio>
#include <deque>
#include <mutex>

namespace pollen::detail {

std::string bytes_text(double bytes) {
    const char* units[] = {"bytes", "kB", "MB", "GB", "TB", "PB", "EB"};
    std::size_t unit = 0;
    for (; bytes >= 999.5 && unit + 1 < std::size(units); ++unit) bytes /= 1000;
    char text[40];
    std::snprintf(text, sizeof text, unit == 0 ? "%.0f %s" : "%.3g %s", bytes, units[unit]);
    return text;
}

std::string RunMemory::text() const {
    return bytes_text(draws) + " of draws, " + (files > 0 ? bytes_text(files) + " of file buffers, " : "") +
           bytes_text(chains) + " of chains";
}

RunMemory memory_of(const RunPlan& plan) {
    const RunOptions& o = plan.options;
    const auto chains = static_cast<double>(o.chains), draws = static_cast<double>(o.draws),
               values = static_cast<double>(plan.value_count);
    RunMemory memory;
    memory.draws = chains * draws * (5 * sizeof(double) + sizeof(std::int64_t) + sizeof(std::int32_t) + 2);
    if (o.keep) memory.draws += chains * draws * values * sizeof(double);
    if (!o.directory.empty()) {
        // Rows, and the header with a name for each number; one chain at a time holds four of it.
        double names = 0;
        for (const Quantity& q : plan.quantities)
            names +=
                static_cast<double>(q.shape.size()) * static_cast<double>(std::ssize(q.name) + 6 * q.shape.rank() + 1);
        memory.files = chains * (static_cast<double>(1 << 22) + values * 26 + names) + values * 8 + 3 * names;
    }
    // A state on its way to the disk is there three times: in the chain, as tensors, and as the bytes of the file.
    const double states = o.directory.empty() ? 1 : 3;
    memory.chains = chains * (states * plan.state_bytes + static_cast<double>(plan.dimensions) * sizeof(double));
    return memory;
}

namespace {

constexpr double slice = 0.2;  // seconds that a thread stays with one chain while others wait

std::string what_of(const std::exception_ptr& error) {
    try {
        std::rethrow_exception(error);
    } catch (const std::exception& e) {
        return e.what();
    } catch (...) {
        return "something that is not a std::exception was thrown";
    }
}

class Run {
  public:
    explicit Run(RunPlan plan) : plan_(std::move(plan)) {}

    Draws operator()(std::vector<std::unique_ptr<AnyChain>> chains) {
        const RunOptions& o = plan_.options;
        if (!o.directory.empty()) make_directory(o.directory);
        if (o.keep) values_ = Tensor<double>::empty(Shape{o.chains, o.draws, plan_.value_count});
        const std::int64_t block = o.draws * plan_.value_count;
        for (std::size_t c = 0; c < chains.size(); ++c)
            runners_.emplace_back(plan_, static_cast<std::uint32_t>(c), std::move(chains[c]),
                                  o.keep ? values_.fresh_data() + static_cast<std::int64_t>(c) * block : nullptr);
        begin_all();
        open_all();
        return draw();
    }

  private:
    void begin_all() {
        std::vector<std::exception_ptr> errors(runners_.size());
        parallel_for(std::ssize(runners_), 1, [&](std::int64_t first, std::int64_t end) {
            for (auto c = static_cast<std::size_t>(first); c < static_cast<std::size_t>(end); ++c) {
                try {
                    runners_[c].begin();
                } catch (...) {
                    errors[c] = std::current_exception();
                }
            }
        });
        for (std::size_t c = 0; c < errors.size(); ++c) {
            if (errors[c]) rethrow_at("run_chains: chain " + std::to_string(c + 1), errors[c]);
        }
    }

    void open_all() {
        try {
            for (ChainRunner& runner : runners_) runner.open();
            for (ChainRunner& runner : runners_) runner.start();
        } catch (...) {
            for (ChainRunner& runner : runners_) runner.undo_open();
            throw;
        }
    }

    Draws draw() {
        const RunOptions& o = plan_.options;
        const Interrupt interrupt;
        std::vector<std::int64_t> first;
        for (const ChainRunner& runner : runners_) first.push_back(runner.steps());
        RunProgress progress(o.show, first, plan_.steps());
        if (std::all_of(runners_.begin(), runners_.end(), [](auto& r) { return r.goes_on() && r.finished(); })) {
            progress.say("complete: read from " + o.directory);
        } else {
            progress.say(std::to_string(o.chains) + " chains of " + std::to_string(plan_.steps()) + " steps (" +
                         std::to_string(o.warmup) + " of warm-up) on " +
                         std::to_string(std::min<std::int64_t>(thread_count(), o.chains)) +
                         " threads; memory: " + memory_of(plan_).text());
            if (runners_.front().goes_on()) progress.say(resumed_text(*std::min_element(first.begin(), first.end())));
        }
        busy_.assign(runners_.size(), 0);
        const std::int64_t workers = std::min<std::int64_t>(thread_count(), o.chains);
        parallel_for(workers, 1, [&](std::int64_t begin, std::int64_t end) {
            for (; begin < end; ++begin) work(progress);
        });
        const bool all = std::all_of(runners_.begin(), runners_.end(), [](auto& r) { return r.finished(); });
        if (error_) {
            auto draws = std::make_shared<Draws>(gather());
            draws->interrupted = true;
            throw RunError("run_chains: chain " + std::to_string(failed_ + 1) + ": " + what_of(error_), error_, draws);
        }
        Draws draws = gather();
        draws.interrupted = !all;
        if (!all)
            progress.say("stopped" + (o.directory.empty() ? std::string() : "; the run is saved in " + o.directory));
        return draws;
    }

    // Where the chain that is behind all others goes on.
    std::string resumed_text(std::int64_t steps) const {
        const RunOptions& o = plan_.options;
        if (steps < o.warmup)
            return "going on from step " + std::to_string(steps) + " of " + std::to_string(o.warmup) +
                   " of the warm-up";
        return "going on from draw " + std::to_string((steps - o.warmup) / o.thin) + " of " + std::to_string(o.draws);
    }

    // A thread takes the chain that is behind all others and nobody works at, stays with it for a while, and takes the
    // next one: so all chains come along, whatever the number of threads.
    void work(RunProgress& progress) {
        for (;;) {
            std::size_t mine = runners_.size();
            {
                const std::lock_guard lock(mutex_);
                for (std::size_t c = 0; c < runners_.size(); ++c) {
                    if (busy_[c] || closed(c)) continue;
                    if (mine == runners_.size() || runners_[c].steps() < runners_[mine].steps()) mine = c;
                }
                if (mine == runners_.size()) return;
                busy_[mine] = 1;
            }
            const bool last = stopped();
            const bool error = !attempt(mine, [&] {
                if (runners_[mine].finished() || last)
                    runners_[mine].close(false);
                else
                    runners_[mine].advance(
                        slice, [this] { return stopped(); }, progress);
            });
            if (error) attempt(mine, [&] { runners_[mine].close(true); });
            const std::lock_guard lock(mutex_);
            if (error || last || runners_[mine].finished()) closed_.push_back(mine);
            busy_[mine] = 0;
        }
    }

    template <class F>
    bool attempt(std::size_t chain, const F& f) {
        try {
            f();
            return true;
        } catch (...) {
            const std::lock_guard lock(mutex_);
            if (!error_) {
                error_ = std::current_exception();
                failed_ = chain;
            }
            stop_ = true;
            return false;
        }
    }

    bool stopped() const { return stop_.load(std::memory_order_relaxed) || Interrupt::requested(); }
    bool closed(std::size_t c) const { return std::find(closed_.begin(), closed_.end(), c) != closed_.end(); }

    // All chains, if they are finished; of chains of different length, those that make the most draws at one length.
    Draws gather() {
        std::vector<std::int64_t> lengths;
        for (ChainRunner& runner : runners_) lengths.push_back(runner.record().draws());
        std::vector<std::int64_t> falling = lengths;
        std::sort(falling.rbegin(), falling.rend());
        std::int64_t length = falling.back(), best = length * std::ssize(falling);
        for (std::size_t k = falling.size(); k-- > 0;) {
            if (falling[k] * static_cast<std::int64_t>(k + 1) <= best) continue;
            best = falling[k] * static_cast<std::int64_t>(k + 1);
            length = falling[k];
        }
        Draws draws{.quantities = plan_.quantities, .values = {}, .chains = {}, .files = {}};
        draws.dimensions = plan_.dimensions;
        draws.facts = runners_.front().facts();
        draws.temperature = plan_.temperature;
        draws.network = plan_.network;
        draws.warmup = plan_.options.warmup;
        draws.thin = plan_.options.thin;
        draws.asked = plan_.options.draws;
        const std::int64_t block = plan_.options.draws * plan_.value_count, kept = length * plan_.value_count;
        double* to = values_.fresh_data();
        for (std::size_t c = 0; c < runners_.size(); ++c) {
            ChainRecord& record = runners_[c].record();
            if (record.draws() < length) continue;
            if (plan_.options.keep) {
                const double* from = values_.data() + static_cast<std::int64_t>(c) * block;
                if (from != to) std::copy(from, from + kept, to);  // forward, into what was left out
                to += kept;
            }
            record.resize(length);
            draws.chains.push_back(std::move(record));
            if (!runners_[c].file().empty()) draws.files.push_back(runners_[c].file());
        }
        const Shape shape{std::ssize(draws.chains), length, plan_.value_count};
        if (plan_.options.keep) {
            Buffer* buffer = values_.take_buffer();
            draws.values = buffer ? Tensor<double>::adopt(buffer, shape) : Tensor<double>::zeros(shape);
        }
        return draws;
    }

    RunPlan plan_;
    Tensor<double> values_;
    std::deque<ChainRunner> runners_;
    std::mutex mutex_;
    std::vector<char> busy_;
    std::vector<std::size_t> closed_;
    std::exception_ptr error_;
    std::size_t failed_ = 0;
    std::atomic<bool> stop_ = false;
};

}  // namespace

Draws run_all(RunPlan plan, std::vector<std::unique_ptr<AnyChain>> chains) {
    return Run(std::move(plan))(std::move(chains));
}

}  // namespace pollen::detail
