#pragma once

#include <pollen/autograd/support/checks.hpp>
#include <pollen/autograd/support/error.hpp>

#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace pollen::detail {

// A covariance matrix as a user gave it, row by row: (A + A') / 2, if all of it is finite and it is symmetric but for
// rounding, |a_ij - a_ji| <= 1e-6 sqrt(a_ii a_jj). Otherwise throws
// `Hmc: inverse_metric[1, 0] is 2, but inverse_metric[0, 1] is 0; it must be symmetric`.
inline std::vector<double> symmetric(const std::string& who, const std::string& name, std::int64_t size,
                                     std::span<const double> a) {
    const auto n = static_cast<std::size_t>(size);
    const auto element = [&](std::size_t i, std::size_t j) {
        return name + "[" + std::to_string(i) + ", " + std::to_string(j) + "] is " + to_text(a[i * n + j]);
    };
    std::vector<double> result(a.begin(), a.end());
    for (std::size_t k = 0; k < n * n; ++k)
        if (!std::isfinite(a[k])) throw ValueError(who + ": " + element(k / n, k % n) + "; it must be finite");
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < i; ++j) {
            const double below = a[i * n + j], above = a[j * n + i];
            if (std::abs(below - above) > 1e-6 * std::sqrt(a[i * n + i] * a[j * n + j]))
                throw ValueError(who + ": " + element(i, j) + ", but " + element(j, i) + "; it must be symmetric");
            result[i * n + j] = result[j * n + i] = below + (above - below) / 2;
        }
    return result;
}

}  // namespace pollen::detail
