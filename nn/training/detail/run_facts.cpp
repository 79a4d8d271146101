#include <pollen/nn/training/detail/run_facts.hpp>

#include <pollen/autograd/support/checks.hpp>
#include <pollen/data/io/detail/crc32.hpp>
#include <pollen/data/io/detail/xxh64.hpp>
#include <pollen/nn/module/walk.hpp>

#include <algorithm>

namespace pollen::detail {

namespace {

// The layers of a network, one after the other: what a saved run belongs to.
template <Real T>
std::string architecture(const Module<T>& net) {
    std::string text;
    each_module(net, [&](const std::string&, const Module<T>& module) {
        text += (text.empty() ? "" : " ") + module.details();
        return true;
    });
    return text;
}

// "(60000, 784) 3f8a..."
template <class T>
std::string tensor_text(const Tensor<T>& numbers) {
    return to_string(numbers.shape()) + " " + hash_text(xxh64(std::as_bytes(numbers.values())));
}

template <Real T>
void add_data(std::map<std::string, std::string>& to, const std::string& set, const Dataset<T>& data) {
    to[set + " inputs"] = tensor_text(data.inputs);
    to[set + " targets"] = tensor_text(data.targets);
    to[set + " labels"] = tensor_text(data.labels);
}

}  // namespace

template <Real T>
RunFacts run_facts(const Module<T>& net, const Likelihood<T>& likelihood, const Dataset<T>& data,
                   const TrainOptions& options, const Dataset<T>* validation, std::int64_t per_epoch) {
    RunFacts facts;
    facts.options = {{"network", architecture(net)},
                     {"numbers of type", sizeof(T) == sizeof(float) ? "float" : "double"},
                     {"optimiser", options.optimiser.describe()},
                     {"likelihood", likelihood.describe() + own_priors<T>(likelihood)},
                     {"seed", std::to_string(options.seed)},
                     {"items", std::to_string(data.size())},
                     {"validation items", validation ? std::to_string(validation->size()) : "none"},
                     {"watch", options.watch == TrainOptions::Watch::score ? "score" : "loss"},
                     {"batch", std::to_string(options.batch)},
                     {"draw", options.draw == Draw::epoch ? "epoch" : "fresh"},
                     {"shift", std::to_string(options.augmentation.shift)},
                     {"flip", options.augmentation.flip ? "yes" : "no"},
                     {"prior", options.prior.describe() + own_priors<T>(net)},
                     {"clip_norm", to_text(options.clip_norm)},
                     {"kl", options.kl.describe()},
                     {"samples", std::to_string(options.samples)}};
    add_data(facts.data, "training", data);
    if (validation) add_data(facts.data, "validation", *validation);
    facts.batch = std::min(options.batch, data.size());
    facts.per_epoch = per_epoch;
    facts.steps = options.epochs * per_epoch;
    facts.memories = options.optimiser.memories();
    facts.validation = validation != nullptr;
    return facts;
}

template RunFacts run_facts(const Module<float>&, const Likelihood<float>&, const Dataset<float>&, const TrainOptions&,
                            const Dataset<float>*, std::int64_t);
template RunFacts run_facts(const Module<double>&, const Likelihood<double>&, const Dataset<double>&,
                            const TrainOptions&, const Dataset<double>*, std::int64_t);

}  // namespace pollen::detail
