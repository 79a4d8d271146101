#pragma once

#include <pollen/autograd/tensor.hpp>

#include <cstdint>
#include <span>
#include <vector>

// Whether chains have converged, and how much their draws are worth, after Vehtari, Gelman, Simpson, Carpenter and
// Buerkner (Rank-normalization, folding, and localization: an improved R-hat for assessing convergence of MCMC, 2021).
//
// The numbers are those of the R package posterior. A function returns NaN if posterior returns NA: for draws that
// are all equal or not finite, and for too few of them; R-hat needs 4 draws a chain and an effective sample size 6.
// (With 2 or 3 draws a chain and more than one chain posterior 1.4 mixes up chains and draws and returns a number; here
// it is NaN as well.)
namespace pollen {

// The draws of one number in several chains, as a view: whoever owns the draws keeps them alive.
class Chains {
  public:
    // (chains, draws), or (draws) for a single chain.
    Chains(const Tensor<double>& draws);
    Chains(const std::vector<std::vector<double>>& chains);
    // `chains` rows of equal length, one after the other.
    Chains(std::span<const double> draws, std::int64_t chains);

    std::int64_t chains() const { return std::ssize(rows_); }
    std::int64_t draws() const { return std::ssize(rows_.front()); }
    std::int64_t size() const { return chains() * draws(); }
    std::span<const double> chain(std::int64_t c) const { return rows_[static_cast<std::size_t>(c)]; }

    // All draws, chain after chain.
    std::vector<double> flatten() const;

  private:
    std::vector<std::span<const double>> rows_;
};

// The greater of the split R-hat of the rank-normalised draws, which sees chains in different places, and that of
// their rank-normalised distances from the median, which sees chains of different width. Below 1.01 is good.
double rhat(const Chains& x);
// The split R-hat of the draws as they are (Gelman et al., Bayesian Data Analysis, 3rd edition); it does not notice
// chains that differ in the tails alone, and means nothing without a variance.
double rhat_basic(const Chains& x, bool split = true);

// How many independent draws would be worth as much: in the middle of the distribution, and in its tails (the lesser of
// those for the 5 % and the 95 % quantile). 100 a chain are enough to trust the other diagnostics.
double ess_bulk(const Chains& x);
double ess_tail(const Chains& x);
// ... for one estimate.
double ess_mean(const Chains& x);
double ess_sd(const Chains& x);
double ess_median(const Chains& x);
double ess_quantile(const Chains& x, double p);

// The standard error of an estimate that comes from the draws being finite in number and dependent.
double mcse_mean(const Chains& x);
double mcse_sd(const Chains& x);
double mcse_median(const Chains& x);
double mcse_quantile(const Chains& x, double p);

// acov_k = 1/n sum_t (x_t - mean) (x_{t+k} - mean) for k = 0, ..., n - 1, and acov_k / acov_0, in O(n log n).
std::vector<double> autocovariance(std::span<const double> x);
std::vector<double> autocorrelation(std::span<const double> x);

// The p-quantile of draws, interpolated linearly between order statistics (R's type 7). NaN if a draw is NaN.
double quantile(std::span<const double> x, double p);

// The energy's Bayesian fraction of missing information of one chain (Betancourt, Diagnosing suboptimal cotangent
// disintegrations in Hamiltonian Monte Carlo, 2016):
//
//     sum_t (E_t - E_{t-1})^2 / sum_t (E_t - mean)^2
//
// Below 0.3, new momenta change the energy too little for the chain to reach the tails. NaN for a constant energy.
double ebfmi(std::span<const double> energies);

}  // namespace pollen
