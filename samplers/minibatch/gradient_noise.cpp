#include <pollen/samplers/minibatch/gradient_noise.hpp>

#include <pollen/autograd/support/checks.hpp>
#include <pollen/samplers/options.hpp>

#include <cmath>

namespace pollen {

GradientNoise::GradientNoise(double variance) : GradientNoise(std::vector<double>{variance}) {}

GradientNoise::GradientNoise(std::vector<double> variances) : values_(std::move(variances)) {
    if (values_.empty()) throw ValueError("GradientNoise: there are no variances");
    for (const double v : values_)
        if (!std::isfinite(v)) throw ValueError("GradientNoise: a variance is " + to_text(v) + "; it must be finite");
    if (values_.size() == 1 && values_[0] < 0)
        throw ValueError("GradientNoise: the variance is " + to_text(values_[0]) + "; it must not be negative");
}

GradientNoise GradientNoise::estimated() { return {}; }

std::string GradientNoise::describe() const {
    if (!known()) return "estimated";
    return values_.size() == 1 ? to_text(values_[0]) : numbers_text(values_);
}

}  // namespace pollen
