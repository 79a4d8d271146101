#pragma once

#include <pollen/nn/likelihoods/likelihood.hpp>

namespace pollen {

// One of several classes: the outputs are logits (n, classes), the batch has labels (n).
//
//     log p(y | x) = x_y - log sum_j exp(x_j)
//
// Scored by accuracy; of equal logits the first one counts.
template <Real T = float>
class Categorical final : public Concrete<Categorical<T>, Likelihood<T>> {
  public:
    Var<T> log_prob(Pass<T>& pass, Var<T> outputs, const Dataset<T>& batch) const override;
    void check_data(const Shape& outputs, const Dataset<T>& data) const override;

    const char* score_name() const override { return "accuracy"; }
    bool higher_is_better() const override { return true; }
    double score(const Tensor<T>& outputs, const Dataset<T>& batch) const override;
    double finish(double total, std::int64_t items) const override;

    // The probabilities of the classes, each row of logits by itself.
    static Tensor<T> probabilities(const Tensor<T>& logits);

    std::string describe() const override { return "Categorical"; }
};

}  // namespace pollen
