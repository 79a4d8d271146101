#pragma once

#include "../full_batch/full_batch_checks.hpp"

#include <pollen/samplers/minibatch/stochastic_chain.hpp>

#include <pollen/autograd/parallel.hpp>
#include <pollen/autograd/support/checks.hpp>

#include <cstdlib>
#include <numbers>
#include <numeric>

// What the tests of the stochastic-gradient samplers share: a potential whose gradient noise is known, and the laws
// that follow from it.
namespace pollen::test {

using Matrix = std::vector<std::vector<double>>;

inline Matrix matrix(std::size_t n, double diagonal = 0) {
    Matrix m(n, std::vector<double>(n));
    for (std::size_t i = 0; i < n; ++i) m[i][i] = diagonal;
    return m;
}

// x A B', and x A
inline Matrix times_transposed(const Matrix& a, const Matrix& b, double x = 1) {
    Matrix c = matrix(a.size());
    for (std::size_t i = 0; i < a.size(); ++i)
        for (std::size_t j = 0; j < a.size(); ++j)
            for (std::size_t k = 0; k < a.size(); ++k) c[i][j] += x * a[i][k] * b[j][k];
    return c;
}
inline Matrix transposed(const Matrix& a) {
    Matrix c = a;
    for (std::size_t i = 0; i < a.size(); ++i)
        for (std::size_t j = 0; j < a.size(); ++j) c[i][j] = a[j][i];
    return c;
}
inline Matrix times(const Matrix& a, const Matrix& b) { return times_transposed(a, transposed(b)); }
inline Matrix sum(const Matrix& a, const Matrix& b, double x = 1) {
    Matrix c = a;
    for (std::size_t i = 0; i < a.size(); ++i)
        for (std::size_t j = 0; j < a.size(); ++j) c[i][j] += x * b[i][j];
    return c;
}

// x A^-1, by Gauss and Jordan, for a positive definite A.
inline Matrix inverse(Matrix a, double x = 1) {
    Matrix b = matrix(a.size(), x);
    for (std::size_t p = 0; p < a.size(); ++p) {
        const double pivot = a[p][p];
        for (std::size_t j = 0; j < a.size(); ++j) {
            a[p][j] /= pivot;
            b[p][j] /= pivot;
        }
        for (std::size_t i = 0; i < a.size(); ++i) {
            const double factor = a[i][p];
            if (i == p) continue;
            for (std::size_t j = 0; j < a.size(); ++j) {
                a[i][j] -= factor * a[p][j];
                b[i][j] -= factor * b[p][j];
            }
        }
    }
    return b;
}

// P = A P A' + Q = Q + A Q A' + A^2 Q A'^2 + ...; each turn doubles the number of terms.
inline Matrix lyapunov(Matrix a, Matrix q) {
    for (int turn = 0; turn < 40; ++turn) {
        q = sum(q, times_transposed(times(a, q), a));
        a = times(a, a);
    }
    return q;
}

// U = sum_i [(x - m)' L (x - m) / (2N) + c_i' x] with sum_i c_i = 0: a normal distribution of mean m and precision L,
// of which item i has the gradient L (x - m) / N + c_i. Half of L is called prior. The c_i have the sample covariance
// S^2, so the gradient of n of N items has the noise V = N^2/n S^2 (1 - n/N) at every x.
template <Real T>
class NoisyGaussian final : public Potential<T> {
  public:
    // The c_i are mixed by a random matrix: curvature and noise do not commute.
    NoisyGaussian(Matrix precision, double noise, std::int64_t items = 50, double temperature = 1)
        : precision_(std::move(precision)), blocks_{{"x", {std::ssize(precision_)}, 0}} {
        const std::size_t d = precision_.size();
        Random random(99);
        Matrix mix = matrix(d, 1);
        for (auto& row : mix)
            for (double& x : row) x += d > 1 ? 0.25 * random.normal<double>() : 0;
        shifts_.assign(static_cast<std::size_t>(items), std::vector<double>(d));
        std::vector<double> mean(d);
        for (auto& c : shifts_) {
            std::vector<double> z(d);
            for (double& x : z) x = noise * random.normal<double>();
            for (std::size_t i = 0; i < d; ++i)
                for (std::size_t j = 0; j < d; ++j) c[i] += mix[i][j] * z[j];
            for (std::size_t i = 0; i < d; ++i) mean[i] += c[i] / static_cast<double>(items);
        }
        for (auto& c : shifts_)
            for (std::size_t i = 0; i < d; ++i) c[i] -= mean[i];
        this->set_temperature(temperature);
    }

