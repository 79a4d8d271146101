#include <pollen/autograd/support/error.hpp>
#include <pollen/samplers/diagnostics/detail/draws_math.hpp>

#include <cmath>
#include <string>

namespace pollen {

namespace {

void check_size(std::int64_t chains, std::int64_t draws) {
    if (chains < 1) throw ShapeError("Chains: there are no chains");
    if (draws < 1) throw ShapeError("Chains: there are no draws");
}

std::span<const double> row(std::span<const double> values, std::int64_t chains, std::int64_t c) {
    const std::size_t draws = values.size() / static_cast<std::size_t>(chains);
    return values.subspan(static_cast<std::size_t>(c) * draws, draws);
}

}  // namespace

Chains::Chains(const Tensor<double>& draws) {
    if (draws.rank() != 1 && draws.rank() != 2)
        throw ShapeError("Chains: draws are " + to_string(draws.shape()) + "; (chains, draws) or (draws) is expected");
    const std::int64_t chains = draws.rank() == 2 ? draws.shape()[0] : 1;
    check_size(chains, draws.shape()[draws.rank() - 1]);
    for (std::int64_t c = 0; c < chains; ++c) rows_.push_back(row(draws.values(), chains, c));
}

Chains::Chains(const std::vector<std::vector<double>>& chains) {
    check_size(std::ssize(chains), chains.empty() ? 0 : std::ssize(chains[0]));
    for (std::size_t c = 0; c < chains.size(); ++c) {
        if (chains[c].size() != chains[0].size())
            throw ShapeError("Chains: chain 0 has " + std::to_string(chains[0].size()) + " draws and chain " +
                             std::to_string(c) + " has " + std::to_string(chains[c].size()) +
                             "; all need the same number");
        rows_.emplace_back(chains[c]);
    }
}

Chains::Chains(std::span<const double> draws, std::int64_t chains) {
    check_size(chains, std::ssize(draws));
    if (std::ssize(draws) % chains != 0)
        throw ShapeError("Chains: " + std::to_string(draws.size()) + " draws cannot be " + std::to_string(chains) +
                         " chains of equal length");
    for (std::int64_t c = 0; c < chains; ++c) rows_.push_back(row(draws, chains, c));
}

std::vector<double> Chains::flatten() const {
    std::vector<double> values;
    values.reserve(static_cast<std::size_t>(size()));
    for (const std::span<const double> chain : rows_) values.insert(values.end(), chain.begin(), chain.end());
    return values;
}

double quantile(std::span<const double> x, double p) {
    detail::check_probability("quantile", p);
    if (x.empty()) throw ShapeError("quantile: there are no draws");
    return detail::any_nan(x) ? detail::nothing : detail::quantile_of_sorted(detail::sorted(x), p);
}

double ebfmi(std::span<const double> energies) {
    if (energies.size() < 2)
        throw ValueError("ebfmi: the number of energies is " + std::to_string(energies.size()) +
                         "; at least 2 are needed");
    const double centre = detail::mean(energies);
    double jumps = 0, spread = 0;
    for (std::size_t t = 0; t < energies.size(); ++t) {
        if (t > 0) jumps += (energies[t] - energies[t - 1]) * (energies[t] - energies[t - 1]);
        spread += (energies[t] - centre) * (energies[t] - centre);
    }
    return jumps / spread;
}

}  // namespace pollen
