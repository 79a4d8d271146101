#pragma once

#include <vector>

// Two hidden units, exactly. Given the weights w the energy is a parabola of v, with the matrix
// H = phi' phi / sigma^2 + 1 / s^2 of phi_ik = tanh(w_k x_i):
//
//     E(w, v) = lowest + (v - best)' H (v - best) / 2
//
// so that v is integrated out by a formula; over the plane of w there is a grid.
struct Valley {
    double lowest, determinant, f;  // of H; f(probe) at the best v

    Valley(double w1, double w2);
    // The log of the integral of exp(-E / T) over v, without what does not depend on w.
    double log_weight(double T) const;
};

struct Exact {
    double energy;         // <E>
    double heat_capacity;  // Var(E) / T^2
    double f;              // <f(probe)>
    double lowest;         // the least E on the grid
    double free_energy;    // F = -T log Z, Z the integral of exp(-E / T) over all weights

    double entropy(double T) const { return (energy - free_energy) / T; }
};
Exact exact(double T);

// The density of E at the temperature T.
std::vector<double> energy_density(double T, const std::vector<double>& energies);
