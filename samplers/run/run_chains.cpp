#include <pollen/samplers/run/run_chains.hpp>

#include <pollen/autograd/parallel.hpp>
#include <pollen/autograd/support/detail/all_gathered.hpp>
#include <pollen/autograd/support/detail/errors_at.hpp>
#include <pollen/autograd/support/detail/stop_requested.hpp>
#include <pollen/autograd/support/version.hpp>
#include <pollen/samplers/detail/rethrow.hpp>
#include <pollen/samplers/run/detail/chain_results.hpp>
#include <pollen/samplers/run/detail/chain_runner.hpp>
#include <pollen/samplers/run/detail/rank_files.hpp>
#include <pollen/samplers/run/detail/run_watch.hpp>

#include <algorithm>
#include <atomic>
#include <deque>
#include <mutex>
#include <optional>

namespace pollen::detail {

namespace {

constexpr double slice = 0.2;  // seconds that a thread stays with one chain while others wait

class Run {
  public:
    // If on_draw throws, its exception goes to `unchanged`, too.
    Run(RunPlan plan, std::exception_ptr& unchanged)
        : plan_(std::move(plan)), group_(plan_.group()), unchanged_(unchanged) {}

    Draws operator()(std::vector<std::unique_ptr<AnyChain>> chains) {
        const RunOptions& o = plan_.options;
        if (!o.directory.empty()) {
            files_.emplace(plan_);
            files_->fetch();
        }
        group_.together([&] {
            const std::int64_t kept = is_root() ? plan_.chains() : std::ssize(chains);
            if (o.keep) values_ = Tensor<double>::empty(Shape{kept, o.draws, plan_.value_count});
            const std::int64_t block = o.draws * plan_.value_count;
            for (std::int64_t c = 0; c < std::ssize(chains); ++c)
                runners_.emplace_back(plan_, static_cast<std::uint32_t>(plan_.first_own() + c),
                                      std::move(chains[static_cast<std::size_t>(c)]),
                                      o.keep ? values_.fresh_data() + c * block : nullptr,
                                      reporter(static_cast<std::size_t>(c)));
            begin_all();
        });
        if (!o.directory.empty()) disk_ = total(group_, disk());
        open_all();
        return draw();
    }

  private:
    bool is_root() const { return group_.rank() == 0; }

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
            if (errors[c]) rethrow_at("run_chains: " + name_of(c), errors[c]);
        }
    }

    // "chain 5"
    std::string name_of(std::size_t c) const {
        return "chain " + std::to_string(plan_.first_own() + static_cast<std::int64_t>(c) + 1);
    }

    // Opens all files; restores the chains of a run that is resumed.
    void open_all() {
        try {
            group_.together([&] {
                for (ChainRunner& runner : runners_) runner.open();
            });
            if (files_) check_disk_of_all();
            group_.together([&] {
                for (ChainRunner& runner : runners_) runner.start();
            });
        } catch (...) {
            for (ChainRunner& runner : runners_) runner.undo_open();
            throw;
        }
    }

    // The copies are gone before anything else is written.
    void check_disk_of_all() {
        double bytes = disk();
        for (const ChainRunner& runner : runners_) bytes = std::max(bytes, runner.copy());
        std::vector<double> left;
        for (ChainRunner& runner : runners_) left.push_back(runner.disk());
        const double all = total(group_, files_->same() ? bytes : 0.0) + files_->incoming(left, steps());
        const bool resumed = !runners_.empty() && runners_.front().resumed();
        group_.together([&] {
            if (is_root() || !files_->same()) check_disk(plan_.options.directory, is_root() ? all : bytes, resumed);
        });
    }

    double disk() {
        double bytes = 0;
        for (ChainRunner& runner : runners_) bytes += runner.disk();
        return bytes;
    }

    // Of the chains of this rank.
    std::vector<std::int64_t> steps() const {
        std::vector<std::int64_t> steps;
        for (const ChainRunner& runner : runners_) steps.push_back(runner.steps());
        return steps;
    }

    // Runs all chains to their end, or until the run is stopped.
    Draws draw() {
        const std::vector<std::int64_t> first = all_gathered(group_, steps());
        RunProgress progress(is_root() ? plan_.options.show : Show::nothing, first, plan_.steps(),
                             plan_.first_chain + 1);
        announce(progress, first);

        RunWatch watch(group_, plan_.shares, progress, [this] { return news(); });
        watch.start();
        watch_ = &watch;
        busy_.assign(runners_.size(), 0);
        const std::int64_t workers = worker_count();
        attempt(0, [&] {
            parallel_for(workers, 1, [&](std::int64_t begin, std::int64_t end) {
                for (; begin < end; ++begin) work(progress);
            });
        });
        unfinished_ = std::any_of(runners_.begin(), runners_.end(), [](auto& r) { return !r.finished(); });
        const RunNews end = watch.finish();
        watch_ = nullptr;
        return conclude(end, progress);
    }

