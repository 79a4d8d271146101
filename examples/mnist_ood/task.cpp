#include "task.hpp"

#include <pollen/data/sets/embedded.hpp>
#include <pollen/data/sets/image_set.hpp>
#include <pollen/nn/likelihoods.hpp>
#include <pollen/nn/module/with_prior.hpp>

#include <algorithm>
#include <cmath>
#include <tuple>

using namespace pollen;

namespace {

const Settings for_small{.initial_sd = 0.05, .bbb_rate = 0.005, .sgld_rate = 0.1, .sghmc_rate = 0.005, .samples = 50};

const Settings for_published{
    .initial_sd = 0.02, .bbb_rate = 0.003, .sgld_rate = 0.2, .sghmc_rate = 0.01, .samples = 24};

bool is_published(const std::string& network) {
    if (network != "small" && network != "published")
        throw ValueError("--network is " + network + "; it takes small or published");
    return network == "published";
}

void check(const Sizes& sizes) {
    if (sizes.sampler_steps < std::max<std::int64_t>(20, 2 * sizes.draws))
        throw ValueError("--sampler-steps is " + std::to_string(sizes.sampler_steps) +
                         "; it must be at least 20, and twice --draws");
}

// The sets of strangers, by their names in ./run data.
std::vector<std::string> sets_of(const std::string& strangers) {
    if (strangers == "both") return {"notmnist", "fashion-mnist"};
    if (strangers != "fashion-mnist" && strangers != "notmnist")
        throw ValueError("--strangers is " + strangers + "; it takes fashion-mnist, notmnist or both");
    return {strangers};
}

Dataset<float> read(Example& example, const std::string& directory, const std::string& part) {
    Dataset<float> data = read_image_set<float>(directory, part);
    example.data(directory + " " + part, data.size());
    return data;
}

}  // namespace

Task read_task(Example& example, const Choice& choice, const Sizes& sizes) {
    std::vector<std::string> sets = sets_of(choice.strangers);
    if (choice.validation) sets.clear();
    Task task{.published = is_published(choice.network), .sizes = sizes};
    task.settings = task.published ? for_published : for_small;
    if (task.published) {
        example.other_default("--seeds", task.sizes.seeds, 3);
        example.other_default("--point-steps", task.sizes.point_steps, 2400);
        example.other_default("--sampler-steps", task.sizes.sampler_steps, 4800);
        example.other_default("--draws", task.sizes.draws, 12);
    }
    check(task.sizes);
    // All files of a full set are checked, which takes a while.
    const auto directory_of = [&](const std::string& set) {
        return set == "notmnist" || (set == "mnist" && task.published) ? require_data(set)
               : example.quick                                         ? embedded_data(set)
                                                                       : data_directory(set);
    };
    const std::string digits = directory_of("mnist");
    std::vector<std::string> others;
    for (const std::string& set : sets) others.push_back(directory_of(set));
    task.train_data = read(example, digits, "train");
    task.digits = read(example, digits, "test");
    for (std::size_t k = 0; k < sets.size(); ++k)
        task.strangers.push_back({sets[k] == "notmnist" ? "letters" : "clothes", read(example, others[k], "test")});
    if (choice.validation)
        std::tie(task.train_data, task.digits) = split_last(task.train_data, task.train_data.size() / 6);
    if (example.quick) {
        task.train_data = task.train_data.slice(0, 500);
        task.digits = task.digits.slice(0, 300);
        for (Strangers& s : task.strangers) s.data = s.data.slice(0, 300);
        task.show = Show::nothing;
    }
    return task;
}

// The small network halves the images first: a step takes a quarter of the time, and digits can still be read.
Sequential<float> Task::network(double dropout) const {
    if (!published)
        return with_prior(
            Sequential{AvgPool2d(2), Conv2d(1, 8, 3), Relu(), MaxPool2d(2), Conv2d(8, 16, 3), Relu(), Flatten(),
                       Dropout(dropout), Dense(256, 32), Relu(), Dropout(dropout), Dense(32, 10)},
            GaussianPrior{.sd = 0.2});
    const auto scaled = [](auto layer, double inputs) {
        return with_prior(layer, GaussianPrior{.sd = 1.5 * std::sqrt(2 / inputs)});
    };
    const ConvOptions same_size{.padding = 2};
    return Sequential{scaled(Conv2d(1, 32, 5, same_size), 25),
                      Relu(),
                      MaxPool2d(2),
                      scaled(Conv2d(32, 32, 5, same_size), 800),
                      Relu(),
                      MaxPool2d(2),
                      Flatten(),
                      Dropout(dropout),
                      scaled(Dense(1568, 128), 1568),
                      Relu(),
                      Dropout(dropout),
                      scaled(Dense(128, 10), 128)};
}

Sequential<float> Task::network_without_prior() const { return with_prior(network(), FlatPrior{}); }

NetworkPotential<float> Task::potential() const { return {network(), Categorical(), train_data}; }

std::int64_t Task::epochs(std::int64_t steps) const {
    return std::max<std::int64_t>(1, steps * batch / train_data.size());
}

double Task::per_item(double rate) const { return rate / static_cast<double>(train_data.size()); }

std::string Task::file_name(std::string what, const std::string& word) const {
    if (!word.empty() && strangers.size() > 1) what += "_" + word;
    return "mnist_ood" + what + (published ? "_full" : "");
}

std::string Task::suffix(const std::string& word) const { return strangers.size() > 1 ? ", " + word : ""; }
