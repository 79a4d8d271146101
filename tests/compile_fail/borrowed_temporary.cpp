// expect: deleted
#include <pollen/pollen.hpp>

auto dangling(pollen::Tape<double>& tape) { return tape.borrow(pollen::Tensor<double>{1, 2}); }
