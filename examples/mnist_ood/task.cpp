#include "task.hpp"

#include <pollen/data/sets/embedded.hpp>
#include <pollen/data/sets/image_set.hpp>
#include <pollen/nn/likelihoods.hpp>

#include <algorithm>

using namespace pollen;

std::int64_t Task::epochs(std::int64_t steps) const {
    return std::max<std::int64_t>(1, steps * batch / train_data.size());
}

double Task::per_item(double rate) const { return rate / static_cast<double>(train_data.size()); }

Task read_task(Example& example, const std::string& strangers, const Sizes& sizes) {
    if (strangers != "fashion-mnist" && strangers != "notmnist")
        throw ValueError("--strangers is " + strangers + "; it takes fashion-mnist or notmnist");
    // All files of a full set are checked, which takes a while.
    const auto directory_of = [&example](const std::string& set) {
        return set == "notmnist" ? require_data(set)  // does not come with pollen
               : example.quick   ? embedded_data(set)
                                 : data_directory(set);
    };
    const auto read = [&example](const std::string& directory, const std::string& part) {
        Dataset<float> data = read_image_set<float>(directory, part);
        example.data(directory + " " + part, data.size());
        return data;
    };
    const std::string digits = directory_of("mnist"), others = directory_of(strangers);
    Task task{.train_data = read(digits, "train"),
              .digits = read(digits, "test"),
              .strangers = read(others, "test"),
              .word = strangers == "notmnist" ? "letters" : "clothes",
              .sizes = sizes};
    if (example.quick) {
        task.train_data = task.train_data.slice(0, 500);
        task.digits = task.digits.slice(0, 300);
        task.strangers = task.strangers.slice(0, 300);
        task.show = Show::nothing;
    }
    return task;
}

// The images are halved first: a step takes a quarter of the time, and digits can still be read.
Sequential<float> network(double dropout) {
    return Sequential{AvgPool2d(2), Conv2d(1, 8, 3),  Relu(),         MaxPool2d(2), Conv2d(8, 16, 3), Relu(),
                      Flatten(),    Dropout(dropout), Dense(256, 32), Relu(),       Dropout(dropout), Dense(32, 10)};
}

NetworkPotential<float> potential_of(const Task& task) {
    return NetworkPotential<float>(network(), Categorical(), task.train_data, {.prior = GaussianPrior{.sd = prior_sd}});
}
