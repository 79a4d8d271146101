#pragma once

#include "noisy_gaussian.hpp"
#include "stationary_laws.hpp"

// What the tests of the stochastic-gradient samplers check in common.
namespace pollen::test {

// POLLEN_TEST_SEED, or a seed of the test's own.
inline std::uint64_t test_seed(std::uint64_t otherwise) {
    const char* const text = std::getenv("POLLEN_TEST_SEED");
    return text && *text ? std::strtoull(text, nullptr, 10) : otherwise;
}

struct Moments {
    double worst = 0;  // the greatest |z-score| of a covariance
    double kinetic = 0, kinetic_error = 0, configurational = 0, configurational_error = 0;
    double mean_of_first = 0;
    std::int64_t invalid = 0;
};

// Runs one chain and compares E (x - m)(x - m)' with `covariance`, entry by entry. `h` is what v . v / d is divided by.
template <class S, Real T>
Moments moments(const S& sampler, const NoisyGaussian<T>& potential, const Matrix& covariance, std::int64_t draws,
                std::int64_t thin = 1, double h = 1, std::int64_t warmup = 2000, std::uint64_t seed = test_seed(5)) {
    const std::size_t d = covariance.size();
    const auto chain = sampler.begin(
        potential.clone(), ChainStart<T>{std::vector<T>(d, static_cast<T>(potential.centre())), seed, 1, warmup});
    for (std::int64_t t = 0; t < warmup; ++t) chain->step();
    const auto* const stochastic = dynamic_cast<const StochasticChain<T>*>(chain.get());
    std::vector<std::vector<double>> x(d), kinetic(1), configurational(1);
    Moments result;
    for (std::int64_t t = 0; t < draws; ++t) {
        for (std::int64_t k = 0; k < thin; ++k) result.invalid += chain->step().invalid;
        double product = 0, squares = 0;
        for (std::size_t i = 0; i < d; ++i) {
            x[i].push_back(static_cast<double>(chain->position()[i]) - potential.centre());
            product += x[i].back() * static_cast<double>(stochastic->gradient()[i]);
        }
        for (const T v : stochastic->momentum()) squares += static_cast<double>(v) * static_cast<double>(v);
        configurational[0].push_back(product / static_cast<double>(d));
        kinetic[0].push_back(squares / (h * static_cast<double>(d)));
    }
    const auto mean = [](const std::vector<double>& f) {
        double total = 0;
        for (const double y : f) total += y;
        return total / static_cast<double>(f.size());
    };
    for (std::size_t i = 0; i < d; ++i)
        for (std::size_t j = 0; j <= i; ++j) {
            std::vector<std::vector<double>> products(1);
            for (std::size_t t = 0; t < x[i].size(); ++t) products[0].push_back(x[i][t] * x[j][t]);
            const double z = std::abs(z_score(products, covariance[i][j]));
            result.worst = std::isnan(z) ? std::numeric_limits<double>::infinity() : std::max(result.worst, z);
        }
    result.mean_of_first = mean(x[0]);
    result.kinetic = mean(kinetic[0]);
    result.configurational = mean(configurational[0]);
    result.configurational_error = mcse_mean(configurational);
    if (!stochastic->momentum().empty()) result.kinetic_error = mcse_mean(kinetic);
    return result;
}

// The same bits on any number of threads, above the size at which loops are divided.
template <class S>
void check_threads(const S& sampler, std::int64_t warmup = 0) {
    std::vector<float> first;
    for (const int threads : {1, 2, 4})
        with_threads(threads, [&] {
            const std::int64_t n = 100001;
            Written<float> wide(n, [](std::span<const float> x, std::span<float> g) {
                for (std::size_t k = 0; k < g.size(); ++k) g[k] = x[k];
                return 0;
            });
            const auto chain = sampler.begin(
                wide.clone(), ChainStart<float>{std::vector<float>(static_cast<std::size_t>(n), 0.5f), 2, 1, warmup});
            for (int t = 0; t < 3; ++t) chain->step();
            if (first.empty()) first.assign(chain->position().begin(), chain->position().end());
            BOOST_TEST((std::ranges::equal(first, chain->position())));
        });
}

// Points with an energy but without a gradient are no places to be: such steps are said to be invalid and not made.
template <class S>
void check_invalid_gradient(const S& sampler) {
    const Spoilt<double> half(NoisyGaussian<double>(one_dimension(1), 0.1),
                              [](std::int64_t, std::span<const double> x, Energy&, std::span<double> g) {
                                  if (x[0] > 1 && !g.empty()) g[0] = std::numeric_limits<double>::quiet_NaN();
                              });
    const auto chain = sampler.begin(half.clone(), ChainStart<double>{{0.5}, 3, 0, 0});
    int invalid = 0, moved = 0;
    bool inside = true;
    for (int t = 0; t < 500; ++t) {
        const double before = chain->position()[0];
        const StepStatistics s = chain->step();
        invalid += s.invalid;
        moved += chain->position()[0] != before;
        inside = inside && chain->position()[0] <= 1 && std::isfinite(s.energy);
    }
    BOOST_TEST(inside);
    BOOST_TEST(invalid > 10);
    BOOST_TEST(moved > 50);
    BOOST_TEST(error_of<ValueError>([&] {
                   sampler.begin(half.clone(), ChainStart<double>{{1.5}, 3, 0, 0});
               }).ends_with(": the energy or its gradient is not finite at the start"));
}

// The errors that all stochastic-gradient samplers have in common.
template <class S>
void check_stochastic_errors(const std::string& name, S sampler) {
    const auto error = [&](std::unique_ptr<Potential<double>> u, std::vector<double> at, std::int64_t warmup = 10) {
        return error_of<Error>([&] { sampler.begin(std::move(u), ChainStart<double>{std::move(at), 0, 0, warmup}); });
    };
    const NoisyGaussian<double> potential(one_dimension(1), 1);
    const std::int64_t batch = sampler.batch;
    BOOST_TEST(error(nullptr, {0, 0}) == name + ": there is no potential");
    BOOST_TEST(error(standard_normal(0), {}) == name + ": the potential has no dimensions");
    BOOST_TEST(error(potential.clone(), {1, 1}) == name + ": the start has 2 numbers; the potential has 1");
    BOOST_TEST(error(potential.clone(), {1}, -1) == name + ": warmup is -1; it must not be negative");
    BOOST_TEST(error(potential.clone(), {1e200}) == name + ": the energy is inf at the start; it must be finite");
    sampler.batch = -1;
    BOOST_TEST(error(potential.clone(), {1}) == name + ": batch is -1; it must not be negative");
    sampler.batch = 51;
    BOOST_TEST(error(potential.clone(), {1}) == name + ": batch is 51, but there are only 50 items");
    sampler.batch = 3;
    BOOST_TEST(error(standard_normal(), {1, 1}) ==
               name + ": batch is 3, but the potential has no items to make batches of");
    sampler.batch = batch;
    if constexpr (requires { sampler.step_size; }) {
        sampler.step_size = 0;
        BOOST_TEST(error(potential.clone(), {1}) == name + ": step_size is 0; it must be positive");
        // A schedule is refused where it is made.
        constexpr bool schedule = !std::is_same_v<decltype(sampler.step_size), double>;
        for (const double step : {std::nan(""), std::numeric_limits<double>::infinity()})
            BOOST_TEST(error_of<ValueError>([&] {
                           sampler.step_size = step;
                           sampler.begin(potential.clone(), ChainStart<double>{{1}, 0, 0, 10});
                       }) == (schedule ? "a step size of " + to_text(step) + ": it must be finite and not negative"
                                       : name + ": step_size is " + to_text(step) + "; it must be positive"));
    }
}

}  // namespace pollen::test
