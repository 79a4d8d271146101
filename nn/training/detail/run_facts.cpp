#include <pollen/nn/training/detail/run_facts.hpp>

#include <pollen/autograd/rows.hpp>
#include <pollen/autograd/support/checks.hpp>
#include <pollen/autograd/support/version.hpp>
#include <pollen/data/io/detail/hash_text.hpp>
#include <pollen/nn/module/walk.hpp>

#include <algorithm>

namespace pollen::detail {

namespace {

// "(60000, 784) 3f8a...", for numbers on one rank or on several.
template <class T>
std::string hash_all(const Tensor<T>& mine, const TrainOptions& options) {
    if (!options.spread) return hash_text(mine);
    const Spread& spread = *options.spread;
    const bool missing = mine.size() == 0 && mine.rank() == 1;
    const std::int64_t first = spread.first();
    const int rank = spread.group().rank();
    std::string hashes;
    for (std::int64_t k = spread.shares().first(rank); k < spread.shares().last(rank) && !missing; ++k)
        hashes += hash_text(rows(mine, spread.begin(k) - first, spread.begin(k + 1) - spread.begin(k))) + "\n";
    std::string all;
    for (const std::string& part : spread.group().gather(hashes)) all += part;
    return to_string(missing ? mine.shape() : with_rows(mine.shape(), spread.items())) + " " +
           hash_text(std::as_bytes(std::span(all)));
}

std::string shape_of_item(const auto& x) {
    return x.size() == 0 && x.rank() == 1 ? "none" : to_string(Shape(x.shape().sizes().subspan(1)));
}

}  // namespace

template <Real T>
RunFacts run_facts(const Module<T>& net, const Likelihood<T>& likelihood, const RunData<T>& data,
                   const TrainOptions& options, const Dataset<T>* validation, std::int64_t per_epoch) {
    RunFacts facts;
    facts.options = {{"network", architecture(net)},
                     {"numbers of type", sizeof(T) == sizeof(float) ? "float" : "double"},
                     {"optimiser", options.optimiser.describe()},
                     {"likelihood", likelihood.describe() + own_priors<T>(likelihood)},
                     {"seed", std::to_string(options.seed)},
                     {"items", std::to_string(data.items)},
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
    if (options.spread) facts.options["blocks"] = std::to_string(options.spread->blocks());
    facts.batch = std::min(options.batch, data.items);
    facts.epoch_items = options.draw == Draw::epoch ? data.items : per_epoch * facts.batch;
    facts.per_epoch = per_epoch;
    facts.steps = options.epochs * per_epoch;
    facts.memories = options.optimiser.memories();
    facts.validation = validation != nullptr;
    return facts;
}

template <Real T>
void add_data_facts(RunFacts& facts, const Dataset<T>& data, const TrainOptions& options,
                    const Dataset<T>* validation) {
    facts.data["training inputs"] = hash_all(data.inputs, options);
    facts.data["training targets"] = hash_all(data.targets, options);
    facts.data["training labels"] = hash_all(data.labels, options);
    if (!validation) return;
    facts.data["validation inputs"] = hash_text(validation->inputs);
    facts.data["validation targets"] = hash_text(validation->targets);
    facts.data["validation labels"] = hash_text(validation->labels);
}

template <Real T>
void agree_on_run(Group& group, const RunFacts& facts, const Dataset<T>& data, const TrainOptions& options) {
    std::map<std::string, std::string> all = facts.options;
    all.erase("validation items");
    all["version of pollen"] = version();
    all["epochs"] = std::to_string(options.epochs);
    all["patience"] = std::to_string(options.patience);
    all["checkpoint_every"] = std::to_string(options.checkpoint_every);
    all["shape of an input"] = shape_of_item(data.inputs);
    all["shape of a target"] = shape_of_item(data.targets);
    all["shape of a label"] = shape_of_item(data.labels);
    for (const auto& [name, text] : all) group.agree("the " + name + " of train()", text);
}

#define POLLEN_INSTANTIATE(T)                                                                                   \
    template RunFacts run_facts(const Module<T>&, const Likelihood<T>&, const RunData<T>&, const TrainOptions&, \
                                const Dataset<T>*, std::int64_t);                                               \
    template void add_data_facts(RunFacts&, const Dataset<T>&, const TrainOptions&, const Dataset<T>*);         \
    template void agree_on_run(Group&, const RunFacts&, const Dataset<T>&, const TrainOptions&);
POLLEN_INSTANTIATE(float)
POLLEN_INSTANTIATE(double)

}  // namespace pollen::detail
