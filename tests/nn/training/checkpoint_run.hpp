#pragma once

#include "../../data/bytes.hpp"
#include "../../data/forge.hpp"
#include "../../data/temporary_directory.hpp"
#include "../../support.hpp"

#include <pollen/nn/layers.hpp>
#include <pollen/nn/likelihoods.hpp>
#include <pollen/nn/training/train.hpp>
#include <pollen/nn/variational/bayes.hpp>

#include <functional>
#include <string>

// A short training run with a checkpoint, and what it ends with.
namespace pollen::test {

using Names = std::set<std::string>;

struct CheckpointRun {
    Dataset<double> data{normals({40, 3}, 1), normals({40}, 2)};
    Dataset<double> validation{normals({20, 3}, 3), normals({20}, 4)};
    bool validates = true;
    bool bayes = false;  // by Backprop
    TrainOptions options{.epochs = 6,
                         .batch = 16,
                         .optimiser = Adam{.rate = Schedule::cosine(0.05, 18)},
                         .seed = 5,
                         .show = Show::nothing};

    // Of the run that ended last, whether by an exception or not.
    std::unique_ptr<Module<double>> net;
    Gaussian<double> likelihood = Gaussian<double>::learned(0.5);

    CheckpointRun() = default;
    explicit CheckpointRun(const std::string& path, bool resume = false) {
        options.checkpoint = path;
        options.resume = resume;
    }

    TrainResult operator()() {
        const Sequential plain{Dense<double>(3, 4), Tanh<double>(), Dropout<double>(0.1), Dense<double>(4, 1)};
        net = bayes ? bayesian(plain).clone() : plain.clone();
        likelihood = Gaussian<double>::learned(0.5);
        return pollen::train(*net, likelihood, data, options, validates ? &validation : nullptr);
    }

    // Trains until `step` steps are done, and no further.
    void until(std::int64_t step) {
        options.on_step = [step](const StepRecord& now) { return now.step < step; };
        (*this)();
        options.on_step = {};
    }

    std::string error() {
        return error_of<FileError>([&] { (*this)(); });
    }

    // All parameters; empty if they have no values.
    std::vector<double> theta() const {
        const Parameters<double> all = parameters_of<double>(*net, likelihood);
        if (!all.entries().front().parameter->has_value()) return {};
        const Tensor<double> values = all.flatten();
        return {values.begin(), values.end()};
    }
};

}  // namespace pollen::test
