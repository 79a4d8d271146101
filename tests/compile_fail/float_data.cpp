// expect: pollen: data are Tensor<T> with the model's T
#include <pollen/nn/distributions.hpp>

auto density(pollen::Var<double> mu, const pollen::Tensor<float>& y) { return pollen::normal_lpdf(y, mu, 1); }
