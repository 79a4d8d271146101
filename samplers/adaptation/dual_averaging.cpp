#include <pollen/autograd/math.hpp>
#include <pollen/samplers/adaptation/dual_averaging.hpp>
#include <pollen/samplers/options.hpp>

#include <algorithm>
#include <cmath>

namespace pollen {

void DualAveraging::restart(double step_size) {
    mu_ = math::log(10 * step_size);
    mean_ = average_ = 0;
    count_ = 0;
}

double DualAveraging::learn(double acceptance) {
    ++count_;
    const auto t = static_cast<double>(count_);
    const double eta = 1 / (t + options_.t0);
    mean_ = (1 - eta) * mean_ + eta * (target_ - std::min(acceptance, 1.0));
    const double x = mu_ - mean_ * std::sqrt(t) / options_.gamma;
    const double weight = math::pow(t, -options_.kappa);
    average_ = (1 - weight) * average_ + weight * x;
    return math::exp(x);
}

double DualAveraging::average() const { return math::exp(average_); }

void DualAveraging::visit(StateVisitor& visitor) {
    visitor.number("averaging_mu", mu_);
    visitor.number("averaging_mean", mean_);
    visitor.number("averaging_average", average_);
    visitor.integer("averaging_count", count_);
    check_saved_count("averaging_count", count_);
}

}  // namespace pollen
