#pragma once

#include <pollen/nn/prediction/predictive.hpp>
#include <pollen/samplers/diagnostics/function_space.hpp>
#include <pollen/samplers/draws/draws.hpp>

#include <cstdint>
#include <functional>
#include <span>

// Predictions of a network at the draws of its parameters. The draws are in memory, or are read from their files row by
// row. The network's parameters are the first numbers of a draw, as NetworkPotential has them; those of the likelihood
// follow.
namespace pollen {

struct DrawOptions {
    std::int64_t every = 1;  // of each chain, use the last of each group of `every` draws
    PredictOptions predict = {};
};

// Calls f(chain, draw, values, weight) for the draws of each chain, chain after chain. Draws with weight 0 are ignored;
// of the others, the last of every `every` is used. Chains and used draws are counted from 0. The weight is 1 if the
// sampler has none.
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

// R-hat and ESS of the network's outputs, or of the class probabilities that they are the logits of. The predictions at
// all draws are in memory for it, as (chains, draws, outputs). Throws a ValueError if they would take more than
// max_memory bytes.
enum class FunctionValues { outputs, probabilities };
template <Real T>
FunctionSpace function_space(const Module<T>& net, const Draws& draws, const Tensor<T>& x,
                             FunctionValues values = FunctionValues::outputs, DrawOptions options = {},
                             std::uint64_t max_memory = std::uint64_t{4} << 30);

}  // namespace pollen
