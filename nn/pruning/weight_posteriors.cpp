#include <pollen/nn/pruning/weight_posteriors.hpp>

#include <pollen/nn/variational/bayes.hpp>

#include <algorithm>

namespace pollen {

template <Real T>
std::vector<WeightPosterior<T>> weight_posteriors(const Module<T>& net) {
    std::vector<WeightPosterior<T>> list;
    Parameters<T>(net).check_values();
    for (const auto& [name, weight] : bayesian_weights(net))
        list.push_back({name, weight->posterior->mean_value(), weight->posterior->sd_value()});
    return list;
}

template <Real T>
void set_means(Module<T>& net, const std::vector<PrunedTensor<T>>& pruned) {
    for (const auto& [name, weight] : bayesian_weights(net)) {
        const auto at =
            std::find_if(pruned.begin(), pruned.end(), [&name = name](const auto& p) { return p.name == name; });
        if (at == pruned.end()) throw ValueError("set_means: there is nothing for the weights " + name);
        weight->posterior->set_mean(at->mean);
    }
}

#define POLLEN_INSTANTIATE(T)                                                     \
    template std::vector<WeightPosterior<T>> weight_posteriors(const Module<T>&); \
    template void set_means(Module<T>&, const std::vector<PrunedTensor<T>>&);
POLLEN_INSTANTIATE(float)
POLLEN_INSTANTIATE(double)

}  // namespace pollen
