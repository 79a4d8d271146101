#include <pollen/autograd/support/detail/errors_at.hpp>
#include <pollen/data/io/atomic_file.hpp>
#include <pollen/data/io/detail/file_place.hpp>
#include <pollen/data/io/detail/memory_budget.hpp>
#include <pollen/data/io/detail/printable.hpp>
#include <pollen/samplers/draws/detail/parts.hpp>
#include <pollen/samplers/draws/stan_csv.hpp>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <map>

namespace pollen {

namespace {

std::string chain_path(const std::string& directory, std::int64_t chain) {
    return (std::filesystem::path(directory) / ("chain_" + std::to_string(chain) + ".csv")).string();
}

// A file of another run would be read as one more chain of this one.
void check_no_other_chains(const std::string& directory, const Draws& draws) {
    const auto ours = [&](std::int64_t chain) {
        return std::any_of(draws.chains.begin(), draws.chains.end(),
                           [&](const ChainRecord& record) { return record.chain == chain; });
    };
    std::error_code ignored;
    for (std::int64_t chain = 1;; ++chain) {
        if (ours(chain)) continue;
        const std::string path = chain_path(directory, chain);
        if (!std::filesystem::exists(path, ignored)) return;
        throw FileError(path +
                        ": is there already, and is not one of these chains; remove it, or choose another "
                        "directory");
    }
}

std::vector<std::string> write_chains(const std::string& directory, const Draws& draws, StanCsvHeader header) {
    detail::check_here("write_stan_csv", draws);
    if (draws.values.rank() != 3)
        throw ValueError("write_stan_csv: the values of the draws are not in memory (keep = false)");
    make_directory(directory);
    check_no_other_chains(directory, draws);
    const StanCsvRows rows(draws.quantities);
    const std::int64_t width = draws.values.shape()[2];
    std::vector<std::string> files;
    header.draws = draws.size();
    header.save_warmup = false;
    header.facts = draws.facts;
    std::string text;
    for (std::size_t c = 0; c < draws.chains.size(); ++c) {
        const ChainRecord& r = draws.chains[c];
        header.chain = r.chain;
        files.push_back(chain_path(directory, r.chain));
        header.file = std::filesystem::path(files.back()).filename().string();
        AtomicFile file(files.back());
        file.write(stan_csv_header(header, draws.quantities));
        file.write(stan_csv_adaptation(r.step_size_after_warmup, r.inverse_metric,
                                       draws.dimensions > 0 ? draws.dimensions : std::ssize(r.inverse_metric)));
        for (std::int64_t i = 0; i < draws.size(); ++i) {
            const auto k = static_cast<std::size_t>(i);
            text.clear();
            rows.append(text, draws.facts,
                        {.energy = r.energy[k],
                         .hamiltonian = r.hamiltonian[k],
                         .acceptance = r.acceptance[k],
                         .step_size = r.step_size[k],
                         .gradients = r.gradients[k],
                         .tree_depth = r.tree_depth[k],
                         .divergent = r.divergent[k] != 0},
                        r.weight[k],
                        draws.values.values().subspan(
                            (c * static_cast<std::size_t>(draws.size()) + k) * static_cast<std::size_t>(width),
                            static_cast<std::size_t>(width)));
            file.write(text);
        }
        file.write(stan_csv_footer(r.warmup_seconds, r.sampling_seconds));
        file.commit();
    }
    return files;
}

// Finds files that are not chains of one run.
class OneRun {
  public:
    void add(const std::string& path, const StanCsvReader& reader) {
        std::map<std::string, std::string> said = reader.settings();
        const auto at = [&](const char* key) { return said.contains(key) ? said[key] : std::string(); };
        const std::string id = at("id"), seed = at("seed"), sampler = reader.header().sampler;
        // CmdStan gives the same id to all chains of one process.
        const bool id_counts = !id.empty() && (at("num_chains").empty() || at("num_chains") == "1");
        std::error_code ignored;
        for (const Member& m : members_)
            if (std::filesystem::equivalent(path, m.path, ignored)) throw FileError(path + ": is named twice");
        for (const char* key : {"id", "num_chains", "method"}) said.erase(key);
        if (sampler.empty()) said.erase("seed");  // CmdStan's chains may have seeds of their own
        said["model"] = reader.header().model;
        said["sampler"] = sampler;
        if (members_.empty()) first_ = said;
        check_same(path, said);
        const auto twin = std::find_if(members_.begin(), members_.end(),
                                       [&](const Member& m) { return id_counts && m.id == id && m.seed == seed; });
        if (twin != members_.end())
            throw FileError(path + ": its header says id = " + id + ", as that of " + twin->path +
                            " does; they are the same chain");
        members_.push_back({path, id_counts ? id : "", seed});
    }

  private:
    using Settings = std::map<std::string, std::string>;

    void check_same(const std::string& path, const Settings& said) const {
        const auto compare = [&](const std::string& key) {
            const auto value = [&](const Settings& all) {
                const auto at = all.find(key);
                return at == all.end() ? std::string() : at->second;
            };
            const std::string mine = value(said), other = value(first_);
            if (mine == other) return;
            // Long texts are shown from where they begin to differ.
            const auto same = std::mismatch(mine.begin(), mine.end(), other.begin(), other.end()).first - mine.begin();
            const auto shown = [&](const std::string& text) {
                if (text.empty()) return std::string("not said");
                return detail::printable(same > 30 ? "..." + text.substr(static_cast<std::size_t>(same - 20)) : text);
            };
            throw FileError(path + ": is not a chain of the same run as " + members_[0].path + ": " + key + " is " +
                            shown(mine) + " in it, and " + shown(other) + " in the other");
        };
        for (const char* key : {"model", "sampler", "columns"}) compare(key);
        for (const Settings* all : {&said, &first_})
            for (const auto& [key, ignored] : *all) compare(key);
    }

