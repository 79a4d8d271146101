#pragma once

#include <pollen/autograd/random.hpp>
#include <pollen/nn/layers.hpp>
#include <pollen/nn/likelihoods.hpp>
#include <pollen/nn/priors.hpp>
#include <pollen/nn/training/train.hpp>
#include <pollen/nn/variational/bayes.hpp>

#include <algorithm>
#include <bit>
#include <string>
#include <vector>

// Training runs that the ranks of a group make together, for groups of threads and for MPI.
namespace pollen::test {

constexpr std::int64_t spread_items = 61;  // 7 blocks of 8 or 9

// All items. Images of one channel are (n, 1, 6, 6), rows are (n, 36).
inline Dataset<float> spread_data(bool images) {
    Random random(3);
    Dataset<float> data{.inputs = Tensor<float>::zeros({spread_items, 36}), .labels = Indices::zeros({spread_items})};
    random.fill_normal(data.inputs.mutable_values());
    for (std::int64_t i = 0; i < spread_items; ++i) {
        data.labels.mutable_at(i) = static_cast<std::int32_t>(random.below(3));
        data.inputs.mutable_at(i, data.labels(i)) += 2;
    }
    if (images) data.inputs = data.inputs.reshaped({spread_items, 1, 6, 6});
    return data;
}

struct SpreadCase {
    std::string name;
    std::unique_ptr<Module<float>> net;
    TrainOptions options;
    bool images = false, validates = false;

    SpreadCase(std::string n, const Module<float>& module, TrainOptions o, bool i = false, bool v = false)
        : name(std::move(n)), net(module.clone()), options(std::move(o)), images(i), validates(v) {}
};

// Small batches leave many blocks without items, the first one, too.
inline std::vector<SpreadCase> spread_cases() {
    const Sequential dense{Dense(36, 9), Relu(), Dropout(0.3), Dense(9, 3)};
    const Sequential plain{Dense(36, 9), Tanh(), Dense(9, 3)};
    const Sequential convolutional{Conv2d(1, 4, 3), Relu(), MaxPool2d(2), Flatten(), Dropout(0.2), Dense(16, 3)};
    const Prior mixture = ScaleMixturePrior{.pi = 0.5, .sd1 = 1, .sd2 = 0.1};
    const auto options = [](std::int64_t batch, const Optimiser& optimiser) {
        return TrainOptions{.epochs = 3, .batch = batch, .optimiser = optimiser, .seed = 5, .show = Show::nothing};
    };
    std::vector<SpreadCase> cases;
    const auto add = [&](const char* name, const Module<float>& net, std::int64_t batch, const Optimiser& optimiser,
                         const auto& change, bool images = false, bool validates = false) {
        cases.emplace_back(name, net, options(batch, optimiser), images, validates);
        change(cases.back().options);
    };
    const auto nothing = [](TrainOptions&) {};
    add("Sgd, dropout", dense, 16, Sgd{.rate = 0.1}, nothing);
    add("Adam, dropout, small batches", dense, 4, Adam{.rate = 0.01}, nothing);
    add("clipped, fresh draws, a prior, two samples", dense, 20, Momentum{.rate = 0.1}, [](TrainOptions& o) {
        o.clip_norm = 0.3;
        o.draw = Draw::fresh;
        o.prior = LaplacePrior{0.5};
        o.samples = 2;
    });
    add(
        "augmented images", convolutional, 16, Adam{.rate = 0.01},
        [](TrainOptions& o) { o.augmentation = {.shift = 1, .flip = true}; }, true);
    add(
        "an early end", dense, 16, Adam{.rate = 0.05},
        [](TrainOptions& o) {
            o.epochs = 30;
            o.patience = 2;
        },
        false, true);
    add("Bayes by Backprop", bayesian(plain, {.prior = mixture}), 4, Adam{.rate = 0.01}, nothing);
    add("Bayes by Backprop, two samples", bayesian(plain, {.complexity = Complexity::closed}), 16, Adam{.rate = 0.01},
        [](TrainOptions& o) {
            o.samples = 2;
            o.kl = KlWeight::blundell();
        });
    add("the estimator local", bayesian(dense, {.prior = mixture, .estimator = Estimator::local}), 16,
        Adam{.rate = 0.01}, nothing);
    add(
        "the estimator flipout", bayesian(convolutional, {.estimator = Estimator::flipout}), 4, Adam{.rate = 0.01},
        [](TrainOptions& o) { o.clip_norm = 1; }, true);
    return cases;
}

// What a run ends with.
struct SpreadEnd {
    TrainResult result;
    std::vector<float> theta;

    std::string bits() const {
        std::string text = std::to_string(static_cast<int>(result.end)) + " " + std::to_string(result.steps) + " " +
                           std::to_string(result.best_epoch);
        const auto add = [&](double x) { text += " " + std::to_string(std::bit_cast<std::uint64_t>(x)); };
        for (const EpochRecord& r : result.history)
            for (const double x : {r.loss, r.rate, r.complexity, r.validation.loss, r.validation.score}) add(x);
        for (const float x : theta) add(static_cast<double>(x));
        return text;
    }
};

// This rank of a run, or a run that is not spread where there is no group. The ranks but 0 have no validation data.
inline SpreadEnd train_case(const SpreadCase& c, Group* group, std::int64_t blocks = 7,
                            const std::function<void(TrainOptions&)>& change = {}) {
    const Dataset<float> all = spread_data(c.images);
    const auto net = c.net->clone();
    Categorical<float> likelihood;
    TrainOptions options = c.options;
    if (group) options.spread.emplace(*group, spread_items, blocks);
    if (change) change(options);
    const Dataset<float> mine = options.spread ? all.slice(options.spread->first(), options.spread->count()) : all;
    const bool leads = !group || group->rank() == 0;
    SpreadEnd end;
    end.result = train<float>(*net, likelihood, mine, options, c.validates && leads ? &all : nullptr);
    const Tensor<float> theta = Parameters<float>(*net).flatten();
    end.theta.assign(theta.begin(), theta.end());
    return end;
}

// Which cases do not end on all ranks with the bits of a group of one.
inline std::string wrong_cases(Group& group) {
    std::string wrong;
    for (const SpreadCase& c : spread_cases()) {
        const std::string expected = train_case(c, &Group::alone()).bits(), got = train_case(c, &group).bits();
        for (const std::string& bits : group.all_gather(got))
            if (bits != expected) wrong += c.name + "; ";
    }
    return wrong;
}

}  // namespace pollen::test
