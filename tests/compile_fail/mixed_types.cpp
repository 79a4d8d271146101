// expect: pollen: float and double do not mix in one expression
#include <pollen/pollen.hpp>

auto mixed(pollen::Var<float> x, pollen::Var<double> y) { return x * y; }
