#pragma once

#include <pollen/autograd/tensor.hpp>

#include <type_traits>

// Functions of one number, in float and double. They are for what is computed beside tensors: a step size, an
// acceptance probability, a constant of a density. A function that is also an op (exp, log, sin, ...) gives a number
// the same bits as the op does. The functions of <cmath> are not used, since each C library has its own bits.
//
//     const double p = math::exp(-rise);
//
// An error bound is in units of the last place of the result; no test finds an error above it. Infinite and NaN
// arguments, zeros and the ends of a domain are as for the functions of <cmath>. std::sqrt, std::fma, std::floor,
// std::ldexp and std::abs are exact everywhere, so they are not here.
namespace pollen::math {

template <Real T>
T exp(T x);  // 1.1
template <Real T>
T exp2(T x);  // 1.2; exact if x is a whole number
template <Real T>
T expm1(T x);  // 1.5
template <Real T>
T log(T x);  // 0.9
template <Real T>
T log1p(T x);  // 1.5
template <Real T>
T log2(T x);  // 0.6; exact at powers of 2
template <Real T>
T log10(T x);  // 0.6; exact at powers of 10
template <Real T>
T pow(T x, std::type_identity_t<T> y);  // 1.2

template <Real T>
T sin(T x);  // 2.4
template <Real T>
T cos(T x);  // 2.4
template <Real T>
T atan(T x);  // 0.9
template <Real T>
T atan2(T y, std::type_identity_t<T> x);  // 0.9
template <Real T>
T sinh(T x);  // 2.5
template <Real T>
T cosh(T x);  // 1.5
template <Real T>
T tanh(T x);  // 1.5

template <Real T>
T erf(T x);  // 1.8
template <Real T>
T erfc(T x);  // 7
// log |Gamma(x)|. At negative x the bound is in units of the last place of 1 if the result is smaller than 1.
template <Real T>
T lgamma(T x);  // 6
// The derivative of lgamma.
template <Real T>
T digamma(T x);

// sqrt(x^2 + y^2), without overflow
template <Real T>
T hypot(T x, std::type_identity_t<T> y);  // 0.6
// 1 / (1 + exp(-x))
template <Real T>
T sigmoid(T x);  // 2.4
// log(1 + exp(x))
template <Real T>
T softplus(T x);  // 2

}  // namespace pollen::math
