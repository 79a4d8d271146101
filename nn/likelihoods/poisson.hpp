#pragma once

#include <pollen/nn/likelihoods/likelihood.hpp>

namespace pollen {

// Counts: the outputs are log rates, the targets whole numbers from 0 up, of the outputs' shape, where (n) and (n, 1)
// are the same.
//
//     log p(y | x) = y x - exp(x) - log y!
//
// Scored by the mean deviance, 2 (log p(y | log y) - log p(y | x)): 0 where every rate is the count itself.
template <Real T = float>
class Poisson final : public Concrete<Poisson<T>, Likelihood<T>> {
  public:
    Var<T> log_prob(Pass<T>& pass, Var<T> outputs, const Dataset<T>& batch) const override;
    void check_data(const Shape& outputs, const Dataset<T>& data) const override;

    const char* score_name() const override { return "deviance"; }
    bool higher_is_better() const override { return false; }
    double score(const Tensor<T>& outputs, const Dataset<T>& batch) const override;
    double finish(double total, std::int64_t items) const override;

    std::string describe() const override { return "Poisson"; }
};

}  // namespace pollen
