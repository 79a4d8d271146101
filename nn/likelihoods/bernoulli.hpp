#pragma once

#include <pollen/nn/likelihoods/likelihood.hpp>

namespace pollen {

// Yes or no, once or several times an item: the outputs are logits, the targets are 0 or 1 and of the outputs' shape,
// where (n) and (n, 1) are the same. With one output an item, the batch may have labels 0 and 1 instead.
//
//     log p(y | x) = y x - log(1 + exp(x))
//
// Scored by accuracy: a logit above 0 means 1.
template <Real T = float>
class Bernoulli final : public Concrete<Bernoulli<T>, Likelihood<T>> {
  public:
    Var<T> log_prob(Pass<T>& pass, Var<T> outputs, const Dataset<T>& batch) const override;
    void check_data(const Shape& outputs, const Dataset<T>& data) const override;

    const char* score_name() const override { return "accuracy"; }
    bool higher_is_better() const override { return true; }
    double score(const Tensor<T>& outputs, const Dataset<T>& batch) const override;
    double finish(double total, std::int64_t items) const override;

    std::string describe() const override { return "Bernoulli"; }
};

}  // namespace pollen
