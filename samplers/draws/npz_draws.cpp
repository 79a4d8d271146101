#include <pollen/samplers/draws/npz_draws.hpp>

#include <pollen/autograd/support/error.hpp>
#include <pollen/data/formats/npz.hpp>

#include <algorithm>

namespace pollen {

void write_npz_draws(const std::string& path, const Draws& draws) {
    if (draws.values.rank() != 3)
        throw ValueError("write_npz_draws: the values of the draws are not in memory (keep = false)");
    NpzArrays arrays;
    for (const Quantity& q : draws.quantities) arrays.emplace_back(q.name, draws[q.name]);
    const auto whole = [](const Tensor<double>& x) { return cast<std::int32_t>(x); };
    Tensor<double> lp = draws.statistic(&ChainRecord::energy);
    for (double& x : lp.mutable_values()) x = -x;
    arrays.emplace_back("lp__", lp);
    if (draws.facts.acceptance) arrays.emplace_back("accept_stat__", draws.statistic(&ChainRecord::acceptance));
    arrays.emplace_back("stepsize__", draws.statistic(&ChainRecord::step_size));
    if (draws.facts.max_tree_depth > 0)
        arrays.emplace_back("treedepth__", whole(draws.statistic(&ChainRecord::tree_depth)));
    arrays.emplace_back("n_leapfrog__", whole(draws.statistic(&ChainRecord::gradients)));
    if (draws.facts.hamiltonian) {
        arrays.emplace_back("divergent__", whole(draws.statistic(&ChainRecord::divergent)));
        arrays.emplace_back("energy__", draws.statistic(&ChainRecord::hamiltonian));
    }
    arrays.emplace_back("invalid__", whole(draws.statistic(&ChainRecord::invalid)));
    if (draws.facts.weighted) arrays.emplace_back("weight__", draws.statistic(&ChainRecord::weight));
    write_npz(path, arrays);
}

}  // namespace pollen
