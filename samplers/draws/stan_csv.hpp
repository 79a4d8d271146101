#pragma once

#include <pollen/data/io/file.hpp>
#include <pollen/samplers/draws/draws.hpp>

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

// Files of draws in the layout of CmdStan, one a chain, which ArviZ, rstan, posterior, bayesplot and coda read. Columns
// are named with indices from 1, the first one fastest (theta.1, w.1.1, w.2.1, ...); those that end in __ are about the
// sampler: lp__, accept_stat__, stepsize__, treedepth__, n_leapfrog__ (gradients), divergent__ and energy__, as far as
// it has them. If draws have weights, there is also weight__, which CmdStan does not have.
//
// Dots have a meaning in such names: a quantity called 0.weight has columns 0_weight.1.1, ...
namespace pollen {

// What the first lines of a file say.
struct StanCsvHeader {
    std::string model = "model";
    std::string sampler = {};  // its own description, in a line of its own
    std::int64_t chain = 1;    // counted from 1
    std::int64_t warmup = 0, draws = 0, thin = 1;
    bool save_warmup = false;
    std::uint64_t seed = 0;
    double radius = 2;
    std::string file = "chain_1.csv";
    ChainFacts facts = {};  // they say which columns there are
};

// Everything before the first row. Throws a ValueError for names that do not go into such a file.
std::string stan_csv_header(const StanCsvHeader& header, const std::vector<Quantity>& quantities);
// Between the rows of the warm-up and the draws; `size` is that of theta.
std::string stan_csv_adaptation(double step_size, std::span<const double> inverse_metric, std::int64_t size);
std::string stan_csv_footer(double warmup_seconds, double sampling_seconds);

// Turns draws into rows.
class StanCsvRows {
  public:
    explicit StanCsvRows(const std::vector<Quantity>& quantities);
    void append(std::string& text, const ChainFacts& facts, const StepStatistics& statistics, double weight,
                std::span<const double> values) const;

  private:
    std::vector<std::int64_t> order_;  // the place in a draw of each column's number; empty: the same place
};

// Files chain_1.csv, chain_2.csv, ... in a directory, each replaced as a whole or not at all. Returns their names.
// Throws a FileError if the next one is there, too: it would be read as one more chain.
std::vector<std::string> write_stan_csv(const std::string& directory, const Draws& draws, StanCsvHeader header = {});

// Reads such a file, ours or CmdStan's, row by row; it keeps one row in memory. Everything is checked, and a FileError
// names the line: numbers that no double holds, like 1e400, are refused, and so are a divergent__ that is neither 0 nor
// 1, a weight__ below 0, and a header that says num_samples twice. A last line without an end, which a crash may leave,
// is ignored. Blank lines may be at the beginning and at the end alone.
class StanCsvReader {
  public:
    // Reads the first `bytes` of the file, and nothing after them.
    explicit StanCsvReader(const std::string& path, const ReadLimits& limits = {},
                           std::int64_t bytes = std::numeric_limits<std::int64_t>::max());
    StanCsvReader(Bytes bytes, const std::string& name, const ReadLimits& limits = {});  // keeps a reference to bytes
    StanCsvReader(StanCsvReader&&) noexcept;
    ~StanCsvReader();

    const std::vector<Quantity>& quantities() const;
    const StanCsvHeader& header() const;
    // How many draws the header says there are; nothing if it does not say so. The file of a run that was interrupted
    // has fewer. More are refused.
    std::optional<std::int64_t> announced() const;

    struct Row {
        StepStatistics statistics;
        double weight = 1;
        bool warmup = false;
        std::vector<double> values;  // in the order of quantities(), each row-major
    };
    // False at the end. `values` false leaves Row::values empty and saves the time.
    bool next(Row& row, bool values = true);

    // What the comments so far say; NaN, or an empty vector, if they have not said it.
    double step_size() const;
    const std::vector<double>& inverse_metric() const;
    double warmup_seconds() const;
    double sampling_seconds() const;
    // At the end: whether a last row was ignored because its line has no end.
    bool cut_short() const;
    // What the header says of the run, in its own words: "thin" is "10", for example. "columns" names those of the
    // sampler. Chains of one run have the same, but for id and seed.
    const std::map<std::string, std::string>& settings() const;

  private:
    class File;
    std::unique_ptr<File> file_;
};

// The draws, without warm-up, of several chains of one run. All have as many as the shortest. If a file has fewer draws
// than its header says, or one that says no number ends within a row, `interrupted` is set, and the summary says so.
//
// A FileError says which files do not belong together: their headers differ in the model, the sampler or its settings,
// or two of them are the same chain, with the same id and seed. The seeds of our files must be the same; those of
// CmdStan's may differ, and with num_chains CmdStan gives the same id to all of its chains.
Draws read_stan_csv(std::span<const std::string> paths, const ReadLimits& limits = {});
// ... of one file, or of chain_1.csv, chain_2.csv, ... in a directory.
Draws read_stan_csv(const std::string& path, const ReadLimits& limits = {});

}  // namespace pollen
