#include "scores.hpp"

#include <pollen/nn/prediction/metrics.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

using namespace pollen;
using D = Tensor<double>;

namespace {

D in_double(const Tensor<float>& x) { return {x.shape(), std::vector<double>(x.begin(), x.end())}; }

Scores scores_of(const Method& method, const Indices& labels, const std::string& word) {
    Scores scores{method.name};
    for (const Found& found : method.found) {
        const D &digits = found.at("digits"), &strangers = found.at("strangers");
        const D h_digits = predictive_entropy(digits), h_strangers = predictive_entropy(strangers);
        scores.add("accuracy %", 100 * accuracy(digits, labels));
        scores.add("-log p", nll(digits, labels));
        scores.add("ECE %", 100 * ece(digits, labels));
        scores.add("confidence, digits", mean_of(confidences(digits)));
        scores.add("confidence, " + word, mean_of(confidences(strangers)));
        scores.add("entropy, digits", mean_of(h_digits.values()));
        scores.add("entropy, " + word, mean_of(h_strangers.values()));
        scores.add("AUROC, entropy", auroc(h_digits, h_strangers));
        if (found.contains("temperature")) scores.add("temperature", found.at("temperature").item());
        if (found.contains("digits_information")) {
            const D &i_digits = found.at("digits_information"), &i_strangers = found.at("strangers_information");
            scores.add("information, digits", mean_of(i_digits.values()));
            scores.add("information, " + word, mean_of(i_strangers.values()));
            scores.add("AUROC, information", auroc(i_digits, i_strangers));
        }
    }
    return scores;
}

}  // namespace

Found found_of(const Predictive<float>& digits, const Predictive<float>& strangers) {
    Found found{{"digits", in_double(digits.probabilities())}, {"strangers", in_double(strangers.probabilities())}};
    if (digits.draws() > 1) {  // one network cannot disagree with itself
        found["digits_information"] = in_double(digits.mutual_information());
        found["strangers_information"] = in_double(strangers.mutual_information());
    }
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

std::vector<Scores> scores_of(const std::vector<Method>& methods, const Indices& labels, const std::string& word) {
    std::vector<Scores> all;
    for (const Method& m : methods) all.push_back(scores_of(m, labels, word));
    const Scores sgd = *std::ranges::find(all, compared_with, &Scores::method);
    for (Scores& scores : all) {
        if (scores.method != sgd.method)
            scores.add_difference("entropy - SGD", "AUROC, entropy", sgd, "AUROC, entropy");
        if (scores.of.contains("AUROC, information"))
            scores.add_difference("information - SGD", "AUROC, information", sgd, "AUROC, entropy");
    }
    return all;
}

// A difference of three standard errors counts: with five seeds chance brings it about once in 25 cases.
void say_differences(const std::vector<Scores>& scores, const std::string& word) {
    if (scores.front().of.at("AUROC, entropy").size() < 2) return;
    std::printf("\nAgainst %s with the same seed, does it tell %s from digits?\n", compared_with.c_str(), word.c_str());
    for (const Scores& s : scores)
        for (const auto& [name, by] : {std::pair("entropy - SGD", "entropy"), {"information - SGD", "information"}}) {
            if (!s.of.contains(name)) continue;
            const Cell d = mean_cell(s.of.at(name), 3);
            const char* const verdict = !(std::abs(d.value) > 3 * d.error) ? "not told apart by these seeds"
                                        : d.value > 0                      ? "better"
                                                                           : "worse";
            std::printf("  %-14s by %-12s %+.3f +- %.3f  %s\n", s.method.c_str(), by, d.value, d.error, verdict);
        }
    std::printf("The errors are over seeds, for these images.\n");
}
