#pragma once

#include <pollen/autograd/random.hpp>
#include <pollen/nn/distributions/argument.hpp>

#include <array>

namespace pollen::distributions {

// What a distribution has beyond a density, draws, moments and a distribution function.
inline constexpr unsigned pathwise = 1;    // draws that pass gradients back
inline constexpr unsigned divergence = 2;  // KL(p || q) in closed form

// What a parameter is called in errors, and its bounds.
enum class Bound : unsigned char { none, number, positive, finite_positive };

struct Parameter {
    const char* name;
    Bound bound = Bound::none;
};

// What all distributions of single numbers share. Law has the formulas and is known to the .cpp file alone, which
// includes the definitions of these members (detail/density_class.hpp); n is the number of parameters.
//
// x and the parameters broadcast as in NumPy. Where x is outside the support, log_prob is -infinity and passes back
// zeros; where x is NaN, so is log_prob.
template <Real T, class Law, std::size_t n, unsigned has>
class Density {
  public:
    // The sum over all elements, as one node of the tape that x or a parameter is on.
    Var<T> log_prob(const ArgRef<T>& x) const;
    // The elements.
    Var<T> log_prob_terms(const ArgRef<T>& x) const;
    Tensor<T> log_prob_each(const Tensor<T>& x) const;
    // The same as log_prob of a distribution made of these parameters, for once: x, then the parameters.
    static Var<T> lpdf(const std::array<ArgRef<T>, n + 1>& args);
    // The same without a check of the parameters, for outputs of a network: if one is out of bounds, the sum is NaN or
    // infinite.
    static Var<T> lpdf_unchecked(const std::array<ArgRef<T>, n + 1>& args);

    // Draws of the shape given, to which the parameters broadcast; rsample passes gradients back to them.
    Tensor<T> sample(const Shape& shape, const RandomKey& key) const;
    Var<T> rsample(const Shape& shape, const RandomKey& key) const requires((has & pathwise) != 0);

    Tensor<T> mean() const;
    Tensor<T> variance() const;
    Tensor<T> cdf(const Tensor<T>& x) const;

    // KL(this || q): the sum over all elements as a node, and the elements.
    Var<T> kl_to(const Density& q) const requires((has & divergence) != 0);
    Tensor<T> kl_each_to(const Density& q) const requires((has & divergence) != 0);

    // The shape of the parameters broadcast against each other.
    Shape shape() const;
    // The k-th parameter, in the order of the constructor.
    const Arg<T>& parameter(std::size_t k) const { return parameters_[k]; }
    // Whether any of them is a Var.
    bool on_tape() const {
        for (const Arg<T>& p : parameters_)
            if (p.var()) return true;
        return false;
    }

  protected:
    explicit Density(std::array<Arg<T>, n> parameters);

  private:
    std::array<Arg<T>, n> parameters_;
};

// KL(p || q) of two distributions of one kind.
template <Real T, class Law, std::size_t n, unsigned has>
requires((has & divergence) != 0) Var<T> kl(const Density<T, Law, n, has>& p, const Density<T, Law, n, has>& q) {
    return p.kl_to(q);
}
template <Real T, class Law, std::size_t n, unsigned has>
requires((has & divergence) != 0) Tensor<T> kl_each(const Density<T, Law, n, has>& p,
                                                    const Density<T, Law, n, has>& q) {
    return p.kl_each_to(q);
}

// log_prob of Distribution(parameters...) at x, with the number type of the arguments.
template <template <class> class Distribution, class X, class... Parameter>
Var<RealOf<X, Parameter...>> lpdf(const X& x, const Parameter&... parameter) {
    if constexpr (arguments_fit<X, Parameter...>())
        return Distribution<RealOf<X, Parameter...>>::lpdf({x, parameter...});
    else
        return {};
}

}  // namespace pollen::distributions
