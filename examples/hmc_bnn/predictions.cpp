#include "predictions.hpp"

#include <pollen/samplers/draws/predict_draws.hpp>

#include <algorithm>

using namespace pollen;

static Tensor<double> in_double(const Tensor<float>& x) {
    Tensor<double> y = Tensor<double>::zeros(x.shape());
    std::ranges::copy(x, y.mutable_data());
    return y;
}

Found predictions(const Problem& p, const std::function<Predictive<float>(const Tensor<float>&)>& of) {
    return {{"test", in_double(of(p.test_data.inputs).probabilities())},
            {"clothes", in_double(of(p.clothes.inputs).probabilities())}};
}

// theta . grad U / d at each draw, (chains, draws).
static Tensor<double> temperatures(const Problem& p, const Draws& draws) {
    const auto potential = p.potential.clone();
    const std::int64_t d = potential->size();
    Tensor<double> found = Tensor<double>::zeros({chains, draws.size()});
    std::vector<float> gradient(static_cast<std::size_t>(d));
    each_draw(draws, 1, [&](std::int64_t chain, std::int64_t draw, std::span<const double> values, double) {
        const std::vector<float> theta(values.begin(), values.end());
        potential->evaluate(theta, gradient);
        double sum = 0;
        for (std::size_t i = 0; i < theta.size(); ++i)
            sum += static_cast<double>(theta[i]) * static_cast<double>(gradient[i]);
        found.mutable_at(chain, draw) = sum / static_cast<double>(d);
    });
    return found;
}

Found predictions(const Problem& p, const Draws& draws) {
    Found found = predictions(p, [&](const Tensor<float>& x) { return predict_draws<float>(p.net, draws, x); });
    const QuantitySummary temperature = summarise(Chains(temperatures(p, draws)));
    found.emplace("temperature", Tensor<double>{temperature.mean, temperature.mcse});
    return found;
}

Method one_chain(const Problem& p, const Draws& hmc) {
    const auto of_chains = [&](bool first) {
        return predictions(p, [&](const Tensor<float>& x) {
            Predictive<float> predictive;
            std::int64_t count = 0;
            each_draw<float>(p.net, hmc, x, {}, [&](const Tensor<float>& y, double) {
                if ((count++ < hmc.size()) == first) predictive.add(y);
            });
            return predictive;
        });
    };
    return {"HMC, one chain", of_chains(true), of_chains(false).at("test")};
}
