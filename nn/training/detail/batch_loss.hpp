#pragma once

#include <pollen/nn/training/detail/run_data.hpp>
#include <pollen/nn/training/train.hpp>

namespace pollen::detail {

// The loss of a training step, or of a part of its batch, in a pass that was just restarted.
template <Real T>
class BatchLoss {
  public:
    BatchLoss(const Module<T>& net, const Likelihood<T>& likelihood, const RunData<T>& data,
              const TrainOptions& options, Pass<T>& pass)
        : net_(net), likelihood_(likelihood), data_(data), options_(options), pass_(pass) {}

    // The sum over the rows of -log p / items, its mean over the samples. `items` are those of the whole batch; `theta`
    // are the parameters of the pass. `rows` must stay as long as the node.
    Var<T> cost(const Dataset<T>& rows, std::int64_t items, std::span<const T> theta);
    double last_cost() const { return cost_; }

    // Adds the complexity of the layers that have been evaluated, with this weight.
    void add_complexity(Var<T>& loss, double weight);
    double last_complexity() const { return complexity_; }  // as far as its value is known

    // The complexity without the cost. The inputs are any: layers say what they cost when they are evaluated.
    Var<T> complexity_alone(const Dataset<T>& rows, double weight);

  private:
    const Module<T>& net_;
    const Likelihood<T>& likelihood_;
    const RunData<T> data_;
    const TrainOptions& options_;
    Pass<T>& pass_;
    double cost_ = 0, complexity_ = 0;
};

}  // namespace pollen::detail