    struct Member {
        std::string path, id, seed;
    };
    std::vector<Member> members_;
    Settings first_;
};

// Why a file may hold fewer draws than the chain has made; empty if nothing says so. A file of a sampler always says
// how many draws it holds; one that was made by hand may not.
std::string missing_text(const StanCsvReader& reader, std::int64_t draws) {
    if (const auto announced = reader.announced())
        return draws < *announced ? "holds " + std::to_string(draws) + " of " + std::to_string(*announced) + " draws"
                                  : "";
    if (reader.cut_short()) return "ends with a row that has no line end and is not counted";
    const auto method = reader.settings().find("method");
    const bool sampled = method != reader.settings().end() && method->second == "sample";
    return sampled ? "does not say how many draws it holds" : "";
}

Draws read_all(std::span<const std::string> paths, const ReadLimits& limits) {
    if (paths.empty()) throw ValueError("read_stan_csv: no files are named");
    Draws draws;
    std::vector<std::vector<double>> values;
    std::uint64_t bytes = 0, size = 0;
    std::error_code ignored;
    OneRun run;
    for (const std::string& path : paths) {
        const std::uintmax_t of_file = std::filesystem::file_size(path, ignored);
        if (!ignored) size += of_file;
    }
    const std::uint64_t most = limits.memory(size);
    for (const std::string& path : paths) {
        StanCsvReader reader(path, limits);
        const auto same = [](const Quantity& a, const Quantity& b) { return a.name == b.name && a.shape == b.shape; };
        if (values.empty())
            draws.quantities = reader.quantities();
        else if (!std::equal(draws.quantities.begin(), draws.quantities.end(), reader.quantities().begin(),
                             reader.quantities().end(), same))
            throw FileError(path + ": its columns are not those of " + paths[0]);
        run.add(path, reader);
        ChainRecord& record = draws.chains.emplace_back();
        std::vector<double>& all = values.emplace_back();
        StanCsvReader::Row row;
        while (reader.next(row)) {
            if (row.warmup) continue;
            // Vectors that grow take up to three times what is in them.
            bytes += 3 * (row.values.size() + 9) * sizeof(double);
            if (bytes > most)
                throw FileError(path + ": the draws so far take " + std::to_string(bytes) + " bytes, " +
                                detail::limit_text(limits, size));
            all.insert(all.end(), row.values.begin(), row.values.end());
            record.add(row.statistics, row.weight);
            ++record.steps;
            record.divergences += row.statistics.divergent;
            const std::int64_t limit = reader.header().facts.max_tree_depth;
            record.deep_steps += limit > 0 && row.statistics.tree_depth >= limit;
            record.gradient_count += row.statistics.gradients;
        }
        record.chain = reader.header().chain;
        draws.asked = std::max(draws.asked, reader.announced().value_or(0));
        if (const std::string missing = missing_text(reader, record.draws()); !missing.empty())
            draws.incomplete.push_back("chain " + std::to_string(record.chain) + " " + missing);
        record.step_size_after_warmup = reader.step_size();
        record.inverse_metric = reader.inverse_metric();
        record.warmup_seconds = reader.warmup_seconds();
        record.sampling_seconds = reader.sampling_seconds();
        // Each chain may have a step size of its own; everything else is the same.
        const double step_size = draws.facts.step_size;
        draws.facts = reader.header().facts;
        if (draws.chains.size() > 1 && step_size != draws.facts.step_size)
            draws.facts.step_size = std::numeric_limits<double>::quiet_NaN();
        draws.thin = reader.header().thin;
        if (draws.facts.metric != MetricKind::dense && !record.inverse_metric.empty())
            draws.dimensions = std::ssize(record.inverse_metric);
    }
    std::int64_t shortest = std::numeric_limits<std::int64_t>::max();
    for (const ChainRecord& r : draws.chains) shortest = std::min(shortest, r.draws());
    const std::int64_t width = draws.value_count();
    draws.values = Tensor<double>::empty(Shape{std::ssize(values), shortest, width});
    double* to = draws.values.fresh_data();
    for (std::size_t c = 0; c < values.size(); ++c) {
        to = std::copy_n(values[c].data(), shortest * width, to);
        draws.chains[c].resize(shortest);
        values[c] = {};
    }
    draws.interrupted = !draws.incomplete.empty();
    draws.files.assign(paths.begin(), paths.end());
    return draws;
}

std::vector<std::string> chains_in(const std::string& directory) {
    std::vector<std::string> files;
    std::error_code ignored;
    for (;;) {
        std::string file = chain_path(directory, std::ssize(files) + 1);
        if (!std::filesystem::exists(file, ignored)) break;
        files.push_back(std::move(file));
    }
    if (files.empty()) throw FileError(directory + ": there is no chain_1.csv in it");
    return files;
}

}  // namespace

std::vector<std::string> write_stan_csv(const std::string& directory, const Draws& draws, StanCsvHeader header) {
    return detail::with_errors_at(directory, [&] { return write_chains(directory, draws, std::move(header)); });
}

Draws read_stan_csv(std::span<const std::string> paths, const ReadLimits& limits) {
    return detail::with_errors_at("read_stan_csv", [&] { return read_all(paths, limits); });
}

Draws read_stan_csv(const std::string& path, const ReadLimits& limits) {
    return detail::with_errors_at(path, [&] {
        detail::check_path(path);
        std::error_code ignored;
        const bool many = std::filesystem::is_directory(path, ignored);
        return read_stan_csv(many ? chains_in(path) : std::vector{path}, limits);
    });
}

}  // namespace pollen
