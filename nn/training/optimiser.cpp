#include <pollen/nn/training/optimiser.hpp>

#include <pollen/autograd/support/checks.hpp>

namespace pollen {

void check_option(const std::string& rule, const char* name, double x, double below) {
    if (!(x >= 0 && x < below))
        throw ValueError(rule + ": " + name + " must not be negative and must be below " + to_text(below));
}

}  // namespace pollen
