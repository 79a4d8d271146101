#include "laws.hpp"

#include <cmath>

// The variances of both laws along an axis where that of the Gaussian is s.

// SGLD: with c = e / (2 s), (e + e^2 / 4) / (2c - c^2)
static double sgld_variance(double e, double s) {
    const double c = e / (2 * s);
    return (e + e * e / 4) / (2 * c - c * c);
}

// SGHMC: P = A P A' + Q for (x, v), where x += v with the v of this step, by iteration
//
//     A = [1 - h/s, 1 - a; -h/s, 1 - a],    Q = (2h (a - h/2) + h^2) [1, 1; 1, 1] = 2h a [1, 1; 1, 1]
static double sghmc_variance(double h, double a, double s) {
    double xx = s, xv = 0, vv = h;
    for (int k = 0; k < 100000; ++k) {
        const double p = 1 - h / s, q = -h / s, f = 1 - a, noise = 2 * h * a;
        const double new_xx = p * p * xx + 2 * p * f * xv + f * f * vv + noise;
        const double new_xv = p * q * xx + (p + q) * f * xv + f * f * vv + noise;
        vv = q * q * xx + 2 * q * f * xv + f * f * vv + noise;
        xx = new_xx;
        xv = new_xv;
    }
    return xx;
}

// The axes are (1, 1), where the Gaussian has the variance 1.9, and (1, -1), where it has 0.1.
static double covariance_error(double along, double across) {
    return (std::abs((along + across) / 2 - 1) + std::abs((along - across) / 2 - correlation)) / 2;
}

double sgld_covariance_error(double e) { return covariance_error(sgld_variance(e, 1.9), sgld_variance(e, 0.1)); }

double sghmc_covariance_error(double h, double a) {
    return covariance_error(sghmc_variance(h, a, 1.9), sghmc_variance(h, a, 0.1));
}
