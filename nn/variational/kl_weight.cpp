#include <pollen/nn/variational/kl_weight.hpp>

#include <pollen/autograd/math.hpp>
#include <pollen/autograd/support/checks.hpp>

#include <algorithm>
#include <cmath>

namespace pollen {

KlWeight KlWeight::warm_up(std::int64_t epochs) {
    if (epochs < 1) throw ValueError("KlWeight::warm_up: " + std::to_string(epochs) + " epochs; at least 1 is needed");
    return {Scheme::warm_up, static_cast<double>(epochs)};
}

KlWeight KlWeight::beta(double beta) {
    if (!(beta >= 0 && std::isfinite(beta)))
        throw ValueError("KlWeight::beta: beta is " + to_text(beta) + "; it must be finite and not negative");
    return {Scheme::beta, beta};
}

KlWeight KlWeight::temperature(double temperature) {
    if (!(temperature >= 0 && std::isfinite(temperature)))
        throw ValueError("KlWeight::temperature: it is " + to_text(temperature) +
                         "; it must be finite and not negative");
    return {Scheme::temperature, temperature};
}

// pi_i, the share of batch i: n_i / N, or 2^(M-i) / (2^M - 1) (Blundell et al. 2015)
double KlWeight::operator()(std::int64_t i, std::int64_t batches, std::int64_t n, std::int64_t items,
                            std::int64_t epoch) const {
    if (scheme_ == Scheme::blundell) {
        // 2^M is no number for large M; 2^-i is one, or rightly 0.
        return math::exp2(-static_cast<double>(i + 1)) / (1 - math::exp2(-static_cast<double>(batches)));
    }
    return total(epoch) * static_cast<double>(n) / static_cast<double>(items);
}

double KlWeight::total(std::int64_t epoch) const {
    if (scheme_ == Scheme::warm_up) return std::min(1.0, static_cast<double>(epoch + 1) / value_);
    return scheme_ == Scheme::beta ? value_ : 1;
}

std::string KlWeight::describe() const {
    switch (scheme_) {
        case Scheme::uniform:
            return "uniform";
        case Scheme::blundell:
            return "blundell";
        case Scheme::warm_up:
            return call("warm_up", value_);
        case Scheme::beta:
            return call("beta", value_);
        case Scheme::temperature:
            return call("temperature", value_);
    }
    return "";
}

}  // namespace pollen
