#include "report.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

namespace {

void show(const Example& example, const std::string& name, const std::vector<Scores>& scores,
          const std::vector<ScoreColumn>& columns) {
    const ResultTable table = table_of(scores, columns);
    table.show();
    table.save(example.path(name));
}

}  // namespace

void show_scores(const Example& example, const Task& task, const std::vector<Scores>& scores) {
    std::vector<ScoreColumn> confidences{{"accuracy %", 2}, {"-log p", 4}, {"ECE %", 2}, {"confidence, digits"}},
        uncertainties{{"entropy, digits"}}, information{{"information, digits"}};
    for (const auto& [word, data] : task.strangers) {
        confidences.push_back({"confidence, " + word});
        uncertainties.push_back({"entropy, " + word});
        information.push_back({"information, " + word});
    }
    confidences.push_back({"temperature"});
    uncertainties.insert(uncertainties.end(), information.begin(), information.end());
    show(example, task.file_name(), scores, confidences);
    show(example, task.file_name("_entropy"), scores, uncertainties);
    for (const auto& [word, data] : task.strangers) {
        const std::string end = task.suffix(word);
        show(example, task.file_name("_auroc", word), scores,
             {{"AUROC, entropy" + end},
              {"AUROC, information" + end},
              {"entropy - SGD" + end},
              {"information - SGD" + end}});
    }
}

void say_confidences(const Task& task, const std::vector<Scores>& scores) {
    if (task.sizes.seeds < 2) return;
    const Scores& sgd = *std::ranges::find(scores, compared_with, &Scores::method);
    std::vector<std::string> words{"digits"};
    for (const Strangers& strangers : task.strangers) words.push_back(strangers.word);
    std::printf("\nConfidence less that of %s with the same seed\n", compared_with.c_str());
    for (Scores s : scores) {
        if (s.method == sgd.method) continue;
        std::printf("  %-14s", s.method.c_str());
        for (const std::string& word : words) {
            s.add_difference(word, "confidence, " + word, sgd, "confidence, " + word);
            const Cell d = mean_cell(s.of.at(word), 3);
            std::printf("  %s %+.3f +- %.3f", word.c_str(), d.value, d.error);
        }
        std::printf("\n");
    }
}

void say_differences(const Task& task, const std::vector<Scores>& scores, const std::string& word) {
    const std::string end = task.suffix(word);
    if (scores.front().of.at("AUROC, entropy" + end).size() < 2) return;
    std::printf("\nDoes it tell %s from digits better than %s with the same seed?\n", word.c_str(),
                compared_with.c_str());
    for (const Scores& s : scores)
        for (const auto& [name, by] : {std::pair("entropy - SGD", "entropy"), {"information - SGD", "information"}}) {
            const auto found = s.of.find(name + end);
            if (found == s.of.end()) continue;
            const Cell d = mean_cell(found->second, 3);
            const char* const verdict = !(std::abs(d.value) > 3 * d.error) ? "not told apart by these seeds"
                                        : d.value > 0                      ? "better"
                                                                           : "worse";
            std::printf("  %-14s by %-12s %+.3f +- %.3f  %s\n", s.method.c_str(), by, d.value, d.error, verdict);
        }
    std::printf(
        "The errors are over seeds, for these images. Better, worse: by more than three errors. Chance alone brings\n"
        "that about once in 25 cases with five seeds, and once in 10 with three.\n");
}