    std::int64_t worker_count() const {
        return plan_.one_at_a_time ? 1 : std::min<std::int64_t>(thread_count(), std::ssize(runners_));
    }

    // Says what is about to be done. `first` are the steps of all chains.
    void announce(RunProgress& progress, const std::vector<std::int64_t>& first) {
        const RunOptions& o = plan_.options;
        const auto left = static_cast<std::int64_t>(std::count_if(
            runners_.begin(), runners_.end(), [](const ChainRunner& r) { return !(r.resumed() && r.finished()); }));
        const std::int64_t all_left = total(group_, left),
                           workers = total(group_, plan_.one_at_a_time ? thread_count() : worker_count());
        if (!is_root()) return;
        if (all_left == 0) {
            progress.say("complete: read from " + o.directory);
            return;
        }
        progress.say(plan_.chains_text() + " of " + std::to_string(plan_.steps()) + " steps (" +
                     std::to_string(o.warmup) + " of warm-up) on " + std::to_string(workers) + " threads" +
                     (group_.size() > 1 ? " of " + std::to_string(group_.size()) + " ranks" : "") + "; memory: " +
                     memory_of(plan_).text() + (o.directory.empty() ? "" : "; disk: at most " + bytes_text(disk_)));
        if (runners_.front().resumed()) progress.say(resumed_text(*std::min_element(first.begin(), first.end())));
    }

    // What the other ranks are told.
    RunNews news() {
        const std::lock_guard lock(mutex_);
        RunNews mine{.stop = stop_ || stop_requested(plan_.options.stop), .unfinished = unfinished_};
        if (error_) mine.failed = plan_.shares.first(group_.rank()) + static_cast<std::int64_t>(failed_);
        return mine;
    }

