#pragma once

#include <pollen/samplers/draws/detail/chain_file.hpp>
#include <pollen/samplers/draws/stan_csv.hpp>
#include <pollen/samplers/run/detail/chain_state.hpp>
#include <pollen/samplers/run/detail/run_progress.hpp>
#include <pollen/samplers/run/run_chains.hpp>

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace pollen::detail {

// The temperature that a chain ran at in one step; NaN where it does not say.
struct Temperatures {
    double kinetic = std::numeric_limits<double>::quiet_NaN();
    double configurational = std::numeric_limits<double>::quiet_NaN();
};

// A chain of float or of double.
class AnyChain {
  public:
    virtual ~AnyChain() = default;
    // Finds the start and begins there. Returns the energy of the start.
    virtual Energy begin() = 0;
    virtual StepStatistics step() = 0;
    virtual void values(std::span<double> out) = 0;
    virtual void visit(StateVisitor& visitor) = 0;
    virtual std::int64_t steps() const = 0;
    virtual std::int64_t size() const = 0;
    virtual ChainFacts facts() const = 0;
    virtual std::vector<double> inverse_metric() const = 0;
    virtual double weight() const = 0;

    // In the second half of the warm-up: where the middle of the posterior is.
    virtual void learn_centre() = 0;
    // After a step. The configurational one is (theta - c) . gradient / d with that middle c, or the start, or 0 for
    // the weights of a network. It has the mean T for any c that does not depend on theta, and the least noise in the
    // middle.
    virtual Temperatures temperatures(const StepStatistics& statistics) const = 0;
};

// What the chains of a run have in common.
struct RunPlan {
    RunOptions options;
    std::string sampler, precision;
    std::vector<Quantity> quantities;
    std::int64_t value_count = 0, dimensions = 0;
    double state_bytes = 0;  // of one chain
    double temperature = 1;
    bool network = false;
    RunDescription about = {};
    StanCsvRows rows;

    std::int64_t steps() const { return options.warmup + options.draws * options.thin; }
};

// One chain of a run, with its file and its state.
class ChainRunner {
  public:
    // Draws go to `values`, value_count numbers each, where it is not null.
    ChainRunner(const RunPlan& plan, std::uint32_t chain, std::unique_ptr<AnyChain> any, double* values);

    void begin();
    // Locks the file, and reads the state and the draws of a run that goes on. Nothing is changed: where one chain
    // cannot go on, all are left as they are.
    void open();
    // Makes the file, or cuts off what came after the state was saved.
    void start();
    // Removes the file and the state, if this run made them.
    void undo_open();

    bool finished() const { return state_.steps >= plan_->steps(); }
    std::int64_t steps() const { return state_.steps; }

    // Steps until the chain is finished, its time is over or stop() is true.
    void advance(double seconds, const std::function<bool()>& stop, RunProgress& progress);

    // Everything to the disk, and the end of the file. After an error in a step the state is that of the last flush.
    void close(bool after_error);

    ChainRecord& record() { return record_; }
    const ChainFacts& facts() const { return facts_; }
    // Whether it goes on from a saved state.
    bool goes_on() const { return saved_; }
    const std::string& file() const { return csv_path_; }

  private:
    void step();
    void add_energy(double hamiltonian);
    void visit(StateVisitor& visitor, TemperatureSums& temperature);
    void add_row(const StepStatistics& statistics, bool draw);
    void add_adaptation(double step_size);
    void append_rows();
    void flush();
    void check_fresh();
    void restore();
    std::string top_of_file() const;
    void read_back(std::int64_t bytes);
    std::string header(std::int64_t draws) const;
    ReadLimits limits() const;
    RunDescription about() const;
    double step_size_now() const;
    ChainStatus status() const;

    const RunPlan* plan_;
    std::uint32_t chain_;
    std::unique_ptr<AnyChain> any_;
    double* values_;
    ChainFacts facts_;
    std::vector<double> row_;
    std::string text_;  // rows that are not in the file yet
    std::string csv_path_, state_path_;
    ChainFile file_;
    bool created_ = false, saved_ = false;
    std::string top_;  // what the file begins with, until it is there
    std::int64_t top_bytes_ = 0;
    RunState state_;
    ChainRecord record_;
    // Of the present phase, for the progress.
    double acceptance_sum_ = 0, last_step_size_ = 0;
    std::int64_t acceptance_count_ = 0;
    double last_flush_ = 0, flush_pause_ = 0;
    std::int64_t flushed_steps_ = 0, steps_a_look_ = 1;
};

// Seconds from a flush that took so long to the next one: a run spends little of its time with its files.
double pause_after_flush(double seconds);

// "1.5 GB"
std::string bytes_text(double bytes);
// What a run takes in memory: its draws, the rows on their way to the disk, and what chains keep.
struct RunMemory {
    double draws = 0, files = 0, chains = 0;

    double total() const { return draws + files + chains; }
    // "0.8 MB of draws, 16.8 MB of file buffers, 5 kB of chains"
    std::string text() const;
};
RunMemory memory_of(const RunPlan& plan);

// Runs the chains.
Draws run_all(RunPlan plan, std::vector<std::unique_ptr<AnyChain>> chains);

}  // namespace pollen::detail
