// expect: pollen: data are Tensor<T> with the model's T
#include <pollen/nn/distributions.hpp>

auto density(pollen::Var<double> mu, const pollen::Indices& y) { return pollen::poisson_lpmf(y, mu); }
