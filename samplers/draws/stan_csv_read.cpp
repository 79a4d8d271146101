#include <pollen/samplers/draws/stan_csv.hpp>

#include <pollen/autograd/support/checks.hpp>
#include <pollen/autograd/support/detail/errors_at.hpp>
#include <pollen/data/io/detail/printable.hpp>
#include <pollen/data/io/detail/text.hpp>
#include <pollen/samplers/draws/detail/csv_cell.hpp>
#include <pollen/samplers/draws/detail/lines.hpp>
#include <pollen/samplers/draws/detail/statistics.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <set>

namespace pollen {

namespace {

using detail::CsvColumn;
using detail::fits_double;
using detail::Lines;
using detail::parse_csv_column;
using detail::Statistic;
using detail::StatisticColumn;

constexpr double nothing = std::numeric_limits<double>::quiet_NaN();

std::string_view trim(std::string_view text) {
    while (!text.empty() && detail::is_blank(text.front())) text.remove_prefix(1);
    while (!text.empty() && detail::is_blank(text.back())) text.remove_suffix(1);
    return text;
}

template <class F>
void each_cell(std::string_view line, const F& f) {
    for (;;) {
        const std::size_t comma = line.find(',');
        f(trim(line.substr(0, comma)));
        if (comma == line.npos) return;
        line.remove_prefix(comma + 1);
    }
}

// What chains of one run have in common, apart from the model, the sampler and the seed.
constexpr std::array<std::string_view, 11> run_keys = {"num_warmup", "thin",   "algorithm",     "engine",
                                                       "max_depth",  "metric", "gamma",         "delta",
                                                       "kappa",      "t0",     "fresh_momentum"};
// Keys that say which rows there are, and whose.
constexpr std::array<std::string_view, 6> unique_keys = {"num_samples", "num_warmup", "save_warmup",
                                                         "thin",        "id",         "chain_id"};

template <std::size_t N>
bool is_one_of(std::string_view key, const std::array<std::string_view, N>& keys) {
    return std::find(keys.begin(), keys.end(), key) != keys.end();
}

}  // namespace

class StanCsvReader::File {
  public:
    template <class... Source>
    explicit File(Source&&... source) : lines(std::forward<Source>(source)...) {
        std::string_view line;
        bool found = false;
        while (!found && lines.next(line)) {
            if (trim(line).empty()) continue;
            if (line[0] == '#')
                comment(line);
            else
                columns(line), found = true;
        }
        if (!found) throw FileError(lines.name() + ": there is no line of column names; is it a file of draws?");
        header.draws = header.draws / header.thin + (header.draws % header.thin != 0);
        if (header.save_warmup) warmup_rows = header.warmup / header.thin + (header.warmup % header.thin != 0);
    }

    bool next(Row& row, bool values) {
        std::string_view line;
        while (lines.next(line)) {
            if (trim(line).empty()) {
                if (blank_line == 0) blank_line = lines.number;
                continue;
            }
            if (line[0] == '#') {
                comment(line);
                continue;
            }
            if (blank_line > 0) detail::fail_at_line(lines.name(), blank_line, "is blank, and rows of draws follow it");
            if (announced && rows - warmup_rows >= header.draws)
                lines.fail("is a row too many: the header announces " + std::to_string(header.draws) + " draws");
            parse(line, row, values);
            row.warmup = rows++ < warmup_rows;
            return true;
        }
        const std::string_view rest = trim(lines.rest());
        row_cut = !rest.empty() && rest[0] != '#';
        return false;
    }

    Lines lines;
    std::vector<Quantity> quantities;
    StanCsvHeader header;
    double adapted = nothing, warmup_seconds = nothing, sampling_seconds = nothing;
    std::vector<double> inverse_metric;
    std::map<std::string, std::string> settings;
    bool announced = false;  // the header has the number of draws
    bool row_cut = false;

  private:
    double number(std::string_view text, const std::string& field) const {
        double x = 0;
        if (!detail::parse_number(text, x)) lines.fail(field + ": " + detail::printable(text) + " is not a number");
        if (!fits_double(text, x)) lines.fail(field + ": " + detail::printable(text) + " " + detail::range_text(x));
        return x;
    }
    std::int64_t count(std::string_view text, const std::string& field, std::int64_t least) const {
        std::int64_t n = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
        if (error != std::errc() || end != text.data() + text.size() || n < least)
            lines.fail(field + ": " + detail::printable(text) + " is not a whole number from " + std::to_string(least) +
                       " up");
        return n;
    }

