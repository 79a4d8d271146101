// expect: lvalue required as left operand of assignment
#include <pollen/autograd/tensor.hpp>

void write(pollen::Tensor<double>& x) { x(0) = 1; }
