#include "scores.hpp"

#include <pollen/nn/prediction/metrics.hpp>

#include <algorithm>

using namespace pollen;
using D = Tensor<double>;

namespace {

D in_double(const Tensor<float>& x) { return {x.shape(), std::vector<double>(x.begin(), x.end())}; }

Scores scores_of(const Task& task, const Method& method) {
    Scores scores{method.name};
    for (const Found& found : method.found) {
        const D& digits = found.at("digits");
        const D entropy = predictive_entropy(digits);
        scores.add("accuracy %", 100 * accuracy(digits, task.digits.labels));
        scores.add("-log p", nll(digits, task.digits.labels));
        scores.add("ECE %", 100 * ece(digits, task.digits.labels));
        scores.add("confidence, digits", mean_of(confidences(digits)));
        scores.add("entropy, digits", mean_of(entropy.values()));
        if (found.contains("temperature")) scores.add("temperature", found.at("temperature").item());
        const bool several = found.contains("digits, information");
        if (several) scores.add("information, digits", mean_of(found.at("digits, information").values()));
        for (const auto& [word, data] : task.strangers) {
            const D& strangers = found.at(word);
            const D their_entropy = predictive_entropy(strangers);
            scores.add("confidence, " + word, mean_of(confidences(strangers)));
            scores.add("entropy, " + word, mean_of(their_entropy.values()));
            scores.add("AUROC, entropy" + task.suffix(word), auroc(entropy, their_entropy));
            if (!several) continue;
            const D& information = found.at(word + ", information");
            scores.add("information, " + word, mean_of(information.values()));
            scores.add("AUROC, information" + task.suffix(word), auroc(found.at("digits, information"), information));
        }
    }
    return scores;
}

}  // namespace

Found found_of(const Task& task, const std::function<Predictive<float>(const Tensor<float>& images)>& predict) {
    Found found;
    const auto add = [&](const std::string& word, const Tensor<float>& images) {
        const Predictive<float> p = predict(images);
        found[word] = in_double(p.probabilities());
        // One network cannot disagree with itself.
        if (p.draws() > 1) found[word + ", information"] = in_double(p.mutual_information());
    };
    add("digits", task.digits.inputs);
    for (const auto& [word, data] : task.strangers) add(word, data.inputs);
    return found;
}

std::vector<double> confidences(const D& p) {
    std::vector<double> found;
    for (std::int64_t i = 0; i < p.shape()[0]; ++i) {
        const double* row = p.data() + i * p.shape()[1];
        found.push_back(*std::max_element(row, row + p.shape()[1]));
    }
    return found;
}

std::vector<Scores> scores_of(const Task& task, const std::vector<Method>& methods) {
    std::vector<Scores> all;
    for (const Method& m : methods) all.push_back(scores_of(task, m));
    const Scores sgd = *std::ranges::find(all, compared_with, &Scores::method);
    for (Scores& scores : all)
        for (const auto& [word, data] : task.strangers) {
            const std::string end = task.suffix(word), by_entropy = "AUROC, entropy" + end,
                              by_information = "AUROC, information" + end;
            if (scores.method != sgd.method) scores.add_difference("entropy - SGD" + end, by_entropy, sgd, by_entropy);
            if (scores.of.contains(by_information))
                scores.add_difference("information - SGD" + end, by_information, sgd, by_entropy);
        }
    return all;
}
