#include <pollen/autograd/math.hpp>
#include <pollen/autograd/parallel.hpp>
#include <pollen/autograd/support/checks.hpp>
#include <pollen/autograd/support/error.hpp>
#include <pollen/samplers/diagnostics/stein.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

namespace pollen {

namespace {

template <Real T>
void check(const Tensor<T>& positions, const Tensor<T>& scores, const SteinOptions& options) {
    if (positions.rank() != 2 || scores.shape() != positions.shape())
        throw ShapeError("stein_discrepancy: positions are " + to_string(positions.shape()) + " and scores " +
                         to_string(scores.shape()) + "; both must be (draws, dimensions)");
    if (positions.size() == 0)
        throw ShapeError("stein_discrepancy: positions are " + to_string(positions.shape()) +
                         "; at least one draw of one dimension is needed");
    if (!(options.c > 0)) throw ValueError("stein_discrepancy: c is " + to_text(options.c) + "; it must be above 0");
    if (!(options.beta > -1 && options.beta < 0))
        throw ValueError("stein_discrepancy: beta is " + to_text(options.beta) + "; it must be between -1 and 0");
}

// (draws, dimensions) to (dimensions, draws) in double: the inner loop then runs over draws.
template <Real T>
std::vector<double> transposed(const Tensor<T>& x) {
    const auto n = static_cast<std::size_t>(x.shape()[0]), d = static_cast<std::size_t>(x.shape()[1]);
    std::vector<double> y(n * d);
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t k = 0; k < d; ++k) y[k * n + i] = static_cast<double>(x.data()[i * d + k]);
    }
    return y;
}

constexpr std::size_t block = 128;

struct Draws {
    std::size_t n, d;
    std::vector<double> x, s;
};

// The sum of k0(x_i, x_j) over j in [begin, end), at most one block of them. With r = |x - y| and q = c^2 + r^2
//
//     k0 = s(x).s(y) q^beta - 2 beta q^(beta-1) ((x-y).(s(x)-s(y)) + d) - 4 beta (beta-1) q^(beta-2) r^2
double sum_of_block(const Draws& draws, std::size_t i, std::size_t begin, std::size_t end, const SteinOptions& o) {
    std::array<double, block> squares{}, products{}, crosses{};
    for (std::size_t k = 0; k < draws.d; ++k) {
        const double* const x = draws.x.data() + k * draws.n;
        const double* const s = draws.s.data() + k * draws.n;
        const double xi = x[i], si = s[i];
        for (std::size_t j = begin; j < end; ++j) {
            const double apart = xi - x[j];
            squares[j - begin] += apart * apart;
            products[j - begin] += si * s[j];
            crosses[j - begin] += apart * (si - s[j]);
        }
    }
    double total = 0;
    for (std::size_t j = 0; j < end - begin; ++j) {
        const double q = o.c * o.c + squares[j], kernel = o.beta == -0.5 ? 1 / std::sqrt(q) : math::pow(q, o.beta);
        total += kernel * (products[j] - 2 * o.beta / q * (crosses[j] + static_cast<double>(draws.d)) -
                           4 * o.beta * (o.beta - 1) / (q * q) * squares[j]);
    }
    return total;
}

}  // namespace

template <Real T>
SteinDiscrepancy stein_discrepancy(const Tensor<T>& positions, const Tensor<T>& scores, SteinOptions options) {
    check(positions, scores, options);
    const auto n = static_cast<std::size_t>(positions.shape()[0]), d = static_cast<std::size_t>(positions.shape()[1]);
    const Draws draws{n, d, transposed(positions), transposed(scores)};
    // Each pair once; row i has n - 1 - i of them.
    std::vector<double> rows(n), diagonal(n);
    parallel_for(std::ssize(rows), 16, [&](std::int64_t first, std::int64_t last) {
        for (auto i = static_cast<std::size_t>(first); i < static_cast<std::size_t>(last); ++i) {
            diagonal[i] = sum_of_block(draws, i, i, i + 1, options);
            for (std::size_t j = i + 1; j < n; j += block)
                rows[i] += sum_of_block(draws, i, j, std::min(j + block, n), options);
        }
    });
    double pairs = 0, same = 0;
    for (std::size_t i = 0; i < n; ++i) {
        pairs += 2 * rows[i];
        same += diagonal[i];
    }
    const auto count = static_cast<double>(n);
    // Rounding can make a sum that is nearly 0 negative.
    const double square = (pairs + same) / (count * count);
    return {std::sqrt(square < 0 ? 0 : square),
            n > 1 ? pairs / (count * (count - 1)) : std::numeric_limits<double>::quiet_NaN()};
}

template SteinDiscrepancy stein_discrepancy(const Tensor<float>&, const Tensor<float>&, SteinOptions);
template SteinDiscrepancy stein_discrepancy(const Tensor<double>&, const Tensor<double>&, SteinOptions);

}  // namespace pollen
