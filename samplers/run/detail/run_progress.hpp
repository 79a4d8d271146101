#pragma once

#include <pollen/autograd/support/progress.hpp>

#include <cstdint>
#include <limits>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace pollen::detail {

// How far one chain is.
struct ChainStatus {
    std::int64_t steps = 0;
    bool warmup = true;
    double acceptance = std::numeric_limits<double>::quiet_NaN();  // the mean of the present phase
    double step_size = std::numeric_limits<double>::quiet_NaN();
    std::optional<std::int64_t> divergences = {};  // none: the sampler cannot diverge
};

// The progress of a chain: "sampling  45 %  12 s left  acceptance 0.87  step 0.312  0 divergences", or, if `brief`,
// "sampling  45 %  12 s left  accept 0.87  step 0.312  0 div". What the sampler does not have is left out.
std::string status_text(const ChainStatus& status, std::int64_t total, const std::string& time_left, bool brief);

// The same of all chains in one line, for more of them than a terminal has rows:
// "38 % of 200 chains: 180 in the warm-up, 20 sampling, 0 done, 0 div".
std::string all_text(std::span<const ChainStatus> chains, std::int64_t total);

// How far several chains are, on the standard error output: a line a chain that is written over and over on a terminal,
// at most some twenty plain lines for all of them in a log. May be called by all threads.
class RunProgress {
  public:
    // The chains have the numbers `number`, number + 1, ..., and have made `first` of `total` steps.
    RunProgress(Show show, std::vector<std::int64_t> first, std::int64_t total, std::int64_t number = 1);
    ~RunProgress();

    // Chain number + `chain` is that far.
    void update(std::size_t chain, const ChainStatus& status);
    ChainStatus status(std::size_t chain);
    void say(const std::string& text);

  private:
    void draw();
    std::string time_left(std::int64_t done, std::int64_t first, std::int64_t total) const;

    std::mutex mutex_;
    Show show_;
    std::int64_t total_, number_;  // steps of each chain; the first chain
    std::vector<std::int64_t> first_;
    std::vector<ChainStatus> chains_;
    double start_, last_;
    std::int64_t next_line_ = 0;
    bool shown_ = false;     // the lines of the chains stand on the terminal
    bool one_line_ = false;  // it is one for all of them
};

double seconds_now();

}  // namespace pollen::detail
