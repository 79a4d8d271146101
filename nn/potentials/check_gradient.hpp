#pragma once

#include <pollen/nn/potentials/potential.hpp>

namespace pollen {

// How far a potential's gradient is from the slopes of U by central differences,
//
//     s_k = (U(theta + h e_k) - U(theta - h e_k)) / 2h,    h = step max(1, |theta_k|)
//     error = max over k of |g_k - s_k| / max(1, |g_k|, |s_k|)
//
// If the gradient is right, the error in double is at most 1e-6 for U up to about 1e3; for larger U, rounding adds
// about 1e-16 U / h. In float choose a step of 1e-2 and expect an error of about 1e-2.
//
// With a SpreadPotential, call check_gradient() inside lead().
struct GradientCheck {
    double error = 0;             // NaN where U or a gradient is not finite
    std::int64_t coordinate = 0;  // of theta, where the error is that large
    std::string block;            // the parameter it belongs to
    double gradient = 0, slope = 0;
};

template <Real T>
GradientCheck check_gradient(Potential<T>& potential, std::span<const T> theta, double step = 1e-5);
template <Real T>
GradientCheck check_gradient(Potential<T>& potential, const std::vector<T>& theta, double step = 1e-5) {
    return check_gradient(potential, std::span<const T>(theta), step);
}

}  // namespace pollen
