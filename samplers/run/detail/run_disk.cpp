#include <pollen/samplers/run/detail/run_disk.hpp>

#include <pollen/data/io/detail/file_calls.hpp>
#include <pollen/samplers/draws/detail/statistics.hpp>

#include <algorithm>
#include <filesystem>
#include <system_error>

namespace pollen::detail {

namespace {

constexpr double entry = 160;  // bytes of an entry in the header of a state

// Counts the bytes of a state. A vector that is empty may get one number for each dimension.
class Counter final : public StateVisitor {
  public:
    explicit Counter(std::int64_t dimensions) : dimensions_(dimensions) {}
    void number(const char*, double&) override { bytes += entry + sizeof(double); }
    void integer(const char*, std::int64_t&) override { bytes += entry + sizeof(std::int64_t); }
    void vector(const char*, std::vector<float>& x) override { add(x); }
    void vector(const char*, std::vector<double>& x) override { add(x); }

    double bytes = 0;

  private:
    template <class T>
    void add(const std::vector<T>& x) {
        bytes += entry + static_cast<double>(x.empty() ? dimensions_ : std::ssize(x)) * sizeof(T);
    }
    std::int64_t dimensions_;
};

double row_bytes(const RunPlan& plan, const ChainFacts& facts) {
    double bytes = static_cast<double>(plan.value_count) * number_bytes;
    for (const StatisticColumn& column : statistic_columns) {
        if (!reports(facts, column.which)) continue;
        bytes += column.type == StatisticColumn::Type::number ? number_bytes
                 : column.type == StatisticColumn::Type::flag ? 2
                                                              : 12;
    }
    return bytes;
}

}  // namespace

double disk_of_chain(const RunPlan& plan, const ChainFacts& facts, const VisitState& chain, std::int64_t saved) {
    const RunOptions& o = plan.options;
    const auto draws = static_cast<double>(o.draws), left = static_cast<double>(o.draws - saved),
               dimensions = static_cast<double>(plan.dimensions);
    const std::int64_t warmup = o.save_warmup && saved == 0 ? o.warmup / o.thin + 1 : 0;
    const double metric = facts.metric == MetricKind::dense      ? dimensions * dimensions
                          : facts.metric == MetricKind::diagonal ? dimensions
                                                                 : 0;
    double texts = 3000;  // the header of the file, what it says of the warm-up, and its end
    for (const auto& [name, text] : plan.about) texts += static_cast<double>(name.size() + text.size());
    const double rows = (left + static_cast<double>(warmup)) * row_bytes(plan, facts) + metric * number_bytes;
    Counter counter(plan.dimensions);
    chain(counter);
    // A number for each draw that met an energy which is not finite, and a checksum for each block of rows.
    const double state = counter.bytes + 40 * entry + draws * 8 + rows / RowChecksums::block * 8 + texts;
    return names_bytes(plan) + texts + rows + 2 * state;
}

void check_disk(const std::string& directory, double bytes, bool resumed) {
    std::error_code error;
    const std::filesystem::space_info space = file_calls().space(directory.c_str(), error);
    // A file system that does not know how much is free is not asked. Some say then that they have no space at all.
    if (error || space.capacity == 0 || space.available == static_cast<std::uintmax_t>(-1)) return;
    const auto available = static_cast<double>(space.available);
    if (bytes <= available) return;
    throw FileError(directory + ": the files of this run need up to " + bytes_text(bytes) + (resumed ? " more" : "") +
                    " of disk space, but only " + bytes_text(available) +
                    " are free; draw less, thin more, or choose another directory");
}

}  // namespace pollen::detail
