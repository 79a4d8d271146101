#pragma once

#include <pollen/autograd/random.hpp>
#include <pollen/nn/distributions/argument.hpp>

#include <utility>

namespace pollen {

// log sum_k w_k exp(log_probs[..., k]), w = softmax(logits), by log-sum-exp: no probability is rounded to zero before
// its logarithm is taken. logits and log_probs are (..., K) and broadcast. The sum over all but the last axis as a
// node; and the elements. Where every term is -infinity, so is the result, and it passes back zeros.
template <Real T>
Var<T> mixture_log_prob(const Arg<T>& logits, const Arg<T>& log_probs);
template <Real T>
Tensor<T> mixture_log_prob_each(const Tensor<T>& logits, const Tensor<T>& log_probs);

namespace detail {

template <Real T>
Arg<T> log_of_weights(const Arg<T>& probabilities);
template <Real T>
Arg<T> with_last_axis(const Arg<T>& x);
// sum_k w_k v[..., k], and v[..., c] of a class c drawn with probabilities w
template <Real T>
Tensor<T> weighted_mean(const Tensor<T>& logits, const Tensor<T>& v);
template <Real T>
Tensor<T> mixture_variance(const Tensor<T>& logits, const Tensor<T>& means, const Tensor<T>& variances);
template <Real T>
Tensor<T> pick(const Tensor<T>& logits, const Tensor<T>& v, const RandomKey& key);
Shape with_components(const Shape& shape, const Shape& components);

}  // namespace detail

namespace distributions {

// A mixture of distributions of one family: Component has parameters of shape (..., K), and its last axis counts the
// parts of the mixture.
//
//     const auto law = Mixture<Normal<double>, double>::of_logits(logits, Normal<double>(means, sds));
template <class Component, Real T>
class Mixture {
  public:
    // The weights are softmax(logits); or probabilities, which are divided by their sum.
    static Mixture of_logits(Arg<T> logits, Component component) {
        return Mixture(std::move(logits), std::move(component));
    }
    static Mixture of_probabilities(const Arg<T>& probabilities, Component component) {
        return Mixture(detail::log_of_weights(probabilities), std::move(component));
    }

    Var<T> log_prob(const Arg<T>& x) const {
        const Arg<T> at = detail::with_last_axis(x);
        if (!logits_.var() && !x.var() && !component_is_on_tape()) return component_.log_prob(x);  // throws: no tape
        if (x.var() || component_is_on_tape()) return mixture_log_prob<T>(logits_, component_.log_prob_terms(at));
        return mixture_log_prob<T>(logits_, component_.log_prob_each(at.value()));
    }
    Tensor<T> log_prob_each(const Tensor<T>& x) const {
        return mixture_log_prob_each(logits_.value(), component_.log_prob_each(detail::with_last_axis<T>(x).value()));
    }

    Tensor<T> sample(const Shape& shape, const RandomKey& key) const {
        const Shape all = detail::with_components(shape, component_.shape());
        return detail::pick(logits_.value(), component_.sample(all, key), key);
    }

    Tensor<T> mean() const { return detail::weighted_mean(logits_.value(), component_.mean()); }
    Tensor<T> variance() const {
        return detail::mixture_variance(logits_.value(), component_.mean(), component_.variance());
    }
    Tensor<T> cdf(const Tensor<T>& x) const {
        return detail::weighted_mean(logits_.value(), component_.cdf(detail::with_last_axis<T>(x).value()));
    }

  private:
    Mixture(Arg<T> logits, Component component) : logits_(std::move(logits)), component_(std::move(component)) {}
    bool component_is_on_tape() const { return component_.on_tape(); }

    Arg<T> logits_;
    Component component_;
};

}  // namespace distributions

}  // namespace pollen