    // V for batches of n.
    Matrix noise(std::int64_t n) const {
        const double all = static_cast<double>(items()), some = static_cast<double>(n);
        Matrix v = matrix(precision_.size());
        for (const auto& c : shifts_)
            for (std::size_t i = 0; i < v.size(); ++i)
                for (std::size_t j = 0; j < v.size(); ++j)
                    v[i][j] += all * all / some * (1 - some / all) * c[i] * c[j] / (all - 1);
        return v;
    }
    const std::vector<std::vector<double>>& shifts() const { return shifts_; }
    static double centre() { return 0.5; }

    std::unique_ptr<Potential<T>> clone() const override { return std::make_unique<NoisyGaussian>(*this); }
    std::int64_t size() const override { return std::ssize(precision_); }
    std::int64_t items() const override { return std::ssize(shifts_); }
    Energy evaluate(std::span<const T> x, std::span<T> g) override { return at(x, g, {}); }
    Energy evaluate(std::span<const T> x, std::span<T> g, std::span<const std::int64_t> batch) override {
        return at(x, g, batch);
    }
    const std::vector<Quantity>& quantities() const override { return blocks_; }
    void values(std::span<const T> x, std::span<double> out) override { std::copy(x.begin(), x.end(), out.begin()); }
    const std::vector<Quantity>& blocks() const override { return blocks_; }
    std::string describe() const override { return "noisy Gaussian"; }

  private:
    Energy at(std::span<const T> x, std::span<T> g, std::span<const std::int64_t> batch) const {
        const std::size_t d = x.size();
        const double scale = static_cast<double>(items()) / static_cast<double>(std::max<std::size_t>(1, batch.size()));
        Energy energy;
        std::vector<double>& shift = shift_;
        shift.assign(d, 0);
        for (const std::int64_t k : batch)
            for (std::size_t i = 0; i < d; ++i) shift[i] += scale * shifts_[static_cast<std::size_t>(k)][i];
        for (std::size_t i = 0; i < d; ++i) {
            double slope = 0;
            for (std::size_t j = 0; j < d; ++j) slope += precision_[i][j] * (static_cast<double>(x[j]) - centre());
            const double part = (static_cast<double>(x[i]) - centre()) * slope / 4;
            energy.prior += part;
            energy.likelihood += part + shift[i] * static_cast<double>(x[i]);
            if (!g.empty()) g[i] = static_cast<T>(slope + shift[i]);
        }
        return energy;
    }

    Matrix precision_;
    std::vector<std::vector<double>> shifts_;
    std::vector<Quantity> blocks_;
    mutable std::vector<double> shift_;
};

// The same, but for what is done to the results of some evaluations, counted from 1.
template <Real T>
class Spoilt final : public Potential<T> {
  public:
    using Spoil = std::function<void(std::int64_t evaluation, std::span<const T> x, Energy& energy, std::span<T> g)>;
    Spoilt(NoisyGaussian<T> inner, Spoil spoil) : inner_(std::move(inner)), spoil_(std::move(spoil)) {
        this->set_temperature(inner_.temperature());
    }

    std::unique_ptr<Potential<T>> clone() const override { return std::make_unique<Spoilt>(*this); }
    std::int64_t size() const override { return inner_.size(); }
    std::int64_t items() const override { return inner_.items(); }
    Energy evaluate(std::span<const T> x, std::span<T> g) override { return spoilt(inner_.evaluate(x, g), x, g); }
    Energy evaluate(std::span<const T> x, std::span<T> g, std::span<const std::int64_t> batch) override {
        return spoilt(inner_.evaluate(x, g, batch), x, g);
    }
    const std::vector<Quantity>& quantities() const override { return inner_.quantities(); }
    void values(std::span<const T> x, std::span<double> out) override { inner_.values(x, out); }
    const std::vector<Quantity>& blocks() const override { return inner_.blocks(); }
    std::string describe() const override { return "spoilt " + inner_.describe(); }

