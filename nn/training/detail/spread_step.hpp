#pragma once

#include <pollen/data/sets/detail/spread_batches.hpp>
#include <pollen/nn/training/detail/batch_loss.hpp>

#include <functional>
#include <stop_token>
#include <vector>

namespace pollen::detail {

// The loss of a training step and its gradient, with the items of the batch on all ranks of a group. A rank has a pass
// for each of its blocks that has items of the batch; what the blocks have found is added up by ordered_sum(). The
// complexity is in block 0, whether it has items of the batch or not.
//
// It holds the gradient of every block of this rank.
template <Real T>
class SpreadStep {
  public:
    SpreadStep(const Module<T>& net, const Likelihood<T>& likelihood, const RunData<T>& data,
               const TrainOptions& options, const Spread& spread, Pass<T>& pass);

    struct Losses {
        std::int64_t items = 0;    // of the batch
        double cost = 0;           // the mean of -log p
        double complexity = 0;     // as far as its value is known
        bool interrupted = false;  // on any rank
    };
    // A call of the whole group. Calls begin() and evaluates the parts of this rank at theta. weight(n) returns the
    // weight of the complexity for a batch of n items. If one rank throws, all throw, as in Group::together().
    Losses operator()(std::int64_t step, PassOptions how, std::span<const T> theta, const std::function<void()>& begin,
                      const std::function<double(std::int64_t)>& weight);

    // A call of the whole group, after the one above: the gradient of the whole loss, until the next step.
    Tensor<T> gradient();

    // The rows of the batch that are on this rank.
    std::vector<Dataset<T>> rows() const;

    std::int64_t per_epoch() const { return batches_.per_epoch(); }

  private:
    void evaluate(PassOptions how, std::span<const T> theta, double weight);
    void restart(PassOptions how, std::span<const T> theta, std::int64_t block);

    const RunData<T> data_;
    const Spread spread_;
    const std::stop_token stop_;
    Pass<T>& pass_;
    BatchLoss<T> loss_;
    SpreadBatches<T> batches_;
    typename SpreadBatches<T>::Batch batch_;
    Tensor<T> gradients_;         // a row for each block; the first one then becomes their sum
    std::vector<double> leaves_;  // the numbers that the blocks add up beside the gradient, a row for each
    bool costs_ = true;           // whether the layers have a complexity; true until that is known
};

}  // namespace pollen::detail
