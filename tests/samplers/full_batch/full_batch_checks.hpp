#pragma once

#include "../../support.hpp"

#include <pollen/samplers/chain.hpp>
#include <pollen/samplers/diagnostics/diagnostics.hpp>
#include <pollen/samplers/start.hpp>

#include <cstdlib>
#include <functional>
#include <map>
#include <numbers>
#include <set>

// What the tests of the full-batch samplers share.
namespace pollen::test {

// A potential written as a function that returns U and fills in the gradient, unless that is empty.
template <Real T>
class Written final : public Potential<T> {
  public:
    using Function = std::function<double(std::span<const T>, std::span<T>)>;
    Written(std::int64_t size, Function f) : size_(size), f_(std::move(f)), blocks_{{"x", {size}, 0}} {}

    std::unique_ptr<Potential<T>> clone() const override { return std::make_unique<Written>(*this); }
    std::int64_t size() const override { return size_; }
    std::int64_t items() const override { return 0; }
    Energy evaluate(std::span<const T> x, std::span<T> g) override { return {0, f_(x, g)}; }
    Energy evaluate(std::span<const T> x, std::span<T> g, std::span<const std::int64_t>) override {
        return {0, f_(x, g)};
    }
    const std::vector<Quantity>& quantities() const override { return blocks_; }
    void values(std::span<const T> x, std::span<double> out) override { std::copy(x.begin(), x.end(), out.begin()); }
    const std::vector<Quantity>& blocks() const override { return blocks_; }
    std::string describe() const override { return "written"; }

  private:
    std::int64_t size_;
    Function f_;
    std::vector<Quantity> blocks_;
};

// A normal distribution of d = 10 numbers with mean k, standard deviation 1 + k/2 and correlations rho = 0.9:
// U = (z'z - c (sum z)^2) / (2 (1 - rho)),  z_k = (x_k - k) / (1 + k/2),  c = rho / (1 + (d - 1) rho).
constexpr std::int64_t dimension = 10;
constexpr double correlation = 0.9;
inline double mean_of(std::int64_t k) { return static_cast<double>(k); }
inline double sd_of(std::int64_t k) { return 1 + static_cast<double>(k) / 2; }

template <Real T>
std::unique_ptr<Potential<T>> correlated_normal(double temperature = 1) {
    auto potential = std::make_unique<Written<T>>(dimension, [](std::span<const T> x, std::span<T> g) {
        const double c = correlation / (1 + (dimension - 1) * correlation);
        double z[dimension], sum = 0, squares = 0;
        for (std::int64_t k = 0; k < dimension; ++k) {
            z[k] = (static_cast<double>(x[static_cast<std::size_t>(k)]) - mean_of(k)) / sd_of(k);
            sum += z[k];
            squares += z[k] * z[k];
        }
        for (std::size_t k = 0; k < g.size(); ++k)
            g[k] = static_cast<T>((z[k] - c * sum) / (1 - correlation) / sd_of(static_cast<std::int64_t>(k)));
        return (squares - c * sum * sum) / (2 * (1 - correlation));
    });
    potential->set_temperature(temperature);
    return potential;
}

// Standard normal, of any dimension.
inline std::unique_ptr<Potential<double>> standard_normal(std::int64_t size = 2) {
    return std::make_unique<Written<double>>(size, [](std::span<const double> x, std::span<double> g) {
        double u = 0;
        for (std::size_t k = 0; k < x.size(); ++k) {
            u += x[k] * x[k] / 2;
            if (!g.empty()) g[k] = x[k];
        }
        return u;
    });
}

// Of all chains; POLLEN_TEST_SEED sets another one.
inline std::uint64_t test_seed() {
    const char* text = std::getenv("POLLEN_TEST_SEED");
    return text && *text ? std::strtoull(text, nullptr, 10) : 20;
}

using ChainValues = std::vector<std::vector<double>>;  // one vector a chain

// (mean - expected) / Monte Carlo standard error, standard normal for a sampler that is right.
inline double z_score(const ChainValues& draws, double expected) {
    double mean = 0;
    for (const auto& chain : draws)
        for (const double x : chain) mean += x;
    mean /= static_cast<double>(draws.size() * draws[0].size());
    return (mean - expected) / mcse_mean(draws);
}

struct Run {
    std::vector<std::vector<std::vector<double>>> positions;  // chain, draw, coordinate
    double acceptance = 0;                                    // mean after the warm-up
    std::int64_t divergences = 0, depth_reached = 0;

