#include "convergence.hpp"

#include <pollen/nn/likelihoods.hpp>
#include <pollen/samplers/draws/predict_draws.hpp>

#include <algorithm>

using namespace pollen;

namespace {

// The probabilities of all classes for some digits, (chains, draws, 10 digits).
Tensor<double> function_values(const Problem& p, const Draws& draws, std::int64_t digits) {
    const Tensor<float> x = p.test_data.slice(0, digits).inputs;
    Tensor<double> values = Tensor<double>::zeros({chains, draws.size(), 10 * digits});
    double* next = values.mutable_data();
    each_draw<float>(p.net, draws, x, {}, [&](const Tensor<float>& outputs, double) {
        next = std::ranges::copy(Categorical<float>::probabilities(outputs), next).out;
    });
    return values;
}

struct Convergence {
    std::vector<double> rhat, ess;
    std::int64_t worst = 0;  // the one with the greatest R-hat

    explicit Convergence(const Tensor<double>& draws) {
        for (const QuantitySummary& q : summarise(draws)) {
            rhat.push_back(q.rhat);
            ess.push_back(q.ess_bulk);
        }
        worst = std::ranges::max_element(rhat) - rhat.begin();
    }
    std::vector<double> above_one() const {
        std::vector<double> x = rhat;
        for (double& r : x) r -= 1;
        return x;
    }
    void add_to(ResultTable& table, const char* name) const {
        table.row({name,
                   {static_cast<double>(rhat.size()), 0},
                   {quantile(rhat, 0.5), 3},
                   {quantile(rhat, 0.95), 3},
                   {std::ranges::max(rhat), 3},
                   {quantile(ess, 0.5), 0},
                   {quantile(ess, 0.05), 0}});
    }
};

// About 100 draws of each chain.
void draw_trace(Panel& panel, const Tensor<double>& draws, std::int64_t which) {
    const std::int64_t length = draws.shape()[1], every = std::max<std::int64_t>(1, length / 100);
    for (std::int64_t chain = 0; chain < chains; ++chain) {
        std::vector<double> x, y;
        for (std::int64_t k = 0; k < length; k += every) {
            x.push_back(static_cast<double>(k));
            y.push_back(draws(chain, k, which));
        }
        panel.line("chain " + std::to_string(chain + 1), x, y);
    }
    panel.no_key();
}

}  // namespace

void draw_share(Panel& panel, const std::string& name, std::vector<double> values, Line line) {
    std::ranges::sort(values);
    std::vector<double> x, share;
    for (std::size_t k = 0; k <= 100; ++k) {
        x.push_back(values[k * (values.size() - 1) / 100]);
        share.push_back(static_cast<double>(k) / 100);
    }
    if (line == Line::dashed)
        panel.dashed(name, x, share);
    else
        panel.line(name, x, share);
}

ResultTable show_convergence(const Problem& p, const Draws& hmc, Figure& figure) {
    const Tensor<double> functions = function_values(p, hmc, 200);
    const Convergence of_functions(functions), of_weights(hmc.values);
    Panel& rhats = figure.panel("R-hat of four chains of HMC", "R-hat - 1", "share below");
    draw_share(rhats, "predictions", of_functions.above_one());
    draw_share(rhats, "weights", of_weights.above_one());
    rhats.set("set logscale x");
    rhats.set("set xrange [0.0003:3]");
    draw_trace(figure.panel("The weight with the greatest R-hat, four chains", "draw", "weight"), hmc.values,
               of_weights.worst);
    draw_trace(figure.panel("The prediction with the greatest R-hat", "draw", "probability"), functions,
               of_functions.worst);

    ResultTable table({"HMC", "numbers", "R-hat: median", "95 %", "greatest", "ESS: median", "5 %"});
    of_functions.add_to(table, "predictions");
    of_weights.add_to(table, "weights");
    return table;
}
