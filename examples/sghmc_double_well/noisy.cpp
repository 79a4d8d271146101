#include "noisy.hpp"

#include <pollen/autograd/random.hpp>

#include <algorithm>
#include <cmath>
#include <functional>

using namespace pollen;

FunctionPotential<double> noisy(std::int64_t size, double variance, FunctionPotential<double>::Function f) {
    constexpr std::int64_t items = 20000;
    std::vector<double> noise(static_cast<std::size_t>(items * size));  // N c_k, item after item
    const std::span<double> half = std::span(noise).first(noise.size() / 2);
    Random(99).fill_normal(half, 0, std::sqrt(variance));
    std::ranges::transform(half, noise.begin() + std::ssize(half), std::negate());
    return {size, items,
            [f = std::move(f), noise = std::move(noise)](std::span<const double> x, std::span<double> slope,
                                                         std::span<const std::int64_t> batch) {
                double u = f(x, slope);
                for (const std::int64_t k : batch)
                    for (std::size_t i = 0; i < x.size(); ++i) {
                        const double c =
                            noise[static_cast<std::size_t>(k) * x.size() + i] / static_cast<double>(batch.size());
                        u += c * x[i];
                        if (!slope.empty()) slope[i] += c;
                    }
                return u;
            }};
}
