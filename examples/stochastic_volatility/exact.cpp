#include "exact.hpp"

#include "market.hpp"

#include <pollen/autograd/math.hpp>
#include <pollen/autograd/parallel.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>

using namespace pollen;
using D = Tensor<double>;

namespace {

// Values of a parameter, even in its log.
struct LogGrid {
    double low, high;  // of the log
    std::int64_t points;
    double spacing() const { return (high - low) / static_cast<double>(points - 1); }
    double value(std::int64_t k) const { return math::exp(low + static_cast<double>(k) * spacing()); }
};

// log p(returns | sigma, nu) and the first two moments of s on some days, given sigma and nu.
struct GivenParameters {
    double log_likelihood = 0;
    Numbers mean, square;
};

// The states of the hidden Markov model for one sigma: s = s_0 + j h with h at most 0.8 sigma, 4.2 to each side of the
// level of the returns, and the kernel h N(j h; 0, sigma^2) up to 8 sigma.
class States {
  public:
    States(double level, double sigma) {
        h_ = std::min(0.8 * sigma, 0.08);
        const double reach = 4.2;
        count = static_cast<std::int64_t>(2 * reach / h_) + 1;
        for (std::int64_t j = 0; j < count; ++j) s.push_back(level - reach + static_cast<double>(j) * h_);
        const auto width = static_cast<std::int64_t>(8 * sigma / h_);
        const double scale = h_ / (sigma * std::sqrt(2 * std::numbers::pi));
        for (std::int64_t k = 0; k <= width; ++k) {
            const double z = static_cast<double>(k) * h_ / sigma;
            kernel_.push_back(scale * math::exp(-0.5 * z * z));
        }
    }

    // s_1 ~ N(0, 100), times h.
    Numbers first() const {
        Numbers p;
        for (const double at : s)
            p.push_back(h_ * math::exp(-0.5 * at * at / 1e4) / (100 * std::sqrt(2 * std::numbers::pi)));
        return p;
    }
    // The density a day later, or the same backwards. Adds the neighbours to the left and to the right of each state.
    void step(const Numbers& from, Numbers& to) const {
        for (std::size_t j = 0; j < s.size(); ++j) to[j] = kernel_[0] * from[j];
        for (std::size_t k = 1; k < kernel_.size(); ++k) {
            const double weight = kernel_[k];
            for (std::size_t j = k; j < s.size(); ++j) to[j] += weight * from[j - k];
            for (std::size_t j = 0; j + k < s.size(); ++j) to[j] += weight * from[j + k];
        }
    }

    Numbers s;
    std::int64_t count = 0;

