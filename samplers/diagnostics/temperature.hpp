#pragma once

#include <pollen/autograd/tensor.hpp>

#include <span>

// The temperature a sampler really runs at, measured in two ways. A draw's value is noisy; its mean over many draws is
// the estimate, and in equilibrium both means are the T of exp(-U / T).
namespace pollen {

// Kinetic:  p' M^-1 p / d,  whose mean is T if p ~ N(0, T M).
//
// inverse_mass is one number for all dimensions, or a tensor: the diagonal (d), or the whole matrix (d, d). For SGHMC,
// whose v has variance h T, it is 1 / h.
template <Real T>
double kinetic_temperature(std::span<const T> momentum, double inverse_mass = 1);
template <Real T>
double kinetic_temperature(std::span<const T> momentum, const Tensor<T>& inverse_mass);

// Configurational:  (theta - c) . grad U(theta) / d,  whose mean is T for any fixed c (the virial theorem).
//
// c = 0 unless a centre is given; one near the middle of the posterior makes the estimate much less noisy.
template <Real T>
double configurational_temperature(std::span<const T> position, std::span<const T> gradient,
                                   std::span<const T> centre = {});
// The mean over draws, with positions and gradients (draws, d).
template <Real T>
double configurational_temperature(const Tensor<T>& positions, const Tensor<T>& gradients,
                                   std::span<const T> centre = {});

}  // namespace pollen
