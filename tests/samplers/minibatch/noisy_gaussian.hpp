#pragma once

#include "matrices.hpp"

#include "../full_batch/full_batch_checks.hpp"

#include <pollen/samplers/minibatch/stochastic_chain.hpp>

#include <pollen/autograd/parallel.hpp>
#include <pollen/autograd/support/checks.hpp>

#include <cstdlib>
#include <numbers>
#include <numeric>

// A potential whose gradient noise is known.
namespace pollen::test {

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

}  // namespace pollen::test
