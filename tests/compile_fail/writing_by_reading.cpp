// expect: non-const lvalue reference
#include <pollen/autograd/tensor.hpp>

double& write(pollen::Tensor<double>& x) { return x(0); }
