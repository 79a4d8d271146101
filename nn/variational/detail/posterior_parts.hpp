#pragma once

#include <pollen/nn/module/parameter.hpp>

#include <pollen/autograd/tape.hpp>

// What the posteriors have in common.
namespace pollen {

// rho with log(1 + exp(rho)) = share * sd. Throws a ValueError unless sd is positive.
double rho_of(const char* posterior, double sd, double share = 1);

// log(1 + exp(rho))
template <Real T>
Tensor<T> softplus_of(const Tensor<T>& rho);

// Sets the mean of a posterior. Throws a ShapeError unless it has the shape of the weights.
template <Real T>
void set_mean_value(const char* posterior, Parameter<T>& mu, const Tensor<T>& mean);

// WeightDraw::log_q_log_p of two scalars.
template <Real T>
Var<T> log_q_log_p(Var<T> log_q, Var<T> log_p);

}  // namespace pollen