  private:
    double h_ = 0;
    Numbers kernel_;
};

// p(r_i | s_j, nu) of all days and states.
std::vector<Numbers> densities_of(const D& returns, const States& states, double nu) {
    const double constant = math::lgamma((nu + 1) / 2) - math::lgamma(nu / 2) - 0.5 * math::log(nu * std::numbers::pi);
    Numbers shrink;
    for (const double s : states.s) shrink.push_back(math::exp(-2 * s) / nu);
    std::vector<Numbers> densities;
    for (const double r : returns.values()) {
        Numbers& p = densities.emplace_back();
        for (std::size_t j = 0; j < states.s.size(); ++j)
            p.push_back(math::exp(constant - states.s[j] - (nu + 1) / 2 * math::log1p(r * r * shrink[j])));
    }
    return densities;
}

// Makes the sum of p 1 and returns what it was.
double normalise(Numbers& p) {
    double sum = 0;
    for (const double x : p) sum += x;
    for (double& x : p) x /= sum;
    return sum;
}

void multiply(Numbers& p, const Numbers& by) {
    for (std::size_t j = 0; j < p.size(); ++j) p[j] *= by[j];
}

// Forwards p(s_i | r_1 ... r_i), backwards p(r_{i+1} ... r_n | s_i) but for a factor; their product is p(s_i |
// returns).
GivenParameters given(const D& returns, const std::vector<std::int64_t>& days, double sigma, double nu) {
    const States states(level_of(returns), sigma);
    const std::vector<Numbers> densities = densities_of(returns, states, nu);
    GivenParameters found{0, Numbers(days.size()), Numbers(days.size())};
    std::vector<Numbers> forwards(days.size());
    Numbers p = states.first(), next(p.size());
    const std::int64_t n = returns.size();
    for (std::int64_t i = 0; i < n; ++i) {
        if (i > 0) {
            states.step(p, next);
            std::swap(p, next);
        }
        multiply(p, densities[static_cast<std::size_t>(i)]);
        found.log_likelihood += math::log(normalise(p));
        for (std::size_t d = 0; d < days.size(); ++d)
            if (days[d] == i + 1) forwards[d] = p;
    }
    std::ranges::fill(p, 1.0);
    for (std::int64_t i = n - 1; i >= 0; --i) {
        for (std::size_t d = 0; d < days.size(); ++d) {
            if (days[d] != i + 1) continue;
            Numbers smooth = forwards[d];
            multiply(smooth, p);
            normalise(smooth);
            for (std::size_t j = 0; j < smooth.size(); ++j) {
                found.mean[d] += smooth[j] * states.s[j];
                found.square[d] += smooth[j] * states.s[j] * states.s[j];
            }
        }
        multiply(p, densities[static_cast<std::size_t>(i)]);
        states.step(p, next);
        std::swap(p, next);
        normalise(p);
    }
    return found;
}

// Sums over both grids. "logs" has mean and sd of log sigma and log nu, for the choice of finer grids.
Found sums(const D& returns, const std::vector<std::int64_t>& days, const LogGrid& sigmas, const LogGrid& nus) {
    std::vector<GivenParameters> all(static_cast<std::size_t>(sigmas.points * nus.points));
    parallel_for(std::ssize(all), 1, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t k = begin; k < end; ++k) {
            stop_if_asked();
            const double sigma = sigmas.value(k / nus.points), nu = nus.value(k % nus.points);
            GivenParameters& g = all[static_cast<std::size_t>(k)] = given(returns, days, sigma, nu);
            // Priors Exponential(10) and Exponential(0.1), and the Jacobian of the logs.
            g.log_likelihood += -10 * sigma - 0.1 * nu + math::log(sigma * nu);
        }
    });
    double most = all[0].log_likelihood;
    for (const GivenParameters& g : all) most = std::max(most, g.log_likelihood);
    const std::size_t rows = 4 + days.size();  // log sigma, log nu, sigma, nu, s on the days
    double total = 0;
    Numbers mean(rows), square(rows);
    for (std::size_t k = 0; k < all.size(); ++k) {
        const double weight = math::exp(all[k].log_likelihood - most);
        total += weight;
        const double sigma = sigmas.value(static_cast<std::int64_t>(k) / nus.points),
                     nu = nus.value(static_cast<std::int64_t>(k) % nus.points);
        const Numbers values{math::log(sigma), math::log(nu), sigma, nu};
        for (std::size_t q = 0; q < rows; ++q) {
            mean[q] += weight * (q < 4 ? values[q] : all[k].mean[q - 4]);
            square[q] += weight * (q < 4 ? values[q] * values[q] : all[k].square[q - 4]);
        }
    }
    D logs = D::empty({2, 2}), moments = D::empty({static_cast<std::int64_t>(rows) - 2, 2});
    for (std::size_t q = 0; q < rows; ++q) {
        const double m = mean[q] / total, sd = std::sqrt(square[q] / total - m * m);
        double* const row = q < 2 ? logs.mutable_data() + 2 * q : moments.mutable_data() + 2 * (q - 2);
        row[0] = m;
        row[1] = sd;
    }
    return {{"log evidence", D::scalar(most + math::log(total * sigmas.spacing() * nus.spacing()))},
            {"logs", logs},
            {"moments", moments}};
}

}  // namespace

// A coarse pass finds where sigma and nu are. The fine one has steps of half a standard deviation of the logs. It takes
// 7 of them to each side, but for nu, whose density falls like its prior, up to 400.
Found exact_posterior(const D& returns, const std::vector<std::int64_t>& days) {
    const Found coarse =
        sums(returns, {}, {math::log(0.015), math::log(0.5), 24}, {math::log(1.5), math::log(300.0), 16});
    const auto fine = [&](std::int64_t k, double most) {
        const double mean = coarse.at("logs")(k, 0), sd = coarse.at("logs")(k, 1), low = mean - 7 * sd;
        const auto steps = static_cast<std::int64_t>(std::max(1.0, (most - low) / (0.5 * sd)));
        return LogGrid{low, low + 0.5 * sd * static_cast<double>(steps), steps + 1};
    };
    const double widest = coarse.at("logs")(0, 0) + 7 * coarse.at("logs")(0, 1);
    return sums(returns, days, fine(0, widest), fine(1, math::log(400.0)));
}
