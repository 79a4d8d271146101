#include <pollen/samplers/run/read_run.hpp>

#include <pollen/autograd/support/checks.hpp>
#include <pollen/autograd/support/detail/errors_at.hpp>
#include <pollen/data/io/detail/printable.hpp>
#include <pollen/nn/potentials/detail/column_name.hpp>
#include <pollen/samplers/draws/detail/check_rows.hpp>
#include <pollen/samplers/draws/stan_csv.hpp>
#include <pollen/samplers/run/detail/chain_results.hpp>
#include <pollen/samplers/run/detail/chain_state.hpp>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <limits>
#include <utility>

namespace pollen {

namespace {

// A chain of the run, as its state describes it.
struct SavedChain {
    std::int64_t number = 0;
    std::string csv, state;
    detail::SavedState saved = {};
    std::int64_t asked = 0;  // draws, as the header of its file says

    const std::string& about(const std::string& name) const {
        const auto at = saved.about.find(name);
        if (at == saved.about.end()) throw FileError(state + ": metadata: there is no run." + name);
        return at->second;
    }
    template <class N>
    N number_about(const std::string& name) const {
        const std::string& text = about(name);
        N x{};
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), x);
        if (error != std::errc() || end != text.data() + text.size() || !(x >= 0))
            throw FileError(state + ": metadata: run." + name + ": " + detail::printable(text) +
                            " is not a number from 0 up");
        return x;
    }
};

// The number in a name such as chain_12.state; 0 if it is another name.
std::int64_t number_in(std::string_view name) {
    const std::string_view begin = "chain_", ending = ".state";
    if (!name.starts_with(begin) || !name.ends_with(ending) || name.size() <= begin.size() + ending.size()) return 0;
    name.remove_prefix(begin.size());
    name.remove_suffix(ending.size());
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
    const bool whole = error == std::errc() && end == name.data() + name.size() && name[0] != '0';
    return whole ? std::max<std::int64_t>(number, 0) : 0;
}

std::vector<SavedChain> find_chains(const std::string& directory) {
    std::vector<SavedChain> chains;
    std::error_code error;
    for (std::filesystem::directory_iterator at(directory, error), end; !error && at != end; at.increment(error)) {
        const std::int64_t number = number_in(at->path().filename().string());
        if (number == 0) continue;
        const auto path = std::filesystem::path(directory) / ("chain_" + std::to_string(number));
        chains.push_back({.number = number, .csv = path.string() + ".csv", .state = path.string() + ".state"});
    }
    if (error) throw FileError(directory + ": cannot be read: " + error.message());
    if (chains.empty()) throw FileError(directory + ": there is no state of a chain (chain_1.state, ...) in it");
    std::sort(chains.begin(), chains.end(), [](auto& a, auto& b) { return a.number < b.number; });
    return chains;
}

// Throws unless the chain belongs to the run of the first one.
void check_same_run(const SavedChain& chain, const SavedChain& first, std::int64_t chains) {
    const auto compare = [&](const std::string& name) {
        if (name == "chain") return;
        const std::string &mine = chain.about(name), &other = first.about(name);
        if (mine == other) return;
        // Long texts are shown from where they begin to differ.
        const auto same = std::mismatch(mine.begin(), mine.end(), other.begin(), other.end()).first - mine.begin();
        const auto shown = [&](const std::string& text) {
            return detail::printable(same > 30 ? "..." + text.substr(static_cast<std::size_t>(same - 20)) : text);
        };
        throw FileError(chain.state + ": is not a chain of the same run as " + first.state + ": " + name + " is " +
                        shown(mine) + " in it, and " + shown(other) + " in the other");
    };
    for (const auto* about : {&chain.saved.about, &first.saved.about})
        for (const auto& [name, ignored] : *about) compare(name);
    const std::string expected = std::to_string(chain.number) + " of " + std::to_string(chains);
    if (chain.about("chain") != expected)
        throw FileError(chain.state + ": is that of chain " + detail::printable(chain.about("chain")) + ", not of " +
                        expected);
}

// "chain 3 has 20 of 30 draws" for each chain that is not complete, "chains 5 to 8 are missing".
std::vector<std::string> missing_parts(const std::vector<SavedChain>& found, std::int64_t chains, std::int64_t asked) {
    std::vector<std::string> texts;
    std::int64_t next = 1;
    const auto skip_to = [&](std::int64_t number) {
        const std::int64_t first = std::exchange(next, number + 1), last = number - 1;
        if (first == last) texts.push_back("chain " + std::to_string(first) + " is missing");
        if (first < last)
            texts.push_back("chains " + std::to_string(first) + (first + 1 == last ? " and " : " to ") +
                            std::to_string(last) + " are missing");
    };
    for (const SavedChain& chain : found) {
        skip_to(chain.number);
        const detail::RunState& s = chain.saved.state;
        const auto warmup = chain.number_about<std::int64_t>("warmup");
        const std::string name = "chain " + std::to_string(chain.number);
        if (s.steps < warmup)
            texts.push_back(name + " has made " + std::to_string(s.steps) + " of " + std::to_string(warmup) +
                            " steps of its warm-up");
        else if (s.draws < asked)
            texts.push_back(name + " has " + std::to_string(s.draws) + " of " + std::to_string(asked) + " draws");
    }
    skip_to(chains + 1);
    return texts;
}