    // Brings draws and files to rank 0. Throws if a chain has failed.
    Draws conclude(const RunNews& end, RunProgress& progress) {
        const RunOptions& o = plan_.options;
        std::string message;
        std::exception_ptr cause;
        if (on_draw_error_ == error_ && group_.size() == 1) unchanged_ = on_draw_error_;
        if (end.failed != RunNews::nobody) {
            const int rank = plan_.shares.owner(end.failed);
            const std::string text = group_.broadcast(error_ ? what_of(error_) : std::string(), rank);
            message = "run_chains: chain " + std::to_string(plan_.first_chain + end.failed + 1) + ": " + text;
            cause = rank == group_.rank()
                        ? error_
                        : std::make_exception_ptr(GroupError("rank " + std::to_string(rank) + ": " + text));
        }
        try {
            if (files_) files_->deliver(steps());
        } catch (const Error& error) {
            if (group_.failed()) throw;
            message += (cause ? "; " : "run_chains: ") + std::string(error.what());
            if (!cause) cause = std::current_exception();
        }
        Draws draws = gather();
        draws.interrupted = end.unfinished || cause;
        if (cause && !is_root()) throw GroupError(message);
        if (cause) throw RunError(message, cause, std::make_shared<Draws>(std::move(draws)));
        if (end.unfinished)
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

    // What chain `c` of this rank calls after each draw: on_draw, for one chain at a time. If on_draw throws, the chain
    // is stopped with the others, and on_draw is not called again.
    ChainRunner::Report reporter(std::size_t c) {
        if (!plan_.options.on_draw) return {};
        return [this, c](const DrawRecord& draw) {
            const std::lock_guard lock(on_draw_mutex_);
            if (on_draw_error_) return;
            attempt(c, [&] {
                try {
                    if (!plan_.options.on_draw(draw)) stop_ = true;
                } catch (...) {
                    on_draw_error_ = std::current_exception();
                    throw;
                }
            });
        };
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

    // After an error in a chain, or a request to stop, on this rank or another.
    bool stopped() const {
        return stop_.load(std::memory_order_relaxed) || stop_requested(plan_.options.stop) || watch_->stop();
    }
    bool closed(std::size_t c) const { return std::find(closed_.begin(), closed_.end(), c) != closed_.end(); }

    // The draws of all chains on rank 0.
    Draws gather() {
        std::vector<ChainResult> results;
        for (ChainRunner& runner : runners_)
            results.push_back({std::move(runner.record()), runner.rows(), runner.file()});
        double* values = plan_.options.keep ? values_.fresh_data() : nullptr;
        results = gather_results(plan_, std::move(results), values);
        Draws draws{.quantities = plan_.quantities, .values = {}, .chains = {}, .files = {}};
        draws.dimensions = plan_.dimensions;
        draws.temperature = plan_.temperature;
        draws.network = plan_.network;
        draws.warmup = plan_.options.warmup;
        draws.thin = plan_.options.thin;
        draws.asked = plan_.options.draws;
        draws.chains_of_run = plan_.chains() < plan_.options.chains ? plan_.options.chains : 0;
        draws.elsewhere = !is_root();
        if (draws.elsewhere) return draws;
        draws.facts = runners_.front().facts();
        put_together(draws, std::move(results), std::move(values_), plan_.options.draws, plan_.options.keep);
        return draws;
    }

    RunPlan plan_;
    Group& group_;
    std::optional<RankFiles> files_;
    Tensor<double> values_;
    std::deque<ChainRunner> runners_;  // of the chains of this rank
    double disk_ = 0;                  // the most bytes that its files take
    std::mutex mutex_;
    std::vector<char> busy_;
    std::vector<std::size_t> closed_;
    std::exception_ptr error_;
    std::size_t failed_ = 0;
    std::atomic<bool> stop_ = false, unfinished_ = false;
    std::mutex on_draw_mutex_;
    std::exception_ptr on_draw_error_;  // what on_draw has thrown
    std::exception_ptr& unchanged_;
    const RunWatch* watch_ = nullptr;  // while chains run
};

// Throws on all ranks unless they run the same chains.
void agree_on(Group& group, const RunPlan& plan) {
    const RunOptions& o = plan.options;
    const auto number = [](std::int64_t n) { return std::to_string(n); };
    group.agree("the version of pollen", version());
    for (const auto& [name, text] : plan.about) group.agree("the " + name, text);
    group.agree("the draws", number(o.draws));
    group.agree("the chains to run", number(plan.first_chain + 1) + " to " + number(plan.first_chain + plan.chains()));
    group.agree("keep", o.keep ? "true" : "false");
    group.agree("resume", o.resume ? "true" : "false");
    group.agree("whether there is a directory", o.directory.empty() ? "no" : "yes");
}

}  // namespace

template <Real T>
Draws run_chains_of(const Potential<T>& potential, const BeginChain<T>& begin, const std::string& sampler,
                    const RunOptions& options, const std::vector<Quantity>& extra, double state_bytes,
                    const StepSharing& sharing) {
    const bool spread = options.group && options.group->size() > 1, shared = sharing.group && sharing.group->size() > 1;
    if (spread && potential.one_at_a_time())
        throw ValueError(
            "run_chains: the items of the potential are spread over the ranks, so its chains cannot be; leave out the "
            "option group");
    if (shared && potential.one_at_a_time())
        throw ValueError(
            "run_chains: the items of the potential are spread over the ranks, so the steps of its chains cannot be "
            "shared; leave out the sampler's option group");
    if (shared && spread)
        throw ValueError(
            "run_chains: the ranks share the steps of the sampler, so they cannot share its chains; leave out the "
            "option group of the run, or that of the sampler");
    const auto agreed_plan = [&](Group& group) {
        std::optional<RunPlan> plan;
        group.together([&] {
            plan = make_plan(potential, sampler, options, extra, state_bytes, group.size() > 1);
            plan->one_at_a_time = plan->one_at_a_time || shared;
        });
        agree_on(group, *plan);
        return std::move(*plan);
    };
    Draws draws;
    draws.elsewhere = true;  // unless this rank leads
    std::exception_ptr of_on_draw;
    const auto run = [&](RunPlan plan) {
        std::vector<std::unique_ptr<AnyChain>> chains;
        plan.group().together([&] {
            for (std::int64_t c = 0; c < plan.own_chains(); ++c)
                chains.push_back(
                    make_chain(potential, begin, options, static_cast<std::uint32_t>(plan.first_own() + c)));
        });
        draws = Run(std::move(plan), of_on_draw)(std::move(chains));
    };
    const char* const here = "run_chains";
    try {
        if (shared) {
            RunPlan plan = with_errors_at(here, [&] { return agreed_plan(*sharing.group); });
            sharing.lead([&] { with_errors_at(here, [&] { run(std::move(plan)); }); });
            sharing.group->broadcast(std::span(&draws.interrupted, 1));
        } else {
            potential.lead([&] {
                with_errors_at(here, [&] { run(agreed_plan(options.group ? *options.group : Group::alone())); });
            });
            draws.interrupted = potential.of_leader(draws.interrupted);
        }
    } catch (const DomainError& error) {
        if (spread || shared) throw GroupError(error.what());  // what one rank has thrown in together()
        throw;
    } catch (const RunError&) {
        if (of_on_draw) std::rethrow_exception(of_on_draw);
        throw;
    }
    return draws;
}

template Draws run_chains_of(const Potential<float>&, const BeginChain<float>&, const std::string&, const RunOptions&,
                             const std::vector<Quantity>&, double, const StepSharing&);
template Draws run_chains_of(const Potential<double>&, const BeginChain<double>&, const std::string&, const RunOptions&,
                             const std::vector<Quantity>&, double, const StepSharing&);

}  // namespace pollen::detail