    ChainValues of(const std::function<double(const std::vector<double>&)>& f) const {
        ChainValues draws;
        for (const auto& chain : positions) {
            draws.emplace_back();
            for (const auto& x : chain) draws.back().push_back(f(x));
        }
        return draws;
    }
};

template <Real T, class S>
Run run(const S& sampler, const Potential<T>& potential, std::int64_t warmup, std::int64_t draws, std::int64_t thin = 1,
        std::uint32_t chains = 4) {
    Run result;
    const std::uint64_t seed = test_seed();
    for (std::uint32_t c = 0; c < chains; ++c) {
        auto own = potential.clone();
        own->set_temperature(potential.temperature());
        ChainStart<T> start{find_start(*own, seed, c), seed, c, warmup};
        const auto chain = sampler.begin(std::move(own), std::move(start));
        for (std::int64_t t = 0; t < warmup; ++t) chain->step();
        result.positions.emplace_back();
        for (std::int64_t t = 0; t < draws * thin; ++t) {
            const StepStatistics s = chain->step();
            result.acceptance += s.acceptance / static_cast<double>(draws * thin * chains);
            result.divergences += s.divergent;
            if (t % thin == 0) result.positions.back().emplace_back(chain->position().begin(), chain->position().end());
        }
    }
    return result;
}

// Means, variances and a covariance of the correlated normal. 21 z-scores, each beyond 4.5 once in 150,000 times: a
// false alarm in one of 7,000 tests.
inline void check_normal(const Run& run, double temperature = 1) {
    for (std::int64_t k = 0; k < dimension; ++k) {
        const auto at = static_cast<std::size_t>(k);
        const double variance = sd_of(k) * sd_of(k) * temperature;
        const double mean = z_score(run.of([&](const auto& x) { return x[at]; }), mean_of(k));
        const double square =
            z_score(run.of([&](const auto& x) { return (x[at] - mean_of(k)) * (x[at] - mean_of(k)); }), variance);
        BOOST_TEST(std::abs(mean) < 4.5, "mean of x[" << k << "] is off by " << mean << " standard errors");
        BOOST_TEST(std::abs(square) < 4.5, "variance of x[" << k << "] is off by " << square << " standard errors");
    }
    const double product = z_score(run.of([&](const auto& x) { return (x[0] - mean_of(0)) * (x[9] - mean_of(9)); }),
                                   correlation * sd_of(0) * sd_of(9) * temperature);
    BOOST_TEST(std::abs(product) < 4.5, "a covariance is off by " << product << " standard errors");
    const ChainValues first = run.of([](const auto& x) { return x[0]; });
    BOOST_TEST(rhat(first) < 1.02);
    BOOST_TEST(ess_bulk(first) > 400);
}

// Invariance: replicas begin with exact draws of a skewed target, y the log of a Gamma(2) number and x ~ N(0, 3^2), and
// must still have its law after some steps. They are independent, so these are z-scores without any Monte Carlo theory.
// U = e^y - 2 y + x^2 / 18. Returns the greatest of six.
inline std::unique_ptr<Potential<double>> skewed() {
    return std::make_unique<Written<double>>(2, [](std::span<const double> x, std::span<double> g) {
        if (!g.empty()) {
            g[0] = std::exp(x[0]) - 2;
            g[1] = x[1] / 9;
        }
        return std::exp(x[0]) - 2 * x[0] + x[1] * x[1] / 18;
    });
}

template <class S, class AfterStep>
double invariance(const S& sampler, int replicas, int steps, const AfterStep& after_step) {
    constexpr int laws = 6;
    const double exact[laws] = {0.42278433509846714, 0.6449340668482264, 2, 0, 9, 0};
    double sums[laws] = {}, squares[laws] = {};
    for (int r = 0; r < replicas; ++r) {
        Random random(test_seed() + 57, static_cast<std::uint32_t>(r));
        const double gamma = -std::log1p(-random.uniform<double>()) - std::log1p(-random.uniform<double>());
        const std::vector<double> at{std::log(gamma), 3 * random.normal<double>()};
        const auto chain =
            sampler.begin(skewed(), ChainStart<double>{at, test_seed(), static_cast<std::uint32_t>(r), 0});
        for (int t = 0; t < steps; ++t) {
            const std::vector<double> before(chain->position().begin(), chain->position().end());
            chain->step();
            after_step(*chain, std::equal(before.begin(), before.end(), chain->position().begin()));
        }
        const double y = chain->position()[0] - exact[0], x = chain->position()[1];
        const double f[laws] = {y + exact[0], y * y, std::exp(y + exact[0]), x, x * x, y * x};
        for (int k = 0; k < laws; ++k) {
            sums[k] += f[k];
            squares[k] += f[k] * f[k];
        }
    }
    double greatest = 0;
    for (int k = 0; k < laws; ++k) {
        const double mean = sums[k] / replicas, variance = squares[k] / replicas - mean * mean;
        greatest = std::max(greatest, std::abs(mean - exact[k]) / std::sqrt(variance / replicas));
    }
    return greatest;
}

template <class S>
double invariance(const S& sampler, int replicas = 20000, int steps = 3) {
    return invariance(sampler, replicas, steps, [](Chain<double>&, bool) {});
}

// A state by name, written down or put back.
// A standard normal law cut off at 1/2, beyond which there is no energy. A chain that turns round there has its mean,
// -phi / Phi = -0.50916, and its mean square, 1 + mean / 2 = 0.74542 (a step of h may miss the last h before the wall);
// one that goes on to run against it stays there. `run` has so many steps.
template <class S>
void check_wall(const S& sampler, int steps) {
    const Written<double> wall(1, [](std::span<const double> x, std::span<double> g) {
        if (!g.empty()) g[0] = x[0];
        return x[0] < 0.5 ? x[0] * x[0] / 2 : std::numeric_limits<double>::infinity();
    });
    const auto chain = sampler.begin(wall.clone(), ChainStart<double>{{0}, 5, 0, 0});
    double mean = 0, square = 0;
    int invalid = 0;
    for (int t = 0; t < steps; ++t) {
        invalid += chain->step().invalid;
        mean += chain->position()[0] / steps;
        square += chain->position()[0] * chain->position()[0] / steps;
    }
    BOOST_TEST(invalid > steps / 1000);
    BOOST_TEST(std::abs(mean + 0.50916) < 0.03);
    BOOST_TEST(std::abs(square - 0.74542) < 0.05);
}

struct Saved final : StateVisitor {
    bool restore = false;
    std::map<std::string, double> numbers;
    std::map<std::string, std::int64_t> integers;
    std::map<std::string, std::vector<float>> floats;
    std::map<std::string, std::vector<double>> doubles;
    std::set<std::string> names;