std::string joined(const std::vector<std::string>& texts) {
    constexpr std::size_t most = 8;
    std::string text;
    for (std::size_t k = 0; k < std::min(most, texts.size()); ++k) text += (k ? ", " : "") + texts[k];
    return texts.size() > most ? text + " and " + std::to_string(texts.size() - most) + " more" : text;
}

// The quantities under the names that the run has for them; those of a file have no dots.
std::vector<Quantity> named(std::vector<Quantity> quantities, const SavedChain& chain) {
    std::string_view rest = chain.about("quantities");
    for (Quantity& q : quantities) {
        const std::string name(rest.substr(0, q.name.size())), shape = to_string(q.shape);
        rest.remove_prefix(name.size());
        if (column_name("read_run", name) != q.name || !rest.starts_with(shape))
            throw FileError(chain.csv + ": its columns are not those of " + chain.state);
        rest.remove_prefix(std::min(rest.size(), shape.size() + 1));
        q.name = name;
    }
    if (!rest.empty()) throw FileError(chain.csv + ": its columns are not those of " + chain.state);
    return quantities;
}

// Reads the rows that the state speaks of; the values, if there is a place for them.
detail::ChainResult read_chain(const SavedChain& chain, const ReadLimits& limits, std::int64_t width, double* values) {
    const detail::RunState& state = chain.saved.state;
    const std::int64_t warmup = chain.number_about<std::int64_t>("warmup");
    std::int64_t end = detail::check_rows_of_file(chain.csv, state.rows, chain.state);
    // A chain that has just finished its warm-up says what it has adapted after these rows.
    if (state.steps == warmup) end = std::numeric_limits<std::int64_t>::max();
    detail::ChainResult result{.record = {}, .rows = state.rows, .file = chain.csv};
    ChainRecord& record = result.record;
    record.chain = chain.number;
    record.reserve(state.draws);
    StanCsvReader reader(chain.csv, limits, end);
    StanCsvReader::Row row;
    while (reader.next(row, values != nullptr)) {
        if (row.warmup) continue;
        if (record.draws() == state.draws) break;
        if (values) std::copy(row.values.begin(), row.values.end(), values + record.draws() * width);
        record.add(row.statistics, row.weight);
    }
    if (record.draws() != state.draws)
        throw FileError(chain.csv + ": does not hold the " + std::to_string(state.draws) + " draws that " +
                        chain.state + " speaks of");
    for (const std::uint64_t draw : state.invalid_draws) record.invalid[static_cast<std::size_t>(draw)] = 1;
    detail::put_into(record, state, warmup);
    if (state.steps == warmup) record.step_size_after_warmup = reader.step_size();
    record.inverse_metric = reader.inverse_metric();
    return result;
}

Draws read_all(const std::string& directory, const ReadRunOptions& options) {
    const ReadLimits limits{.max_bytes = std::max(ReadLimits{}.max_bytes, options.max_memory)};
    std::vector<SavedChain> found = find_chains(directory);
    const SavedChain& first = found.front();
    Draws draws;
    std::int64_t chains = 0;
    for (SavedChain& chain : found) {
        chain.saved = detail::read_saved(chain.state, limits);
        if (&chain == &first) chains = first.number_about<std::int64_t>("chains");
        check_same_run(chain, first, chains);
        if (chain.number > chains) throw FileError(chain.state + ": the run has " + std::to_string(chains) + " chains");
        const StanCsvReader reader(chain.csv, limits);
        const std::vector<Quantity> quantities = named(reader.quantities(), chain);
        if (&chain == &first) {
            draws.quantities = quantities;
            draws.facts = reader.header().facts;
        }
        draws.asked = std::max(draws.asked, reader.announced().value_or(0));
    }
    draws.dimensions = first.saved.dimensions;
    draws.temperature = first.number_about<double>("temperature");
    draws.network = first.saved.about.contains("network");
    draws.warmup = first.number_about<std::int64_t>("warmup");
    draws.thin = std::max<std::int64_t>(1, first.number_about<std::int64_t>("thin"));
    draws.incomplete = missing_parts(found, chains, draws.asked);
    draws.interrupted = !draws.incomplete.empty();
    if (draws.interrupted && !options.incomplete)
        throw FileError(directory + ": the run is not complete: " + joined(draws.incomplete) +
                        "; run or resume these chains, or accept what is there (ReadRunOptions::incomplete)");

    std::int64_t most = 0;
    for (const SavedChain& chain : found) most = std::max(most, chain.saved.state.draws);
    const std::int64_t count = std::ssize(found), width = draws.value_count();
    const double bytes = static_cast<double>(count) * static_cast<double>(most) *
                         static_cast<double>((options.keep ? width : 0) + 9) * sizeof(double);
    if (bytes > static_cast<double>(options.max_memory))
        throw ValueError("read_run: " + std::to_string(count) + " chains of " + std::to_string(most) + " draws of " +
                         std::to_string(width) + " numbers are more than max_memory, " +
                         std::to_string(options.max_memory) + " bytes");
    Tensor<double> values = Tensor<double>::empty(options.keep ? Shape{count, most, width} : Shape{0});
    std::vector<detail::ChainResult> results;
    for (const SavedChain& chain : found) {
        double* to = options.keep ? values.fresh_data() + std::ssize(results) * most * width : nullptr;
        results.push_back(read_chain(chain, limits, width, to));
    }
    detail::put_together(draws, std::move(results), std::move(values), most, options.keep);
    return draws;
}

}  // namespace

Draws read_run(const std::string& directory, const ReadRunOptions& options) {
    return detail::with_errors_at("read_run", [&] { return read_all(directory, options); });
}

}  // namespace pollen
