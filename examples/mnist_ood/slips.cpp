#include "slips.hpp"

#include "../common/table.hpp"
#include "scores.hpp"

#include <pollen/autograd/math.hpp>
#include <pollen/nn/likelihoods.hpp>
#include <pollen/samplers/draws/predict_draws.hpp>

#include <algorithm>

using namespace pollen;
using D = Tensor<double>;

namespace {

// If the images are not the same, draw k has image i + 37 k in the place of image i. That is what comes of a loader
// that shuffles anew for every draw.
D averages(const Sequential<float>& net, const Draws& draws, const Tensor<float>& images) {
    const std::int64_t n = images.shape()[0];
    std::vector<D> sums(4, D::zeros({n, 10}));
    std::int64_t count = 0;
    each_draw<float>(net, draws, images, {}, [&](const Tensor<float>& outputs, double) {
        const Tensor<float> p = Categorical<float>::probabilities(outputs);
        for (std::int64_t i = 0; i < n; ++i)
            for (std::int64_t c = 0; c < 10; ++c) {
                const double here = p(i, c), elsewhere = p((i + 37 * count) % n, c);
                sums[0].mutable_at(i, c) += here;
                sums[1].mutable_at(i, c) += math::log(std::max(here, 1e-30));
                sums[2].mutable_at(i, c) += elsewhere;
                sums[3].mutable_at(i, c) += math::log(std::max(elsewhere, 1e-30));
            }
        ++count;
    });
    D found = D::zeros({4});
    for (std::size_t k = 0; k < 4; ++k) {
        for (double& x : sums[k].mutable_values()) {
            x /= static_cast<double>(count);
            if (k % 2 == 1) x = math::exp(x);
        }
        found.mutable_at(static_cast<std::int64_t>(k)) = mean_of(confidences(sums[k]));
    }
    return found;
}

}  // namespace

Found averages(const Task& task, const Draws& draws) {
    const Sequential<float> net = task.network();
    Found found{{"digits, averages", averages(net, draws, task.digits.inputs)}};
    for (const auto& [word, data] : task.strangers) found[word + ", averages"] = averages(net, draws, data.inputs);
    return found;
}

void show_slips(const Example& example, const Task& task, const Found& sgld) {
    std::vector<std::string> words{"digits"}, columns{"average over draws of SGLD"};
    for (const Strangers& strangers : task.strangers) words.push_back(strangers.word);
    for (const std::string& word : words) columns.push_back("confidence, " + word);
    columns.push_back("published, letters");
    ResultTable table(columns);
    const char* const rows[] = {"probabilities, same images", "logarithms, same images", "probabilities, shuffled",
                                "logarithms, shuffled"};
    for (std::int64_t k = 0; k < 4; ++k) {
        std::vector<Cell> row{rows[k]};
        for (const std::string& word : words) row.push_back({sgld.at(word + ", averages")(k), 4});
        row.push_back(k == 3 ? "0.015" : "");
        table.row(row);
    }
    table.show();
    table.save(example.path(task.file_name("_slips")));
}
