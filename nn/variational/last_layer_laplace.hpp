#pragma once

#include <pollen/nn/layers/dense.hpp>
#include <pollen/nn/likelihoods/categorical.hpp>
#include <pollen/nn/likelihoods/gaussian.hpp>
#include <pollen/nn/module/sequential.hpp>

#include <optional>
#include <vector>

namespace pollen {

struct LaplaceOptions {
    // Of the normal prior N(0, prior_sd^2) of all weights and biases of the last layer. Empty: the one with the
    // greatest evidence.
    std::optional<double> prior_sd = {};
};

// Predictions of numbers: y has the variance epistemic + noise.
template <Real T>
struct LaplaceNumbers {
    Tensor<T> mean;       // (n, k), the outputs of the network
    Tensor<T> epistemic;  // (n, k), variances, of the weights
    Tensor<T> sd;         // (n, k), of y
};

// Laplace's approximation in the last layer of a trained network (MacKay, A practical Bayesian framework for
// backpropagation networks, 1992; Daxberger et al., Laplace redux, 2021). The layers before it stay as they are; the
// weights w of the last one, a Dense, have the posterior
//
//     q(w) = N(w*, A^-1),    A = sum_i J_i' L_i J_i + I / prior_sd^2        (generalised Gauss-Newton)
//
// where w* are the trained weights, J_i = df_i/dw are the features of item i (what the last layer gets, and 1 for its
// bias), and L_i is minus the second derivative of log p(y_i | f_i) with respect to the outputs f_i:
//
//     Gaussian       1 / sd^2 for each output
//     Categorical    diag(p_i) - p_i p_i',    p_i = softmax(f_i)
//
// The outputs are linear in w. So A is the exact curvature, and with a Gaussian likelihood and w* at its mode q is the
// exact posterior given the features: Bayesian linear regression.
//
//     const LastLayerLaplace<float> laplace(net, likelihood, train_data);
//     const LaplaceNumbers<float> p = laplace.predict_numbers(x);                               // Gaussian
//     const Tensor<float> p = laplace.probabilities(x);                                         // Categorical
//     const Predictive<float> p = predict_thetas<float>(net, laplace.draws(30, seed), x);       // the same, by draws
//
// A is a matrix of F x F numbers for F features (of each output the same one), with C classes of CF x CF. The sum over
// the data has a fixed order: the same bits on any number of threads.
template <Real T>
class LastLayerLaplace {
  public:
    // Throws a ValueError if the last part of the network is no Dense layer, if the noise is predicted, or if there is
    // no prior_sd with the greatest evidence.
    LastLayerLaplace(const Sequential<T>& net, const Gaussian<T>& likelihood, const Dataset<T>& data,
                     LaplaceOptions options = {});
    LastLayerLaplace(const Sequential<T>& net, const Categorical<T>& likelihood, const Dataset<T>& data,
                     LaplaceOptions options = {});

    double prior_sd() const;
    // log p(D | prior_sd), with w* as it is (MacKay 1992, Eq. 30). d is the number of weights:
    //
    //     log p(D | w*) - |w*|^2 / (2 prior_sd^2) - d log prior_sd - log det A / 2
    double log_evidence() const { return log_evidence_; }

    // For a Gaussian likelihood: the exact moments under q, with epistemic = J A^-1 J'.
    LaplaceNumbers<T> predict_numbers(const Tensor<T>& x) const;
    // For classes, MacKay's approximation of the average over q (The evidence framework applied to classification
    // networks, 1992), (n, classes):
    //
    //     softmax(f / sqrt(1 + pi v / 8)),    v = the variances J A^-1 J' of the outputs
    Tensor<T> probabilities(const Tensor<T>& x) const;

    // Draw number k, k + 1, ... under the seed: theta of the whole network, as Parameters has it, with the last layer
    // drawn from q.
    Tensor<T> draw(std::uint64_t seed, std::uint64_t k) const;
    std::vector<Tensor<T>> draws(std::int64_t count, std::uint64_t seed, std::uint64_t first = 0) const;

  private:
    LastLayerLaplace(const Sequential<T>& net, const Dataset<T>& data);
    const Dense<T>& last() const;
    Tensor<double> features(const Tensor<T>& x) const;
    Tensor<double> outputs(const Tensor<double>& features) const;
    void add_numbers(const Tensor<double>& features, const Tensor<double>& outputs, const Tensor<T>& targets);
    void add_classes(const Tensor<double>& features, const Tensor<double>& outputs, const Indices& labels);
    void add_data(const Likelihood<T>& likelihood, const Dataset<T>& data);
    void finish(LaplaceOptions options);
    double log_det(double precision);
    double best_precision(double squares);
    std::vector<double> variances(const Tensor<double>& features, std::int64_t output) const;

    Sequential<T> net_, body_;  // body_: net_ without its last part
    std::int64_t features_, outputs_;
    double noise_ = 0;             // sd, of a Gaussian likelihood; 0: Categorical
    std::int64_t size_ = 0;        // A is size_ x size_; for a Gaussian likelihood it is the same for each output
    std::vector<double> weights_;  // w*, output after output, the bias behind the weights of each
    std::vector<double> curvature_, factor_;  // A without the prior, and L of A = L L', in lower triangles
    double precision_ = 0, log_likelihood_ = 0, log_evidence_ = 0;
};

}  // namespace pollen