    bool flag(std::string_view text, const char* field) const {
        const bool yes = text == "1" || text == "true";
        if (!yes && text != "0" && text != "false")
            lines.fail(std::string(field) + ": " + detail::printable(text) + " is not 0, 1, false or true");
        return yes;
    }
    MetricKind metric(std::string_view text) const {
        if (text == "dense_e") return MetricKind::dense;
        if (text == "diag_e") return MetricKind::diagonal;
        if (text == "unit_e") return MetricKind::unit;
        lines.fail("metric: " + detail::printable(text) + " is not dense_e, diag_e or unit_e");
    }

    void comment(std::string_view line) {
        line.remove_prefix(1);
        if (in_metric) {
            const std::string_view numbers = trim(line);
            double x = 0;
            // The block ends with the first line that does not begin with a number.
            if (!numbers.empty() && detail::parse_number(trim(numbers.substr(0, numbers.find(','))), x)) {
                each_cell(numbers, [&](std::string_view cell) { inverse_metric.push_back(number(cell, "metric")); });
                return;
            }
            in_metric = false;
        }
        if (line.find("inverse mass matrix:") != line.npos) {
            in_metric = inverse_metric.empty();
            return;
        }
        if (const std::size_t seconds = line.find(" seconds ("); seconds != line.npos) {
            std::string_view before = trim(line.substr(0, seconds));
            const std::size_t blank = before.rfind(' ');
            if (blank != before.npos) before.remove_prefix(blank + 1);
            if (line.find("(Warm-up)") != line.npos) warmup_seconds = number(before, "Elapsed Time");
            if (line.find("(Sampling)") != line.npos) sampling_seconds = number(before, "Elapsed Time");
            return;
        }
        const std::size_t equals = line.find('=');
        if (equals == line.npos) return;
        const std::string_view key = trim(line.substr(0, equals));
        std::string_view value = trim(line.substr(equals + 1));
        if (key == "Step size") adapted = number(value, "Step size");
        if (columns_read) return;
        if (key == "model" || key == "sampler") {
            (key == "model" ? header.model : header.sampler) = value;
            return;
        }
        if (value.ends_with("(Default)")) value = trim(value.substr(0, value.size() - 9));
        keep_setting(key, value);
        if (key == "num_warmup") header.warmup = count(value, "num_warmup", 0);
        if (key == "num_samples") header.draws = count(value, "num_samples", 0), announced = true;
        if (key == "thin") header.thin = count(value, "thin", 1);
        if (key == "id" || key == "chain_id") header.chain = count(value, "id", 0);
        if (key == "max_depth") max_depth = std::min<std::int64_t>(count(value, "max_depth", 0), 1'000'000);
        if (key == "save_warmup") header.save_warmup = flag(value, "save_warmup");
        if (key == "metric") header.facts.metric = metric(value);
        if (key == "delta") header.facts.target_acceptance = number(value, "delta");
        if (key == "gamma") header.facts.gamma = number(value, "gamma");
        if (key == "kappa") header.facts.kappa = number(value, "kappa");
        if (key == "t0") header.facts.t0 = number(value, "t0");
        if (key == "fresh_momentum") header.facts.fresh_momentum = flag(value, "fresh_momentum");
        if (key == "stepsize") header.facts.step_size = number(value, "stepsize");
        if (key == "seed") std::from_chars(value.data(), value.data() + value.size(), header.seed);
        if (key == "file") header.file = value;
    }

    void keep_setting(std::string_view key, std::string_view value) {
        if (is_one_of(key, unique_keys) && !keys_read.insert(std::string(key)).second)
            lines.fail(std::string(key) + " comes twice");
        if (key == "chain_id") key = "id";
        // Honest values of these are short.
        if (is_one_of(key, run_keys) || key == "id" || key == "seed" || key == "method" || key == "num_chains")
            settings[std::string(key)] = value.substr(0, 100);
    }

