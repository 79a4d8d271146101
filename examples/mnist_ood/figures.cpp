#include "figures.hpp"

#include "../common/figure.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace {

struct Histogram {
    std::vector<double> confidence, share;
};

// Shares of all images of all seeds in 20 cells.
Histogram histogram_of(const std::vector<Found>& seeds, const std::string& key) {
    std::vector<double> all;
    for (const Found& found : seeds) std::ranges::copy(confidences(found.at(key)), std::back_inserter(all));
    for (double& c : all) c = std::min(c, 0.9999);  // 1 is in the last cell
    BinnedDraws binned(all, 0, 1, 20);
    for (double& density : binned.density) density /= 20;
    return {binned.middle, binned.density};
}

}  // namespace

void draw_confidences(const Example& example, const Task& task, const std::vector<Method>& methods,
                      const std::string& word) {
    Figure figure(example.path(task.file_name("", word)), 3);
    figure.panel_size(440, 280);
    for (const Method& m : methods) {
        Panel& panel = figure.panel(m.name, "confidence", "share of images");
        const Histogram of_strangers = histogram_of(m.found, word), of_digits = histogram_of(m.found, "digits");
        panel.bars(word, of_strangers.confidence, of_strangers.share, 0.045);
        panel.bars("digits", of_digits.confidence, of_digits.share, 0.02);  // narrow, in front of the others
        panel.set("set xrange [0:1]");
        panel.set("set yrange [0:1]");
    }
    figure.save();
}

void draw_differences(const Example& example, const Task& task, const std::vector<Scores>& scores,
                      const std::string& word) {
    const std::string end = task.suffix(word);
    Figure figure(example.path(task.file_name("_auroc", word)), 2);
    for (const auto& [title, name] :
         {std::pair("By entropy", "entropy - SGD"), {"By mutual information", "information - SGD"}}) {
        Panel& panel = figure.panel(title + end, "AUROC less that of SGD, MAP", "");
        draw_scores(panel, scores, name + end, "one seed");
        panel.set("set xrange [*<0:0<*]");  // 0, where SGD is, can be seen
        panel.set("set yzeroaxis lw 2 lc rgb '#555555'");
    }
    figure.save();
}
