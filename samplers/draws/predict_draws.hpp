#pragma once

#include <pollen/nn/prediction/predictive.hpp>
#include <pollen/samplers/draws/draws.hpp>

#include <cstdint>
#include <functional>
#include <span>

// Predictions of a network at the draws of its parameters, which are in memory or come from the files row by row. The
// network's parameters are the first numbers of a draw, as NetworkPotential has them; a likelihood's come after.
namespace pollen {

struct DrawOptions {
    std::int64_t every = 1;  // one of so many draws of each chain: the last of them
    PredictOptions predict = {};
};

// Calls f(chain, draw, values, weight) for the draws of each chain, chain after chain, counted from 0 among those that
// are used. Draws of weight 0 are left out before one of every so many is taken. The weight is 1 where a sampler has
// none.
using UseDraw = std::function<void(std::int64_t, std::int64_t, std::span<const double>, double)>;
void each_draw(const Draws& draws, std::int64_t every, const UseDraw& f);

// Calls use(outputs, weight) with the outputs (n, ...) for all rows of x at each draw.
template <Real T>
using UseWeighted = std::function<void(const Tensor<T>& outputs, double weight)>;
template <Real T>
void each_draw(const Module<T>& net, const Draws& draws, const Tensor<T>& x, DrawOptions options,
               const std::type_identity_t<UseWeighted<T>>& use);

// The weighted average of the probabilities over the draws, for networks whose outputs are logits (n, classes).
template <Real T>
Predictive<T> predict_draws(const Module<T>& net, const Draws& draws, const Tensor<T>& x, DrawOptions options = {});

// R-hat and ESS of what the network computes: of the probabilities of classes, or of the outputs as they are. The
// predictions at all draws are in memory for it, as (chains, draws, outputs); a ValueError says so where they would
// take more than max_memory bytes.
enum class FunctionValues { outputs, probabilities };
template <Real T>
FunctionSpace function_space(const Module<T>& net, const Draws& draws, const Tensor<T>& x,
                             FunctionValues values = FunctionValues::outputs, DrawOptions options = {},
                             std::uint64_t max_memory = std::uint64_t{4} << 30);

}  // namespace pollen
