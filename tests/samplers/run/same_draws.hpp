#pragma once

#include <pollen/samplers/draws/draws.hpp>

#include <algorithm>
#include <bit>
#include <filesystem>
#include <string>

namespace pollen::test {

namespace same_draws_detail {

inline bool same(double a, double b) { return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b); }
template <class N>
bool same(N a, N b) {
    return a == b;
}
template <class N>
bool same(const std::vector<N>& a, const std::vector<N>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const N& x, const N& y) { return same(x, y); });
}
inline bool same(const BatchSums& a, const BatchSums& b) {
    bool all = a.count() == b.count();
    for (std::int64_t k = 0; all && k < a.count(); ++k)
        all = same(a.weight(k), b.weight(k)) && same(a.sum(k), b.sum(k));
    return all;
}

// What differs between two chains, but for their seconds; empty if nothing does.
inline std::string different(const ChainRecord& a, const ChainRecord& b) {
    std::string text;
    const auto check = [&](const char* name, const auto& x, const auto& y) {
        if (!same(x, y)) text += std::string(" ") + name;
    };
    check("chain", a.chain, b.chain);
    check("energy", a.energy, b.energy);
    check("hamiltonian", a.hamiltonian, b.hamiltonian);
    check("acceptance", a.acceptance, b.acceptance);
    check("step_size", a.step_size, b.step_size);
    check("weight", a.weight, b.weight);
    check("gradients", a.gradients, b.gradients);
    check("tree_depth", a.tree_depth, b.tree_depth);
    check("divergent", a.divergent, b.divergent);
    check("invalid", a.invalid, b.invalid);
    check("step_size_after_warmup", a.step_size_after_warmup, b.step_size_after_warmup);
    check("inverse_metric", a.inverse_metric, b.inverse_metric);
    check("steps", a.steps, b.steps);
    check("divergences", a.divergences, b.divergences);
    check("invalid_steps", a.invalid_steps, b.invalid_steps);
    check("deep_steps", a.deep_steps, b.deep_steps);
    check("gradient_count", a.gradient_count, b.gradient_count);
    check("ebfmi", a.ebfmi, b.ebfmi);
    check("kinetic", a.temperature.kinetic, b.temperature.kinetic);
    check("configurational", a.temperature.configurational, b.temperature.configurational);
    check("warmup_steps", a.warmup_steps, b.warmup_steps);
    return text;
}

}  // namespace same_draws_detail

// What differs between the draws of two runs, but for the seconds and the directory; empty if nothing does.
inline std::string different(const Draws& a, const Draws& b) {
    std::string text;
    const auto check = [&](const char* name, bool same) {
        if (!same) text += std::string(" ") + name;
    };
    check("quantities", std::equal(a.quantities.begin(), a.quantities.end(), b.quantities.begin(), b.quantities.end(),
                                   [](const Quantity& x, const Quantity& y) {
                                       return x.name == y.name && x.shape == y.shape && x.offset == y.offset;
                                   }));
    check("shape", a.values.shape() == b.values.shape());
    check("values", std::equal(a.values.begin(), a.values.end(), b.values.begin(), b.values.end(),
                               [](double x, double y) { return same_draws_detail::same(x, y); }));
    check("chains", a.chains.size() == b.chains.size());
    for (std::size_t c = 0; c < std::min(a.chains.size(), b.chains.size()); ++c)
        text += same_draws_detail::different(a.chains[c], b.chains[c]);
    const auto name = [](const std::string& path) { return std::filesystem::path(path).filename(); };
    check("files", std::equal(a.files.begin(), a.files.end(), b.files.begin(), b.files.end(),
                              [&](const auto& x, const auto& y) { return name(x) == name(y); }));
    check("row_checksums",
          std::equal(a.row_checksums.begin(), a.row_checksums.end(), b.row_checksums.begin(), b.row_checksums.end(),
                     [](const auto& x, const auto& y) { return x.bytes == y.bytes && x.sums == y.sums; }));
    check("dimensions", a.dimensions == b.dimensions);
    check("temperature", a.temperature == b.temperature);
    check("network", a.network == b.network);
    check("interrupted", a.interrupted == b.interrupted);
    check("warmup", a.warmup == b.warmup);
    check("thin", a.thin == b.thin);
    check("asked", a.asked == b.asked);
    check("incomplete", a.incomplete == b.incomplete);
    check("chains_of_run", a.chains_of_run == b.chains_of_run);
    check("elsewhere", a.elsewhere == b.elsewhere);
    if (a.values.rank() == 3 && b.values.rank() == 3) check("summary", summary(a) == summary(b));
    return text;
}

}  // namespace pollen::test
