#pragma once

#include <pollen/autograd/random.hpp>
#include <pollen/nn/distributions/argument.hpp>

#include <array>

namespace pollen::distributions {

// What all densities of single numbers share. Law has the formula and its derivatives and is known to the .cpp file
// alone; n is the number of parameters.
//
// x and the parameters broadcast as in NumPy. Where x is outside the support, log_prob is -infinity and passes back
// zeros; where x is NaN, so is log_prob.
template <Real T, class Law, std::size_t n>
class Density {
  public:
    // The sum over all elements, as one node of the tape that x or a parameter is on.
    Var<T> log_prob(const Arg<T>& x) const;
    // The elements.
    Var<T> log_prob_terms(const Arg<T>& x) const;
    Tensor<T> log_prob_each(const Tensor<T>& x) const;

    // The same as log_prob of a distribution made of these parameters, for once.
    template <class... Parameter>
    static Var<T> lpdf(const Arg<T>& x, const Parameter&... parameter) {
        return lpdf_of({&x, &parameter...});
    }

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

    static Var<T> lpdf_of(const std::array<const Arg<T>*, n + 1>& args);

    std::array<Arg<T>, n> parameters_;
};

}  // namespace pollen::distributions