    void columns(std::string_view line) {
        std::vector<std::string_view> names;
        const auto cells = static_cast<std::size_t>(std::count(line.begin(), line.end(), ',')) + 1;
        take_memory(cells * (sizeof(std::string_view) + 2 * sizeof(std::int64_t)));
        names.reserve(cells);
        each_cell(line, [&](std::string_view cell) { names.push_back(cell); });
        std::size_t k = 0;
        for (; k < names.size() && names[k].ends_with("__"); ++k) {
            const auto at = std::find_if(detail::statistic_columns.begin(), detail::statistic_columns.end(),
                                         [&](const StatisticColumn& column) { return column.stan == names[k]; });
            const StatisticColumn* column = at == detail::statistic_columns.end() ? nullptr : &*at;
            if (column && has(column->which)) lines.fail("the column " + std::string(names[k]) + " comes twice");
            statistics.push_back(column);
            if (column) settings["columns"] += (settings["columns"].empty() ? "" : ",") + std::string(names[k]);
        }
        header.facts.acceptance = has(Statistic::acceptance);
        header.facts.hamiltonian = has(Statistic::hamiltonian);
        header.facts.weighted = has(Statistic::weight);
        header.facts.max_tree_depth = has(Statistic::tree_depth) ? max_depth : 0;
        if (statistics.empty() || !statistics[0] || statistics[0]->which != Statistic::lp)
            lines.fail("the first column is " + detail::printable(names[0]) + "; lp__ is expected in a file of draws");
        std::set<std::string_view> known;
        std::int64_t offset = 0;
        while (k < names.size()) {
            const CsvColumn first = parse_csv_column(names[k]);
            if (names[k].empty() || names[k].ends_with("__") || !known.insert(first.base).second)
                lines.fail("column " + std::to_string(k + 1) + " (" + detail::printable(names[k]) +
                           ") is out of place or comes twice");
            std::size_t end = k + 1;
            while (end < names.size() && first.rank > 0 && parse_csv_column(names[end]).base == first.base) ++end;
            add_quantity(std::span(names).subspan(k, end - k), first, offset);
            offset += static_cast<std::int64_t>(end - k);
            k = end;
        }
        columns_read = true;
    }

    // The columns of one quantity: its shape is that of the last one's index, and they come column-major.
    void add_quantity(std::span<const std::string_view> names, const CsvColumn& first, std::int64_t offset) {
        take_memory(4 * sizeof(Quantity));  // with its copies in a vector that grows, and its place in `known`
        const std::string name(first.base);
        const auto rank = static_cast<std::size_t>(first.rank);
        const CsvColumn last = parse_csv_column(names.back());
        std::uint64_t size = 1;
        bool good = last.rank == first.rank;
        for (std::size_t a = 0; good && a < rank; ++a) {
            const auto n = static_cast<std::uint64_t>(last.index[a]);
            good = n <= names.size() / size;
            size *= good ? n : 1;
        }
        if (!good || size != names.size())
            lines.fail("the " + std::to_string(names.size()) + " columns of " + detail::printable(name) +
                       " are not those of an array up to " + detail::printable(names.back()));
        const Shape shape(std::span(last.index.data(), rank));
        std::array<std::int64_t, max_rank> index;
        index.fill(1);
        for (const std::string_view column : names) {
            const CsvColumn c = parse_csv_column(column);
            if (c.rank != first.rank || !std::equal(index.begin(), index.begin() + c.rank, c.index.begin()))
                lines.fail("the column " + detail::printable(column) +
                           " is out of place; the first index runs fastest, from 1");
            std::int64_t element = 0;
            for (std::size_t a = 0; a < rank; ++a) element = element * last.index[a] + c.index[a] - 1;
            places.push_back(offset + element);
            for (std::size_t a = 0; a < rank && ++index[a] > last.index[a]; ++a) index[a] = 1;
        }
        quantities.push_back({name, shape, offset});
    }

    // Counts memory for the columns, before it is taken.
    void take_memory(std::uint64_t bytes) {
        memory += bytes;
        if (memory > lines.memory())
            lines.fail("the columns take " + std::to_string(memory) + " bytes, " + lines.limit_text());
    }

    void parse(std::string_view line, Row& row, bool values) {
        const std::size_t width = statistics.size() + places.size();
        row.values.resize(values ? places.size() : 0);
        row.statistics = {};
        row.weight = 1;
        std::size_t k = 0;
        if (!values) {
            // The rest of the line is not looked at, but it has to be there.
            const auto cells = static_cast<std::size_t>(std::count(line.begin(), line.end(), ',')) + 1;
            if (cells != width) fail_width(cells);
        }
        for (std::string_view rest = line;;) {
            const std::size_t comma = rest.find(',');
            if (k < width && (values || k < statistics.size())) {
                const std::string_view cell = trim(rest.substr(0, comma));
                double x = 0;
                if (!detail::parse_number(cell, x) || ((x == 0 || std::isinf(x)) && !fits_double(cell, x)))
                    x = number(cell, "column " + std::to_string(k + 1));  // which says what is wrong
                if (k >= statistics.size())
                    row.values[static_cast<std::size_t>(places[k - statistics.size()])] = x;
                else if (statistics[k])
                    set(*statistics[k], x, row);
            }
            ++k;
            if (comma == rest.npos || (!values && k >= statistics.size())) break;
            rest.remove_prefix(comma + 1);
        }
        if (values && k != width) fail_width(k);
    }

