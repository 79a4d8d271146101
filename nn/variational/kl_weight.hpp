#pragma once

#include <cstdint>
#include <string>

namespace pollen {

// How the complexity cost KL[q || p] is shared among the batches of an epoch. The objective of batch i is
//
//     F_i = pi_i KL[q || p] - E_q log p(batch_i | w)
//
// and over a pass through all data (Draw::epoch) the pi_i add up to `total`, which is 1 unless it was asked otherwise:
// then the F_i add up to the negative evidence lower bound. With Draw::fresh each batch of n items is a random choice
// of its own: the uniform schemes give it total * n / N, so that F_i is, on average, n / N of the bound, and an epoch
// of S steps adds up to S n / N times `total`.
class KlWeight {
  public:
    // pi_i = n_i / N, which is 1 / M for M equal batches
    static KlWeight uniform() { return {Scheme::uniform, 1}; }
    // pi_i = 2^(M - i) / (2^M - 1) = 2^-i / (1 - 2^-M), i = 1, ..., M (Blundell et al. 2015, 3.4): the first batches
    // see the prior, the last ones the data
    static KlWeight blundell() { return {Scheme::blundell, 1}; }
    // Uniform, times k / epochs in epoch k = 1, 2, ... until it is 1 (Sonderby et al. 2016)
    static KlWeight warm_up(std::int64_t epochs);
    // beta KL - E_q log p: another objective, not the posterior's (Higgins et al. 2017)
    static KlWeight beta(double beta);
    // E_q U(w) - T entropy(q), U the potential: what a sampler at temperature T aims at. Only log q is scaled.
    static KlWeight temperature(double temperature);

    // pi_i of batch i = 0, ..., M - 1 with n of N items, in epoch 0, 1, ...
    double operator()(std::int64_t i, std::int64_t batches, std::int64_t n, std::int64_t items,
                      std::int64_t epoch) const;
    // What the pi_i of that epoch add up to, over a pass through all data.
    double total(std::int64_t epoch) const;
    // The factor of log q within the KL.
    double entropy_factor() const { return scheme_ == Scheme::temperature ? value_ : 1; }
    std::string describe() const;

  private:
    enum class Scheme { uniform, blundell, warm_up, beta, temperature };
    KlWeight(Scheme scheme, double value) : scheme_(scheme), value_(value) {}

    Scheme scheme_;
    double value_;
};

}  // namespace pollen
