#pragma once

#include <pollen/nn/layers/conv2d.hpp>
#include <pollen/nn/layers/dense.hpp>
#include <pollen/nn/module/residual.hpp>
#include <pollen/nn/module/sequential.hpp>
#include <pollen/nn/module/structure.hpp>
#include <pollen/nn/module/with_prior.hpp>
#include <pollen/nn/priors/gaussian_prior.hpp>
#include <pollen/nn/variational/posteriors.hpp>

#include <vector>

namespace pollen {

// How the gradient of E_q log p(data | w) is estimated.
enum class Estimator {
    weights,  // one draw of the weights for the whole batch: Bayes by Backprop proper (Blundell et al. 2015)
    local,    // the outputs of a layer are drawn, for each item by itself (Kingma et al. 2015)
    flipout,  // one draw whose signs are flipped at random for each item (Wen et al. 2018)
};

// How KL[q || p] is estimated: at the drawn weights, or in closed form where q is mean-field and p a normal law. Where
// there is no closed form it is sampled; `local`, which draws no weights, takes the closed form where there is one.
enum class Complexity { sampled, closed };

template <Real T>
struct BayesOptions {
    Prior prior = GaussianPrior{};  // of weights that have none of their own (set_prior)
    MakePosterior<T> posterior = mean_field<T>();
    Estimator estimator = Estimator::weights;
    Complexity complexity = Complexity::sampled;
};

// Any module with a posterior over its parameters in the place of values: an evaluation draws them, and adds what they
// cost to the pass. In plain prediction the weights are the posterior's means.
//
// `local` and `flipout` need a module that is linear in its parameters (Dense, Conv2d, ConvTranspose2d) and mean-field
// posteriors. With x the input and f(x; w) the module,
//
//     local      y = f(x; mu) + sqrt(f(x^2; sigma^2)) z                      z ~ N(0, 1), one for each output
//     flipout    y = f(x; mu) + s f(r x; sigma eps)                          r, s random signs
//
// with one sign for each item and each channel of the input and of the output: an item sees one weight tensor at all
// its positions. Noise on outputs cannot do that: where several outputs of an item share weights (convolutions, inputs
// with more axes than items and features) flipout takes the place of local.
template <Real T = float>
class Bayes : public Layer<Bayes<T>, T>, public HasStructure {
  public:
    // Starts from the module's values, where it has any.
    Bayes(Part<T> module, BayesOptions<T> options = {});

    Var<T> forward(Pass<T>& pass, Var<T> x) const override;
    Fused<T> forward_fused(Pass<T>& pass, Var<T> x, std::span<const Part<T>> next) const override;
    static void members(auto& self, auto& visitor) {
        for (auto& weight : self.weights_) {
            each_parameter(*weight.posterior,
                           [&](const std::string& name, auto& p) { visitor.parameter(weight.name + "." + name, p); });
            if (weight.prior.hierarchical()) visitor.parameter(weight.name + ".log_tau", weight.log_tau);
        }
    }
    std::string describe() const override { return "Bayes " + module_->describe(); }
    std::string details() const override;
    void put_structure(TensorFile& file, const std::string& prefix) const override;
    std::vector<std::string> get_structure(TensorFile& file, const std::string& prefix) override;

    // One weight tensor of the module.
    struct Weight {
        std::string name;
        Owned<Posterior<T>> posterior;
        Prior prior;
        Parameter<T> log_tau = {};  // if the prior is hierarchical
    };
    const std::vector<Weight>& weights() const { return weights_; }
    std::vector<Weight>& weights() { return weights_; }

    // The module with the posterior means as its parameters. An error where they have no values yet.
    std::unique_ptr<Module<T>> mean() const;

  private:
    bool draws_outputs(const Pass<T>& pass) const;
    void set(Pass<T>& pass, const std::vector<Var<T>>& weights) const;
    Var<T> at(const std::vector<Var<T>>& weights, Pass<T>& pass, Var<T> x) const;
    std::vector<Var<T>> weights_of(Pass<T>& pass) const;
    Var<T> draw(Pass<T>& pass, const Weight& weight) const;
    void add_closed_complexity(Pass<T>& pass, const Weight& weight) const;
    Var<T> local(Pass<T>& pass, Var<T> x) const;
    Var<T> flipout(Pass<T>& pass, Var<T> x) const;

    Part<T> module_;
    BayesOptions<T> options_;
    std::vector<Weight> weights_;
};

// Bayesian layers by their own names.
template <Real T = float>
class BayesDense : public Bayes<T> {
  public:
    BayesDense(std::int64_t inputs, std::int64_t outputs, BayesOptions<T> options = {}, DenseOptions dense = {})
        : Bayes<T>(Dense<T>(inputs, outputs, dense), std::move(options)) {}
};
template <Real T = float>
class BayesConv2d : public Bayes<T> {
  public:
    BayesConv2d(std::int64_t inputs, std::int64_t outputs, Size2d kernel, BayesOptions<T> options = {},
                ConvOptions conv = {})
        : Bayes<T>(Conv2d<T>(inputs, outputs, kernel, conv), std::move(options)) {}
};

// The Bayesian twin of a network: every layer with parameters becomes a Bayes, Sequential and Residual stay what they
// are. Starts from the network's values, where it has any: a trained network's weights become the means. Layers that
// are not linear in their parameters (norms) always use Estimator::weights.
template <Real T>
Part<T> bayesian_twin(const Module<T>& net, const BayesOptions<T>& options);
// The same with its type: a network stays a Sequential or Residual, and a single layer becomes a Bayes.
template <class Net>
auto bayesian(const Net& net, const std::type_identity_t<BayesOptions<typename Net::Number>>& options = {}) {
    using T = typename Net::Number;
    using Twin = std::conditional_t<std::same_as<Net, Sequential<T>> || std::same_as<Net, Residual<T>>, Net, Bayes<T>>;
    Part<T> twin = bayesian_twin<T>(net, options);
    if (auto* typed = dynamic_cast<Twin*>(&*twin)) return Twin(std::move(*typed));
    throw ValueError("bayesian: " + net.describe() + " has no parameters");
}

// The other way: a deterministic network with the posterior means as its weights.
template <Real T>
Part<T> mean_network(const Module<T>& net);

// The weights of all Bayesian layers of a network, with their names ("0.weight").
template <class Weight>
struct NamedWeight {
    std::string name;
    Weight* weight;
};
template <Real T>
std::vector<NamedWeight<typename Bayes<T>::Weight>> bayesian_weights(Module<T>& net);
template <Real T>
std::vector<NamedWeight<const typename Bayes<T>::Weight>> bayesian_weights(const Module<T>& net);

}  // namespace pollen
