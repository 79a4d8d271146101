#include <pollen/nn/training/detail/run_facts.hpp>

#include <pollen/autograd/support/checks.hpp>
#include <pollen/data/io/detail/hash_text.hpp>
#include <pollen/nn/module/walk.hpp>

#include <algorithm>

namespace pollen::detail {

namespace {

template <Real T>
void add_data(std::map<std::string, std::string>& to, const std::string& set, const Dataset<T>& data) {
    to[set + " inputs"] = hash_text(data.inputs);
    to[set + " targets"] = hash_text(data.targets);
    to[set + " labels"] = hash_text(data.labels);
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
    facts.epoch_items = options.draw == Draw::epoch ? data.size() : per_epoch * facts.batch;
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
