#include <pollen/samplers/draws/detail/statistics.hpp>

#include <limits>

namespace pollen::detail {

bool reports(const ChainFacts& facts, Statistic which) {
    switch (which) {
        case Statistic::acceptance:
            return facts.acceptance;
        case Statistic::tree_depth:
            return facts.max_tree_depth > 0;
        case Statistic::divergent:
        case Statistic::hamiltonian:
            return facts.hamiltonian;
        case Statistic::weight:
            return facts.weighted;
        default:
            return true;
    }
}

double value_of(Statistic which, const StepStatistics& s, double weight) {
    switch (which) {
        case Statistic::lp:
            return -s.energy;
        case Statistic::acceptance:
            return s.acceptance;
        case Statistic::step_size:
            return s.step_size;
        case Statistic::tree_depth:
            return static_cast<double>(s.tree_depth);
        case Statistic::gradients:
            return static_cast<double>(s.gradients);
        case Statistic::divergent:
            return s.divergent;
        case Statistic::hamiltonian:
            return s.hamiltonian;
        case Statistic::invalid:
            return s.invalid;
        case Statistic::weight:
            return weight;
    }
    return std::numeric_limits<double>::quiet_NaN();
}

Tensor<double> values_of(Statistic which, const Draws& draws) {
    switch (which) {
        case Statistic::acceptance:
            return draws.statistic(&ChainRecord::acceptance);
        case Statistic::step_size:
            return draws.statistic(&ChainRecord::step_size);
        case Statistic::tree_depth:
            return draws.statistic(&ChainRecord::tree_depth);
        case Statistic::gradients:
            return draws.statistic(&ChainRecord::gradients);
        case Statistic::divergent:
            return draws.statistic(&ChainRecord::divergent);
        case Statistic::hamiltonian:
            return draws.statistic(&ChainRecord::hamiltonian);
        case Statistic::invalid:
            return draws.statistic(&ChainRecord::invalid);
        case Statistic::weight:
            return draws.statistic(&ChainRecord::weight);
        case Statistic::lp:
            break;
    }
    Tensor<double> lp = draws.statistic(&ChainRecord::energy);
    for (double& x : lp.mutable_values()) x = -x;
    return lp;
}

}  // namespace pollen::detail
