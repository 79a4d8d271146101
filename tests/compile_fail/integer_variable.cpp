// expect: constraints not satisfied
#include <pollen/pollen.hpp>

pollen::Tape<int> tape;
