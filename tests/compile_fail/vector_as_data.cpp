// expect: pollen: data are Tensor<T> with the model's T
#include <pollen/nn/distributions.hpp>

#include <vector>

auto density(pollen::Var<double> mu) { return pollen::normal_lpdf(std::vector<double>{1, 2}, mu, 1); }
