#pragma once

// The incomplete gamma and beta functions, which are distribution functions, to nearly all digits of a double also
// where they are tiny.
namespace pollen::kernels {

// P(a, x), the probability that a gamma variable of shape a and rate 1 is below x, and Q = 1 - P
double gamma_p(double a, double x);
double gamma_q(double a, double x);

// I_x(a, b), the probability that a beta variable is below x; y = 1 - x
double beta_p(double a, double b, double x, double y);

// dlog x/da along P(a, x) = constant, for x of shape a and rate 1: how a draw follows its shape
//     dx/da = -(dP/da) / p(x)
double log_gamma_slope(double a, double log_x);

}  // namespace pollen::kernels
