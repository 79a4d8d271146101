#include "weight.hpp"

#include "../common/figure.hpp"

#include <algorithm>
#include <string>
#include <utility>

using namespace pollen;
using D = Tensor<double>;

namespace {

// The number of the weight at the centre of the first kernel, which is the first thing in theta.
std::size_t watched(const Task& task) { return task.published ? 12 : 4; }

D way_of_a_weight(const Task& task, const Sgld& sampler, double temperature, std::uint64_t seed) {
    NetworkPotential<float> potential = task.potential();
    potential.set_temperature(temperature);
    const auto chain = sampler.begin<float>(potential.clone(), {.position = potential.start(seed), .seed = seed});
    D way = D::zeros({task.sizes.sampler_steps});
    for (double& w : way.mutable_values()) {
        stop_if_asked();
        chain->step();
        w = chain->position()[watched(task)];
    }
    return way;
}

// A curve for each tenth of the way: the distribution of the weight in it, scaled to one height.
void draw_way(Panel& panel, const std::string& method, const D& way, double low, double high) {
    const std::int64_t windows = 10, length = way.size() / windows;
    for (std::int64_t k = windows; k-- > 0;) {
        const auto part = way.values().subspan(static_cast<std::size_t>(k * length), static_cast<std::size_t>(length));
        const BinnedDraws histogram({part.begin(), part.end()}, low, high, 100);
        const double highest = *std::max_element(histogram.density.begin(), histogram.density.end());
        std::vector<double> base, top;
        for (const double density : histogram.density) {
            base.push_back(static_cast<double>(k * length));
            top.push_back(base.back() + 1.5 * static_cast<double>(length) * density / highest);
        }
        panel.colour_of(method);
        panel.band("", histogram.middle, base, top);
        panel.line("", histogram.middle, top);
    }
    panel.set("set yrange [0:" + std::to_string((windows + 1) * length) + "]");
    panel.set("set ytics 0, " + std::to_string(2 * length) + ", " + std::to_string(windows * length));
}

}  // namespace

Found ways_of_a_weight(const Task& task, const Sgld& sampler, std::uint64_t seed) {
    return {{"sgd", way_of_a_weight(task, sampler, 0, seed)}, {"sgld", way_of_a_weight(task, sampler, 1, seed)}};
}

void draw_weight(const Example& example, const Task& task, const Found& ways) {
    const auto [lowest, highest] = std::ranges::minmax(ways.at("sgld").values());
    const auto [sgd_lowest, sgd_highest] = std::ranges::minmax(ways.at("sgd").values());
    const double margin = 0.1 * (highest - lowest);
    const double low = std::min(lowest - margin, sgd_lowest), high = std::max(highest + margin, sgd_highest);
    Figure figure(example.path(task.file_name("_weight")), 2);
    for (const auto& [key, method] : {std::pair("sgd", "SGD"), {"sgld", "SGLD"}})
        draw_way(figure.panel(std::string(method) + ", a weight in tenths of the run", "value of the weight", "step"),
                 method, ways.at(key), low, high);
    figure.save();
}
