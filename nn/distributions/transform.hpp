#pragma once

#include <pollen/autograd/ops.hpp>

#include <cstdint>

// From all numbers to those that a parameter may take, so that samplers and optimisers need not know of bounds. Each
// transform maps unconstrained numbers y to x and gives log |det dx/dy|, which belongs to the log density of y:
//
//     const auto [tau, log_jacobian] = Positive<double>().constrain(y);
//     log_density = half_cauchy_lpdf(tau, 5) + log_jacobian;
//
// unconstrain() is the inverse, for starting points; it throws where x breaks the constraint. The transforms and their
// Jacobians are Stan's (Reference manual, Constraint transforms).
namespace pollen {

template <Real T>
struct Constrained {
    Var<T> value;
    Var<T> log_jacobian;  // one number: the sum over all elements
};

// x = exp(y) > 0
template <Real T>
class Positive {
  public:
    Constrained<T> constrain(Var<T> y) const;
    Tensor<T> unconstrain(const Tensor<T>& x) const;
};

// x = low + exp(y) > low
template <Real T>
class LowerBound {
  public:
    explicit LowerBound(Number<T> low);
    Constrained<T> constrain(Var<T> y) const;
    Tensor<T> unconstrain(const Tensor<T>& x) const;

  private:
    T low_;
};

// x = high - exp(y) < high
template <Real T>
class UpperBound {
  public:
    explicit UpperBound(Number<T> high);
    Constrained<T> constrain(Var<T> y) const;
    Tensor<T> unconstrain(const Tensor<T>& x) const;

  private:
    T high_;
};

// x = low + (high - low) / (1 + exp(-y)), between low and high
template <Real T>
class Interval {
  public:
    Interval(Number<T> low, Number<T> high);
    Constrained<T> constrain(Var<T> y) const;
    Tensor<T> unconstrain(const Tensor<T>& x) const;

  private:
    T low_, high_;
};

// x_0 = y_0, x_k = x_{k-1} + exp(y_k): rising along the last axis
template <Real T>
class Ordered {
  public:
    Constrained<T> constrain(Var<T> y) const;
    Tensor<T> unconstrain(const Tensor<T>& x) const;
};

// K positive numbers with sum 1 along the last axis, from K - 1 numbers, by breaking a stick: x_k is the share
// 1 / (1 + exp(-(y_k - log(K - 1 - k)))) of what is left. y = 0 gives x = 1 / K.
template <Real T>
class Simplex {
  public:
    Constrained<T> constrain(Var<T> y) const;
    Tensor<T> unconstrain(const Tensor<T>& x) const;

    static std::int64_t unconstrained_size(std::int64_t constrained) { return constrained - 1; }
    static std::int64_t constrained_size(std::int64_t unconstrained) { return unconstrained + 1; }
};

}  // namespace pollen
