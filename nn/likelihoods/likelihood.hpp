#pragma once

#include <pollen/autograd/ops.hpp>
#include <pollen/data/sets/dataset.hpp>
#include <pollen/nn/module/concrete.hpp>
#include <pollen/nn/module/pass.hpp>

#include <memory>
#include <string>
#include <vector>

namespace pollen {

// How well a network's outputs explain the data: a sum over the batch of log p(y_i | output_i), in nats, constants
// included. The same object is the loss of a training run, -log_prob / n, and the likelihood of a sampler.
template <Real T>
class Likelihood : public HasParameters<T> {
  public:
    // Throws a ShapeError or ValueError that says what the batch lacks or which item is out of range.
    virtual Var<T> log_prob(Pass<T>& pass, Var<T> outputs, const Dataset<T>& batch) const = 0;

    // Throws the same if the data do not fit outputs of this shape, (n, ...) for n items. train(), evaluate() and
    // NetworkPotential call it once for all data, so that a message has the number of an item in the data set, and not
    // in a batch. A likelihood that does nothing here finds faults batch by batch.
    virtual void check_data(const Shape& /*outputs*/, const Dataset<T>& /*data*/) const {}

    // How good the predictions are, in the terms people use for such data: accuracy, root mean squared error. Summed
    // over the batch by `score`, turned into the figure for n items by `finish`.
    virtual const char* score_name() const = 0;
    virtual bool higher_is_better() const = 0;
    virtual double score(const Tensor<T>& outputs, const Dataset<T>& batch) const = 0;
    virtual double finish(double total, std::int64_t items) const = 0;

    virtual std::unique_ptr<Likelihood<T>> clone() const = 0;
    virtual std::string describe() const = 0;
};

// The parameters of a network with a likelihood: the network's, then the likelihood's, called "likelihood.".
template <Real T>
Parameters<T> parameters_of(const HasParameters<T>& net, const Likelihood<T>& likelihood) {
    Parameters<T> parameters(net);
    parameters.add("likelihood", likelihood);
    return parameters;
}

// The prior of each of these parameters, which together with the likelihood is the posterior that train() finds the
// mode of and that samplers draw from. It is the parameter's own prior, if it has one; otherwise `prior` for the
// network's and N(0, 1) for the likelihood's. Throws a ValueError for a hierarchical prior, which is for variational
// posteriors.
template <Real T>
std::vector<Prior> priors_of(const char* who, const HasParameters<T>& net, const Likelihood<T>& likelihood,
                             const Prior& prior);
// The priors that parameters have of their own, as text for descriptions: " 0.weight ~ LaplacePrior(scale 1)".
template <Real T>
std::string own_priors(const HasParameters<T>& net);

// First values for both. The likelihood's random streams are far from the network's, however many layers that has.
template <Real T>
void initialise(HasParameters<T>& net, Likelihood<T>& likelihood, std::uint64_t seed, Which which) {
    initialise<T>(net, seed, which);
    initialise<T>(likelihood, seed, which, 0x800000);
}

}  // namespace pollen
