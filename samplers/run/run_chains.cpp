#include <pollen/samplers/run/run_chains.hpp>

#include <pollen/autograd/parallel.hpp>
#include <pollen/autograd/support/detail/errors_at.hpp>
#include <pollen/autograd/support/interrupt.hpp>
#include <pollen/samplers/detail/rethrow.hpp>
#include <pollen/samplers/run/detail/chain_runner.hpp>

#include <algorithm>
#include <atomic>
#include <deque>
#include <mutex>

namespace pollen::detail {

namespace {

constexpr double slice = 0.2;  // seconds that a thread stays with one chain while others wait

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
        if (!o.directory.empty()) disk_ = disk();
        open_all();
        return draw();
    }

  private:
    // Finds the starts and begins all chains.
    void begin_all() {
        std::vector<std::exception_ptr> errors(runners_.size());
        const std::int64_t at_once = plan_.one_at_a_time ? std::ssize(runners_) : 1;
        parallel_for(std::ssize(runners_), at_once, [&](std::int64_t first, std::int64_t end) {
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

    // Opens all files; restores the chains of a run that is resumed.
    void open_all() {
        try {
            for (ChainRunner& runner : runners_) runner.open();
            if (!plan_.options.directory.empty()) {
                // The copies are gone before anything else is written.
                double bytes = disk();
                for (const ChainRunner& runner : runners_) bytes = std::max(bytes, runner.copy());
                check_disk(plan_.options.directory, bytes, runners_.front().resumed());
            }
            for (ChainRunner& runner : runners_) runner.start();
        } catch (...) {
            for (ChainRunner& runner : runners_) runner.undo_open();
            throw;
        }
    }

    double disk() {
        double bytes = 0;
        for (ChainRunner& runner : runners_) bytes += runner.disk();
        return bytes;
    }

    // Runs all chains to their end, or until the run is stopped.
    Draws draw() {
        const RunOptions& o = plan_.options;
        const Interrupt interrupt;
        std::vector<std::int64_t> first;
        for (const ChainRunner& runner : runners_) first.push_back(runner.steps());
        RunProgress progress(o.show, first, plan_.steps());
        const std::int64_t workers = plan_.one_at_a_time ? 1 : std::min<std::int64_t>(thread_count(), o.chains);
        if (std::all_of(runners_.begin(), runners_.end(), [](auto& r) { return r.resumed() && r.finished(); })) {
            progress.say("complete: read from " + o.directory);
        } else {
            progress.say(std::to_string(o.chains) + " chains of " + std::to_string(plan_.steps()) + " steps (" +
                         std::to_string(o.warmup) + " of warm-up) on " +
                         std::to_string(plan_.one_at_a_time ? thread_count() : workers) + " threads; memory: " +
                         memory_of(plan_).text() + (o.directory.empty() ? "" : "; disk: at most " + bytes_text(disk_)));
            if (runners_.front().resumed()) progress.say(resumed_text(*std::min_element(first.begin(), first.end())));
        }
        busy_.assign(runners_.size(), 0);
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

    // Where the chain with the fewest steps resumes.
    std::string resumed_text(std::int64_t steps) const {
        const RunOptions& o = plan_.options;
        if (steps < o.warmup)
            return "going on from step " + std::to_string(steps) + " of " + std::to_string(o.warmup) +
                   " of the warm-up";
        return "going on from draw " + std::to_string((steps - o.warmup) / o.thin) + " of " + std::to_string(o.draws);
    }

    // The work of one thread: it takes the chain that has made the fewest steps of those that no thread has, advances
    // it for a while, and takes the next one. So all chains advance evenly on any number of threads. When the run is
    // stopped, it closes the chains instead: what was drawn goes to the disk.
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

    // Calls f(). If it throws, the first error of the run is kept, and the run is stopped. Returns false then.
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

    // After an error in a chain, or Ctrl-C.
    bool stopped() const { return stop_.load(std::memory_order_relaxed) || Interrupt::requested(); }
    bool closed(std::size_t c) const { return std::find(closed_.begin(), closed_.end(), c) != closed_.end(); }

    // The draws of all chains. If they have different lengths, since the run was stopped, the length is chosen that
    // gives the most draws in all; shorter chains are left out.
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
    double disk_ = 0;  // the most bytes that its files take
    std::mutex mutex_;
    std::vector<char> busy_;
    std::vector<std::size_t> closed_;
    std::exception_ptr error_;
    std::size_t failed_ = 0;
    std::atomic<bool> stop_ = false;
};

}  // namespace

template <Real T>
Draws run_chains_of(const Potential<T>& potential, const BeginChain<T>& begin, const std::string& sampler,
                    const RunOptions& options, const std::vector<Quantity>& extra, double state_bytes) {
    Draws draws;
    potential.lead([&] {
        draws = with_errors_at("run_chains", [&] {
            RunPlan plan = make_plan(potential, sampler, options, extra, state_bytes);
            std::vector<std::unique_ptr<AnyChain>> chains;
            for (std::int64_t c = 0; c < options.chains; ++c)
                chains.push_back(make_chain(potential, begin, options, static_cast<std::uint32_t>(c)));
            return Run(std::move(plan))(std::move(chains));
        });
    });
    return draws;
}

template Draws run_chains_of(const Potential<float>&, const BeginChain<float>&, const std::string&, const RunOptions&,
                             const std::vector<Quantity>&, double);
template Draws run_chains_of(const Potential<double>&, const BeginChain<double>&, const std::string&, const RunOptions&,
                             const std::vector<Quantity>&, double);

}  // namespace pollen::detail