  private:
    Energy spoilt(Energy energy, std::span<const T> x, std::span<T> g) {
        spoil_(++count_, x, energy, g);
        return energy;
    }

    NoisyGaussian<T> inner_;
    Spoil spoil_;
    std::int64_t count_ = 0;
};

// One dimension, and ten that are correlated.
inline Matrix one_dimension(double precision) { return {{precision}}; }
inline Matrix ten_dimensions() {
    Matrix l = matrix(10);
    for (std::size_t i = 0; i < 10; ++i)
        for (std::size_t j = 0; j < 10; ++j)
            l[i][j] =
                (i == j ? 1 + 0.2 * static_cast<double>(i) : 0) + 0.5 * std::pow(0.6, std::abs(double(i) - double(j)));
    return l;
}

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

// The configurational temperature of a law: Tr(L S) / d.
inline double temperature_of(const Matrix& precision, const Matrix& covariance) {
    double trace = 0;
    for (std::size_t i = 0; i < precision.size(); ++i) trace += times(precision, covariance)[i][i];
    return trace / static_cast<double>(precision.size());
}

// S = M S M' + e T I + e^2 V / 4,  M = I - e L / 2
inline Matrix sgld_law(const Matrix& l, const Matrix& v, double e, double t) {
    return lyapunov(sum(matrix(l.size(), 1), l, -e / 2), sum(matrix(l.size(), e * t), v, e * e / 4));
}

// P = A P A' + Q of (x, v); the added noise is 2h a T - h^2 `taken_off`. Twice as many dimensions.
inline Matrix sghmc_law(const Matrix& l, const Matrix& v, double h, double a, double t, const Matrix& taken_off) {
    const std::size_t d = l.size();
    Matrix step = matrix(2 * d), q = matrix(2 * d);
    const Matrix noise = sum(sum(matrix(d, 2 * h * a * t), taken_off, -h * h), v, h * h);
    for (std::size_t i = 0; i < d; ++i)
        for (std::size_t j = 0; j < d; ++j) {
            step[i][j] = (i == j) - h * l[i][j];
            step[d + i][j] = -h * l[i][j];
            step[i][d + j] = step[d + i][d + j] = i == j ? 1 - a : 0;
            q[i][j] = q[d + i][j] = q[i][d + j] = q[d + i][d + j] = noise[i][j];
        }
    return lyapunov(step, q);
}
inline Matrix block(const Matrix& p, std::size_t first, std::size_t size) {
    Matrix b = matrix(size);
    for (std::size_t i = 0; i < size; ++i)
        for (std::size_t j = 0; j < size; ++j) b[i][j] = p[first + i][first + j];
    return b;
}
inline double trace(const Matrix& m) {
    double total = 0;
    for (std::size_t i = 0; i < m.size(); ++i) total += m[i][i];
    return total;
}

// E (x - m)^2 under the stationary law of a chain in one dimension with the transition density p(from, to) of x - m,
// and what is missing to 1 in its integral as the probability to stay: a power iteration on a grid, as exact as the
// trapezium rule is for densities that are smooth on its scale.
inline double stationary_variance(const std::function<double(double, double)>& density, double reach = 6) {
    constexpr std::size_t n = 401;
    const double step = 2 * reach / (n - 1);
    const auto at = [&](std::size_t k) { return -reach + step * static_cast<double>(k); };
    Matrix p = matrix(n);
    for (std::size_t i = 0; i < n; ++i) {
        double total = 0;
        for (std::size_t j = 0; j < n; ++j) total += p[j][i] = step * density(at(i), at(j));
        p[i][i] += 1 - total;
    }
    std::vector<double> law(n, 1.0 / n), next(n);
    double variance = 0, before = -1;
    for (int turn = 0; turn < 2000 && std::abs(variance - before) > 1e-9; ++turn) {
        before = variance;
        variance = 0;
        for (std::size_t j = 0; j < n; ++j) {
            next[j] = std::inner_product(p[j].begin(), p[j].end(), law.begin(), 0.0);
            variance += next[j] * at(j) * at(j);
        }
        std::swap(law, next);
    }
    return variance;
}
inline double normal_density(double x, double mean, double variance) {
    return std::exp(-(x - mean) * (x - mean) / (2 * variance)) / std::sqrt(2 * std::numbers::pi * variance);
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
