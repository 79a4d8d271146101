#pragma once

#include "../common/stage.hpp"

#include <pollen/samplers/draws/draws.hpp>

#include <string>
#include <vector>

// A method and what it found:
//
//     sigma, nu             (chains, draws)
//     low, middle, high     (days): quantiles 5, 50 and 95 % of the volatility 100 exp(s_i), in % a day
//     s                     (days, 3): mean, sd and standard error of s_i
//     seconds, gradients    of all chains: seconds with the warm-up, gradients without
//     E-BFMI                of NUTS: the lowest of its chains
//     elbo                  (1, draws), of a variational fit
//     mean low, mean high   of the hybrid: low and high without the noise of its path
struct Method {
    std::string name;
    Found found;

    const pollen::Tensor<double>& operator[](const std::string& key) const { return found.at(key); }
    bool has(const std::string& key) const { return found.contains(key); }
    double ess_per_second() const;
};
using Methods = std::vector<Method>;

// low, middle, high and s of draws of the path: (chains, draws, days).
Found summary_of_path(const pollen::Tensor<double>& s);

// Adds seconds and gradients of a run.
void add_costs(Found& found, const pollen::Draws& run);

// Returns the method of this name. Throws a ValueError if no method has it.
const Method& method_of(const Methods& methods, const std::string& name);

// All of that but what only some methods have.
Found summary_of(const pollen::Draws& run, const pollen::Tensor<double>& s);
