#pragma once

#include <pollen/samplers/draws/draws.hpp>

#include <array>

// The numbers that a sampler reports with each draw, as all files of draws have them.
namespace pollen::detail {

enum class Statistic { lp, acceptance, step_size, tree_depth, gradients, divergent, hamiltonian, invalid, weight };

struct StatisticColumn {
    enum class Type { number, whole, flag };

    Statistic which;
    const char *stan, *arviz;  // its names in CmdStan's files and in ArviZ
    Type type;
};

// In the order of the columns.
inline constexpr std::array<StatisticColumn, 9> statistic_columns = {{
    {Statistic::lp, "lp__", "lp", StatisticColumn::Type::number},
    {Statistic::acceptance, "accept_stat__", "acceptance_rate", StatisticColumn::Type::number},
    {Statistic::step_size, "stepsize__", "step_size", StatisticColumn::Type::number},
    {Statistic::tree_depth, "treedepth__", "tree_depth", StatisticColumn::Type::whole},
    {Statistic::gradients, "n_leapfrog__", "n_steps", StatisticColumn::Type::whole},
    {Statistic::divergent, "divergent__", "diverging", StatisticColumn::Type::flag},
    {Statistic::hamiltonian, "energy__", "energy", StatisticColumn::Type::number},
    {Statistic::invalid, "invalid__", "invalid", StatisticColumn::Type::flag},
    {Statistic::weight, "weight__", "weight", StatisticColumn::Type::number},
}};

// Whether a sampler with these facts reports it.
bool reports(const ChainFacts& facts, Statistic which);

// Its value in one step; lp is minus the energy.
double value_of(Statistic which, const StepStatistics& statistics, double weight);
// Its values in all draws, (chains, draws).
Tensor<double> values_of(Statistic which, const Draws& draws);

}  // namespace pollen::detail