    [[noreturn]] void fail_width(std::size_t cells) const {
        lines.fail("has " + std::to_string(cells) + " cells; there are " +
                   std::to_string(statistics.size() + places.size()) + " columns");
    }

    void set(const StatisticColumn& column, double x, Row& row) const {
        StepStatistics& s = row.statistics;
        const bool whole = x >= 0 && x <= 9e15 && static_cast<double>(static_cast<std::int64_t>(x)) == x;
        if (column.type == StatisticColumn::Type::whole && !whole) fail_value(column, x, "a whole number from 0 up");
        if (column.type == StatisticColumn::Type::flag && x != 0 && x != 1) fail_value(column, x, "0 or 1");
        switch (column.which) {
            case Statistic::lp:
                s.energy = -x;
                break;
            case Statistic::acceptance:
                s.acceptance = x;
                break;
            case Statistic::step_size:
                s.step_size = x;
                break;
            case Statistic::tree_depth:
                s.tree_depth = static_cast<std::int64_t>(std::min(x, 1e9));
                break;
            case Statistic::gradients:
                s.gradients = static_cast<std::int64_t>(x);
                break;
            case Statistic::divergent:
                s.divergent = x != 0;
                break;
            case Statistic::hamiltonian:
                s.hamiltonian = x;
                break;
            case Statistic::invalid:
                s.invalid = x != 0;
                break;
            case Statistic::weight:
                if (!(x >= 0) || std::isinf(x)) fail_value(column, x, "a finite number from 0 up");
                row.weight = x;
                break;
        }
    }

    [[noreturn]] void fail_value(const StatisticColumn& column, double x, const char* expected) const {
        lines.fail(std::string(column.stan) + " is " + to_text(x) + "; it must be " + expected);
    }

    bool has(Statistic which) const {
        return std::any_of(statistics.begin(), statistics.end(),
                           [&](const StatisticColumn* column) { return column && column->which == which; });
    }

    std::int64_t blank_line = 0;  // the number of the first blank line after the names of the columns
    std::vector<const StatisticColumn*> statistics;  // of the first columns; null for one of an unknown name
    std::vector<std::int64_t> places;                // where each column goes in a draw
    std::int64_t rows = 0, warmup_rows = 0, max_depth = 10;
    std::uint64_t memory = 0;         // for the columns
    std::set<std::string> keys_read;  // of unique_keys
    bool columns_read = false, in_metric = false;
};

StanCsvReader::StanCsvReader(const std::string& path, const ReadLimits& limits, std::int64_t bytes)
    : file_(detail::with_errors_at(path, [&] { return std::make_unique<File>(path, limits, bytes); })) {}
StanCsvReader::StanCsvReader(Bytes bytes, const std::string& name, const ReadLimits& limits)
    : file_(detail::with_errors_at(name, [&] { return std::make_unique<File>(bytes, name, limits); })) {}
StanCsvReader::StanCsvReader(StanCsvReader&&) noexcept = default;
StanCsvReader::~StanCsvReader() = default;

const std::vector<Quantity>& StanCsvReader::quantities() const { return file_->quantities; }
const StanCsvHeader& StanCsvReader::header() const { return file_->header; }
std::optional<std::int64_t> StanCsvReader::announced() const {
    return file_->announced ? std::optional(file_->header.draws) : std::nullopt;
}
bool StanCsvReader::next(Row& row, bool values) {
    return detail::with_errors_at(file_->lines.name(), [&] { return file_->next(row, values); });
}
double StanCsvReader::step_size() const { return file_->adapted; }
const std::vector<double>& StanCsvReader::inverse_metric() const { return file_->inverse_metric; }
double StanCsvReader::warmup_seconds() const { return file_->warmup_seconds; }
double StanCsvReader::sampling_seconds() const { return file_->sampling_seconds; }
bool StanCsvReader::cut_short() const { return file_->row_cut; }
const std::map<std::string, std::string>& StanCsvReader::settings() const { return file_->settings; }

}  // namespace pollen
