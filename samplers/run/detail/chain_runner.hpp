#pragma once

#include <pollen/samplers/run/detail/any_chain.hpp>
#include <pollen/samplers/run/detail/chain_file.hpp>
#include <pollen/samplers/run/detail/chain_state.hpp>
#include <pollen/samplers/run/detail/run_disk.hpp>
#include <pollen/samplers/run/detail/run_plan.hpp>
#include <pollen/samplers/run/detail/run_progress.hpp>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace pollen::detail {

// One chain of a run, with its file of draws and its saved state.
class ChainRunner {
  public:
    using Report = std::function<void(const DrawRecord&)>;

    // Draws go to `values`, value_count numbers each, unless it is null. Calls report() after each draw, unless it is
    // empty.
    ChainRunner(const RunPlan& plan, std::uint32_t chain, std::unique_ptr<AnyChain> any, double* values, Report report);

    // Begins the chain.
    void begin();
    // Locks the file, and reads the state and the draws of a run that is resumed. It changes nothing, so that no file
    // is touched if one of the chains cannot be resumed. The files of a finished chain need not be writable.
    void open();
    // Begins the file, or cuts off what was written after the state was saved.
    void start();
    // Removes the file and the state, if this run made them.
    void undo_open();

    // The most bytes that it writes from here on: after begin() all that its files take, after open() what is left.
    double disk() {
        const auto chain = [this](StateVisitor& v) { visit(v, state_.temperature); };
        return finished() && saved_ ? 0 : disk_of_chain(*plan_, facts_, chain, state_.draws);
    }
    // The bytes of the copy that start() makes of the file if the number of draws in its header changes. It takes the
    // place of the file before the next chain makes its own.
    double copy() const;
    bool finished() const { return state_.steps >= plan_->steps(); }
    std::int64_t steps() const { return state_.steps; }

    // Makes steps until the chain is finished, its time is over or stop() is true. A step of many gradients is stopped
    // in its middle; the chain is then where it was after the step before.
    void advance(double seconds, const std::function<bool()>& stop, RunProgress& progress);

    // Writes everything to the disk, and the end of the file, and closes it. After an error the saved state stays that
    // of the last flush, and the file is closed even if this throws.
    void close(bool after_error);

    ChainRecord& record() { return record_; }
    // The checksums of the rows in the file.
    const RowChecksums& rows() const { return state_.rows; }
    const ChainFacts& facts() const { return facts_; }
    // Whether it was restored from a saved state.
    bool resumed() const { return saved_; }
    const std::string& file() const { return csv_path_; }

  private:
    // chain_runner.cpp
    bool step();
    void add_energy(double hamiltonian);
    void visit(StateVisitor& visitor, TemperatureSums& temperature);
    DrawRecord add_row(const StepStatistics& statistics, bool draw);
    void append_rows();
    void flush();
    void end_file(bool after_error);
    void close_record(bool after_error);
    double step_size_now() const;
    ChainStatus status() const;
    // chain_resume.cpp
    void check_fresh();
    void restore();
    void check_restored(const RunState& begun) const;
    std::string top_of_file() const;
    void read_back(std::int64_t bytes);
    std::string header(std::int64_t draws) const;
    ReadLimits limits() const;
    RunDescription about() const;

    const RunPlan* plan_;
    std::uint32_t chain_;
    std::unique_ptr<AnyChain> any_;
    double* values_;
    Report report_;
    ChainFacts facts_;
    std::vector<double> row_;
    std::string text_;  // rows that are not in the file yet
    std::string csv_path_, state_path_;
    ChainFile file_;
    bool created_ = false, saved_ = false;  // this run made the file; it was restored from a saved state
    std::string top_;                       // the header of the file that is resumed, until start()
    RunState state_;
    ChainRecord record_;
    // Of the present phase, for the progress.
    double acceptance_sum_ = 0, last_step_size_ = 0;
    std::int64_t acceptance_count_ = 0;
    const std::function<bool()>* stop_ = nullptr;  // while it advances
    double last_flush_ = 0, flush_pause_ = 0;
    std::int64_t flushed_steps_ = 0, steps_a_look_ = 1;
};

// Seconds to wait after a flush that took so long, so that a run spends little of its time with its files.
double pause_after_flush(double seconds);

}  // namespace pollen::detail