    void number(const char* name, double& x) override { pass(name, numbers, x); }
    void integer(const char* name, std::int64_t& x) override { pass(name, integers, x); }
    void vector(const char* name, std::vector<float>& x) override { pass(name, floats, x); }
    void vector(const char* name, std::vector<double>& x) override { pass(name, doubles, x); }

  private:
    template <class X>
    void pass(const char* name, std::map<std::string, X>& all, X& x) {
        if (restore) {
            x = all.at(name);
        } else {
            BOOST_TEST(names.insert(name).second, "two parts of a state are called " << name);
            all[name] = x;
        }
    }
};

// After every step, a freshly begun chain with the saved state put into it goes on with the same bits: position,
// statistics and all of the state.
template <Real T, class S>
void check_resume(const S& sampler, const Potential<T>& potential, std::int64_t warmup = 40, std::int64_t steps = 60) {
    const std::vector<T> at(static_cast<std::size_t>(potential.size()), T(0.5));
    const auto begin = [&] { return sampler.begin(potential.clone(), ChainStart<T>{at, 9, 2, warmup}); };
    auto chain = begin();
    for (std::int64_t t = 0; t < steps; ++t) {
        Saved before, one, other;
        chain->visit(before);
        before.restore = true;
        auto again = begin();
        again->visit(before);
        const StepStatistics a = chain->step(), b = again->step();
        chain->visit(one);
        again->visit(other);
        const auto bits = [](const StepStatistics& s) {
            const double x[] = {s.energy,    s.hamiltonian,       s.acceptance,
                                s.step_size, double(s.gradients), double(s.tree_depth)};
            return std::string(reinterpret_cast<const char*>(x), sizeof x);
        };
        BOOST_TEST_REQUIRE((bits(a) == bits(b) && one.numbers == other.numbers && one.integers == other.integers &&
                            one.floats == other.floats && one.doubles == other.doubles &&
                            std::ranges::equal(chain->position(), again->position()) && chain->steps() == t + 1 &&
                            again->steps() == t + 1),
                           "step " << t << " differs after a resume");
    }
}

// The errors that all of them have in common.
template <class S>
void check_common_errors(const std::string& name, const S& sampler) {
    const auto error = [&](std::unique_ptr<Potential<double>> u, std::vector<double> at, std::int64_t warmup = 0) {
        try {
            sampler.begin(std::move(u), ChainStart<double>{std::move(at), 0, 0, warmup});
        } catch (const Error& e) {
            return std::string(e.what());
        }
        return std::string();
    };
    BOOST_TEST(error(nullptr, {0, 0}) == name + ": there is no potential");
    BOOST_TEST(error(standard_normal(0), {}) == name + ": the potential has no dimensions");
    BOOST_TEST(error(standard_normal(), {1}) == name + ": the start has 1 numbers; the potential has 2");
    BOOST_TEST(error(standard_normal(), {1, 1}, -1) == name + ": warmup is -1; it must not be negative");
    auto cold = standard_normal();
    cold->set_temperature(0);
    BOOST_TEST(error(std::move(cold), {1, 1}) == name + ": the temperature is 0; it must be positive");
    BOOST_TEST(error(standard_normal(), {1, 1e200}) == name + ": the energy is inf at the start; it must be finite");
}

// U = |x|^2 / 2 where x > 0, and not a number elsewhere: such points are rejected, and said to have been met.
template <class S>
void check_invalid(const S& sampler) {
    Written<double> half(1, [](std::span<const double> x, std::span<double> g) {
        if (!g.empty()) g[0] = x[0];
        return x[0] > 0 ? x[0] * x[0] / 2 : std::numeric_limits<double>::quiet_NaN();
    });
    const auto chain = sampler.begin(half.clone(), ChainStart<double>{{1}, 3, 0, 0});
    int invalid = 0;
    bool inside = true;
    for (int t = 0; t < 200; ++t) {
        const StepStatistics s = chain->step();
        invalid += s.invalid;
        inside = inside && chain->position()[0] > 0 && std::isfinite(s.energy);
    }
    BOOST_TEST(inside);
    BOOST_TEST(invalid > 0);
    BOOST_TEST(invalid < 200);
}

}  // namespace pollen::test
