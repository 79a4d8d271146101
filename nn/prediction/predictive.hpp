#pragma once

#include <pollen/nn/module/module.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

// Predictions of several networks, or of several draws of one network, put together.
namespace pollen {

// The predictive distribution over classes: the average of the softmax outputs of S draws. Draws are added one by one,
// and only the average is kept. If draws have weights w_s, the averages below are weighted: sum_s w_s (...) / sum_s
// w_s.
//
//     p      = 1/S sum_s softmax(logits_s)
//     H(p)   = 1/S sum_s H(softmax(logits_s)) + mutual information
//
// The first term is the expected entropy: it remains even if the weights are known. The mutual information between
// label and weights says how much the draws disagree. All are in nats.
template <Real T>
class Predictive {
  public:
    // Adds the outputs of one draw: logits of shape (n, classes). A logit of -infinity rules a class out. Draws with
    // weight 0 are ignored.
    void add(const Tensor<T>& logits, double weight = 1);

    std::int64_t draws() const { return draws_; }
    Tensor<T> probabilities() const;      // (n, classes)
    Tensor<T> log_probabilities() const;  // (n, classes); finite also where a probability is too small for a double

    Tensor<T> entropy() const;             // (n), of the average
    Tensor<T> expected_entropy() const;    // (n)
    Tensor<T> mutual_information() const;  // (n), the difference of the two; never below 0

  private:
    void check(const Tensor<T>& logits) const;
    void check_draws(const char* what) const;
    void add_tiny(const Tensor<T>& logits, double weight);
    double entropy_of_row(std::int64_t row) const;
    template <class F>
    Tensor<T> each_row(F f) const;

    Shape shape_ = Shape::nothing();
    std::int64_t draws_ = 0;
    double weight_ = 0;              // of all draws
    std::vector<double> mean_;       // of the probabilities
    std::vector<double> entropies_;  // the mean over the draws
    std::vector<double>
        tiny_;  // log of the weighted sum of the probabilities that are 0 in mean_; empty if there are none
};

// The predictive distribution of numbers: a mixture of S normal distributions, by its mean and variance,
//
//     variance = 1/S sum_s sd_s^2 + 1/S sum_s (mean_s - mean)^2
//                aleatoric          epistemic
//
// made of one draw after the other, in memory for one; of draws with weights, by weighted means. Tensors of any one
// shape.
template <Real T>
class PredictiveNumbers {
  public:
    void add(const Tensor<T>& mean);  // nothing known of the noise: sd 0
    void add(const Tensor<T>& mean, double sd, double weight = 1);
    void add(const Tensor<T>& mean, const Tensor<T>& sd, double weight = 1);
    // The outputs (n, 2k) of a network for Gaussian::predicted(): k means, then k numbers r with
    // sd = log(1 + exp(r)) + Gaussian::smallest_sd.
    void add_predicted(const Tensor<T>& outputs, double weight = 1);

    std::int64_t draws() const { return draws_; }
    Tensor<T> mean() const;
    Tensor<T> aleatoric() const;  // variances
    Tensor<T> epistemic() const;
    Tensor<T> variance() const;
    Tensor<T> sd() const;  // the root of the variance

  private:
    template <class Sd>
    void add_each(const Tensor<T>& mean, Sd sd, double weight);
    template <class F>
    Tensor<T> each(const char* what, F f) const;

    Shape shape_ = Shape::nothing();
    std::int64_t draws_ = 0;
    double weight_ = 0;                            // of all draws
    std::vector<double> mean_, within_, squares_;  // squares_: the weighted sum of (mean_s - mean)^2
};

// Networks that predict together; copied along with them. Its parameters have the members' numbers before their names,
// and initialise() gives every member values of its own.
template <Real T = float>
class Ensemble : public HasParameters<T> {
  public:
    Ensemble() = default;
    // `members` copies of a network.
    Ensemble(const Module<T>& net, std::size_t members) {
        for (std::size_t k = 0; k < members; ++k) add(net.clone());
    }

    Ensemble& add(Part<T> member) {
        members_.push_back(std::move(member));
        return *this;
    }
    std::size_t size() const { return members_.size(); }
    Module<T>& operator[](std::size_t k) { return *members_[check_member(k)]; }
    const Module<T>& operator[](std::size_t k) const { return *members_[check_member(k)]; }

    void visit(Visitor<T>& visitor) override { each(*this, visitor); }
    void visit(ConstVisitor<T>& visitor) const override { each(*this, visitor); }

  private:
    static void each(auto& self, auto& visitor) {
        for (std::size_t k = 0; k < self.size(); ++k) visitor.part(std::to_string(k), self[k]);
    }
    std::size_t check_member(std::size_t k) const {
        if (k < size()) return k;
        throw ShapeError("Ensemble: there is no member " + std::to_string(k) + "; it has " + std::to_string(size()) +
                         ", counted from 0");
    }

    std::vector<Part<T>> members_;
};

// Which samples of a network's own randomness: numbers first, first + 1, ... under the seed. Sample k is the same
// whatever the others are; random weights are the same for all rows of x, dropout is drawn for each row.
struct SampleOptions {
    std::int64_t samples = 10;
    std::uint64_t seed = 0;
    std::uint64_t first = 0;
    std::optional<std::int64_t> batch = {};  // rows of x at a time, as in PredictOptions
};

// Calls use(outputs) with the outputs (n, ...) for all rows of x: of each sample of a network with random layers or
// random weights (dropout: MC dropout; Bayesian layers: draws of the weights); of each member of an ensemble; of a
// network at each of several theta, laid out as Parameters has them, such as the draws of a sampler. For instance
//
//     PredictiveNumbers<float> predictive;
//     each_sample<float>(net, x, {.samples = 100}, [&](const auto& y) { predictive.add(y, noise_sd); });
//
// In Mode::sample member, or theta, k is evaluated with draw options.draw + k.
template <Real T>
using UseOutputs = std::function<void(const Tensor<T>& outputs)>;
template <Real T>
void each_sample(const Module<T>& net, const Tensor<T>& x, SampleOptions options,
                 const std::type_identity_t<UseOutputs<T>>& use);
template <Real T>
void each_member(const Ensemble<T>& ensemble, const Tensor<T>& x, PredictOptions options,
                 const std::type_identity_t<UseOutputs<T>>& use);
template <Real T>
void each_theta(const Module<T>& net, std::type_identity_t<std::span<const Tensor<T>>> thetas, const Tensor<T>& x,
                PredictOptions options, const std::type_identity_t<UseOutputs<T>>& use);

// The same for networks whose outputs are logits (n, classes), put together.
template <Real T>
Predictive<T> predict_samples(const Module<T>& net, const Tensor<T>& x, SampleOptions options = {});
template <Real T>
Predictive<T> predict_ensemble(const Ensemble<T>& ensemble, const Tensor<T>& x, PredictOptions options = {});
template <Real T>
Predictive<T> predict_thetas(const Module<T>& net, std::type_identity_t<std::span<const Tensor<T>>> thetas,
                             const Tensor<T>& x, PredictOptions options = {});

}  // namespace pollen
