#include <pollen/samplers/run/detail/run_plan.hpp>

#include <pollen/autograd/support/checks.hpp>
#include <pollen/data/io/detail/crc32.hpp>
#include <pollen/samplers/run/detail/model_facts.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>

namespace pollen::detail {

std::string bytes_text(double bytes) {
    const char* units[] = {"bytes", "kB", "MB", "GB", "TB", "PB", "EB"};
    std::size_t unit = 0;
    for (; bytes >= 999.5 && unit + 1 < std::size(units); ++unit) bytes /= 1000;
    char text[40];
    std::snprintf(text, sizeof text, unit == 0 ? "%.0f %s" : "%.3g %s", bytes, units[unit]);
    return text;
}

std::string RunMemory::text() const {
    return bytes_text(draws) + " of draws, " + (files > 0 ? bytes_text(files) + " of file buffers, " : "") +
           bytes_text(chains) + " of chains";
}

double names_bytes(const RunPlan& plan) {
    double names = 0;
    for (const Quantity& q : plan.quantities)
        names += static_cast<double>(q.shape.size()) * static_cast<double>(std::ssize(q.name) + 6 * q.shape.rank() + 1);
    return names;
}

// Rank 0 has the draws of all chains in the end.
RunMemory memory_of(const RunPlan& plan) {
    const RunOptions& o = plan.options;
    const auto chains = static_cast<double>(plan.own_chains()), draws = static_cast<double>(o.draws),
               values = static_cast<double>(plan.value_count),
               kept = plan.group().rank() == 0 ? static_cast<double>(plan.chains()) : chains;
    RunMemory memory;
    memory.draws = kept * draws * (5 * sizeof(double) + sizeof(std::int64_t) + sizeof(std::int32_t) + 2);
    if (o.keep) memory.draws += kept * draws * values * sizeof(double);
    if (!o.directory.empty()) {
        // Rows and the header; one chain at a time holds four headers.
        const double names = names_bytes(plan);
        memory.files = chains * (static_cast<double>(1 << 22) + values * number_bytes + names) + values * 8 + 3 * names;
    }
    // A state on its way to the disk is there three times: in the chain, as tensors, and as the bytes of the file.
    const double states = o.directory.empty() ? 1 : 3;
    memory.chains = chains * (states * plan.state_bytes + static_cast<double>(plan.dimensions) * sizeof(double));
    return memory;
}

std::string RunPlan::chains_text() const {
    std::string text = std::to_string(chains()) + " chains";
    if (chains() == options.chains) return text;
    return text + " (" + std::to_string(first_chain + 1) + " to " + std::to_string(first_chain + chains()) + " of " +
           std::to_string(options.chains) + ")";
}

RunDescription RunPlan::about_chain(std::int64_t chain) const {
    RunDescription texts = about;
    texts.emplace_back("chain", std::to_string(chain) + " of " + std::to_string(options.chains));
    return texts;
}

std::string RunPlan::file(std::int64_t chain, const char* ending) const {
    return (std::filesystem::path(options.directory) / ("chain_" + std::to_string(chain) + ending)).string();
}

namespace {

// The chains that are run, for ranks whose shares differ by one chain at most. The first ranks have one more, so rank 0
// is never without.
Shares shares_of(std::int64_t chains, int ranks) {
    std::vector<std::int64_t> begins{0};
    for (int rank = 0; rank < ranks; ++rank) begins.push_back(begins.back() + chains / ranks + (rank < chains % ranks));
    return Shares(std::move(begins));
}

void check_range(const RunOptions& o) {
    const std::int64_t first = o.first_chain, last = o.last_chain;
    if ((first != 0 || last != 0) && !(1 <= first && first <= last && last <= o.chains))
        throw ValueError("run_chains: first_chain is " + std::to_string(first) + " and last_chain " +
                         std::to_string(last) + "; they are 1 to " + std::to_string(o.chains) +
                         ", the first one not above the last one, or 0 and 0 for all");
}

// What makes the chains of a sampler smaller, by its options.
std::string advice_for(const std::string& sampler) {
    if (sampler.find("metric = dense") != sampler.npos) return "take a diagonal metric, or run fewer chains";
    if (sampler.find("form = full") != sampler.npos) return "take the diagonal form, or run fewer chains";
    return "run fewer chains";
}

void need(bool good, const std::string& what) {
    if (!good) throw ValueError("run_chains: " + what);
}

void between(const char* name, std::int64_t n, std::int64_t least, std::int64_t most) {
    need(n >= least, std::string(name) + " is " + std::to_string(n) +
                         (least == 0 ? "; it must not be negative" : "; at least 1 is needed"));
    need(n <= most,
         std::string(name) + " is " + std::to_string(n) + "; at most " + std::to_string(most) + " are possible");
}

void check(const RunPlan& plan) {
    const RunOptions& o = plan.options;
    between("warmup", o.warmup, 0, 1'000'000'000'000);
    between("thin", o.thin, 1, 1'000'000);
    between("draws", o.draws, 0, 1'000'000'000'000);
    between("flush_every", o.flush_every, 0, 1'000'000'000'000);
    const double radius = o.radius.value_or(2);
    need(radius >= 0 && std::isfinite(radius), "radius is " + to_text(radius) + "; it must be a number from 0 up");
    need(plan.dimensions > 0, "the potential has no parameters");
    need(o.starts.size() <= 1 || std::ssize(o.starts) == o.chains,
         std::to_string(o.starts.size()) + " starts for " + std::to_string(o.chains) +
             " chains; one a chain, or one for all, is needed");
    for (std::size_t c = 0; c < o.starts.size(); ++c)
        need(std::ssize(o.starts[c]) == plan.dimensions, "start " + std::to_string(c + 1) + " has " +
                                                             std::to_string(o.starts[c].size()) +
                                                             " numbers; theta has " + std::to_string(plan.dimensions));
    need(!o.directory.empty() || !o.resume, "resume needs a directory");
    need(!o.directory.empty() || !o.save_warmup, "save_warmup needs a directory");
    need(!o.directory.empty() || o.keep, "keep = false needs a directory for the draws to go to");
    const RunMemory memory = memory_of(plan);
    need(memory.total() <= static_cast<double>(o.max_memory),
         plan.chains_text() + " of " + std::to_string(o.draws) + " draws of " + std::to_string(plan.value_count) +
             " numbers need " + bytes_text(memory.total()) + " of memory (" + memory.text() + ")" +
             (plan.shares.ranks() > 1 ? " on one rank" : "") + ", more than max_memory, " +
             bytes_text(static_cast<double>(o.max_memory)) + "; " +
             (memory.chains > memory.draws + memory.files ? advice_for(plan.sampler)
              : o.keep ? "draw less, thin more, or let draws go to a directory alone (keep = false)"
                       : "draw less, thin more, or run fewer chains"));
}

std::string starts_text(const RunOptions& o, bool potential_has_its_own) {
    if (o.starts.empty() && !o.radius && potential_has_its_own) return "the potential's own";
    if (o.starts.empty()) return "within " + to_text(o.radius.value_or(2));
    Crc32 sum;
    for (const std::vector<double>& start : o.starts) sum.add(start.data(), start.size() * sizeof(double));
    return std::to_string(o.starts.size()) + " given (" + std::to_string(sum.sum()) + ")";
}

}  // namespace

template <Real T>
RunPlan make_plan(const Potential<T>& potential, const std::string& sampler, const RunOptions& options,
                  const std::vector<Quantity>& extra, double state_bytes, bool facts) {
    std::vector<Quantity> all = potential.quantities();
    std::int64_t value_count = potential.value_count();
    for (const Quantity& q : extra) {
        all.push_back({q.name, q.shape, value_count});
        value_count += q.shape.size();
    }
    between("chains", options.chains, 1, 100'000);
    check_range(options);
    const std::int64_t first = std::max<std::int64_t>(options.first_chain, 1),
                       last = options.last_chain > 0 ? options.last_chain : options.chains;
    const int ranks = options.group ? options.group->size() : 1;
    RunPlan plan{.options = options,
                 .sampler = sampler,
                 .precision = sizeof(T) == sizeof(float) ? "float" : "double",
                 .quantities = all,
                 .value_count = value_count,
                 .dimensions = potential.size(),
                 .state_bytes = state_bytes,
                 .temperature = potential.temperature(),
                 .one_at_a_time = potential.one_at_a_time(),
                 .network = potential.of_network(),
                 .rows = StanCsvRows(options.directory.empty() ? std::vector<Quantity>{} : all),
                 .first_chain = first - 1,
                 .shares = shares_of(last - first + 1, ranks)};
    std::string quantities;
    for (const Quantity& q : plan.quantities)
        quantities += (quantities.empty() ? "" : " ") + q.name + to_string(q.shape);
    plan.about = {{"model", potential.describe()},
                  {"numbers of type", plan.precision},
                  {"temperature", to_text(potential.temperature())},
                  {"quantities", quantities},
                  {"sampler", sampler},
                  {"seed", std::to_string(options.seed)},
                  {"chains", std::to_string(options.chains)},
                  {"warmup", std::to_string(options.warmup)},
                  {"thin", std::to_string(options.thin)},
                  {"save_warmup", options.save_warmup ? "yes" : "no"},
                  {"starts", starts_text(options, !potential.start(options.seed, 0).empty())},
                  {"name", options.name}};
    check(plan);
    if (!options.directory.empty() || facts)
        for (auto& fact : model_facts(potential)) plan.about.push_back(std::move(fact));
    return plan;
}

template RunPlan make_plan(const Potential<float>&, const std::string&, const RunOptions&, const std::vector<Quantity>&,
                           double, bool);
template RunPlan make_plan(const Potential<double>&, const std::string&, const RunOptions&,
                           const std::vector<Quantity>&, double, bool);

}  // namespace pollen::detail
