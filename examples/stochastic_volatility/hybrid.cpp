#include "hybrid.hpp"

#include "market.hpp"

#include <pollen/autograd/math.hpp>
#include <pollen/autograd/ops.hpp>
#include <pollen/nn/distributions.hpp>

using namespace pollen;
using D = Tensor<double>;

namespace {

constexpr std::int64_t items = std::int64_t{1} << 31;  // walks, each with its number: those of a batch are new ones

// W: from 0 in steps of N(0, 1).
void walk_of(std::int64_t item, std::span<double> w) {
    fill_normal({static_cast<std::uint64_t>(item), 4}, 0, w);
    w[0] = 0;
    for (std::size_t i = 1; i < w.size(); ++i) w[i] += w[i - 1];
}

// A copy has a tape of its own.
struct HybridLoss {
    HybridLoss(Loss which, D data) : loss(which), returns(std::move(data)) {}
    HybridLoss(const HybridLoss& other) : HybridLoss(other.loss, other.returns) {}

    double operator()(std::span<const double> theta, std::span<double> gradient, std::span<const std::int64_t> batch) {
        const std::int64_t n = returns.size();
        const std::vector<std::int64_t> one{0};
        const std::span<const std::int64_t> chosen = batch.empty() ? std::span(one) : batch;
        D walks = D::empty({std::ssize(chosen), n});
        for (std::size_t k = 0; k < chosen.size(); ++k)
            walk_of(chosen[k],
                    walks.mutable_values().subspan(k * static_cast<std::size_t>(n), returns.values().size()));
        tape.clear();
        D values = D::empty({std::ssize(theta)});
        std::ranges::copy(theta, values.mutable_data());
        const auto all = tape.variable(std::move(values));
        const bool published = loss == Loss::as_published;
        const auto first = slice(all, 0, 2, 3), z = slice(all, 0, 3, all.size()), x = slice(all, 0, 0, 1),
                   y = slice(all, 0, 1, 2);
        const auto sigma = published ? x + 0.1 : exp(x), nu = published ? y + 10.0 : exp(y);
        auto log_density = sum(-10.0 * sigma) - sum(0.1 * nu);
        if (published)
            log_density = log_density + static_cast<double>(n - 1) * sum(log(abs(sigma)));
        else {
            log_density = log_density + normal_lpdf(first, 0, 100) + normal_lpdf(z, 0, 1) + sum(x) + sum(y);
            // mu = sigma z: its volume is sigma^(n - 1) that of z.
            if (loss == Loss::equation_39) log_density = log_density + static_cast<double>(n - 1) * sum(x);
        }
        const auto steps = published ? z : sigma * z;
        const auto path = cumsum(concat({first, steps}), 0), noise = sigma * tape.constant(std::move(walks));
        const auto scale = exp(path + noise);
        const auto likelihood = student_t_lpdf(returns, nu, 0, scale) / static_cast<double>(chosen.size());
        const auto u = -(log_density + likelihood);
        if (!gradient.empty()) {
            tape.backward(u);
            std::ranges::copy(all.grad(), gradient.begin());
        }
        return u.item();
    }

    Loss loss;
    D returns;
    Tape<double> tape;
};

}  // namespace

FunctionPotential<double> hybrid(Loss loss, const D& returns) {
    return {std::ssize(start_of_hybrid(loss, returns)), items, HybridLoss(loss, returns)};
}

std::vector<double> start_of_hybrid(Loss loss, const D& returns) {
    std::vector<double> start(loss == Loss::no_means ? 3 : static_cast<std::size_t>(returns.size()) + 2, 0.0);
    if (loss != Loss::as_published) {
        start[0] = math::log(loss == Loss::no_means ? 0.001 : 0.1);
        start[1] = math::log(10.0);
    }
    start[2] = level_of(returns);
    return start;
}

HybridDraws meaning_of(Loss loss, const D& theta, std::int64_t n) {
    const std::int64_t chains = theta.shape()[0], draws = theta.shape()[1], size = theta.shape()[2];
    HybridDraws found{D::empty({chains, draws}), D::empty({chains, draws}), D::empty({chains, draws, n}),
                      D::empty({chains, draws, n})};
    const bool published = loss == Loss::as_published;
    Numbers w(static_cast<std::size_t>(n));
    for (std::int64_t k = 0; k < chains * draws; ++k) {
        const double* const x = theta.data() + k * size;
        const double sigma = published ? x[0] + 0.1 : math::exp(x[0]);
        found.sigma.mutable_data()[k] = sigma;
        found.nu.mutable_data()[k] = published ? x[1] + 10 : math::exp(x[1]);
        walk_of(items + k, w);
        double at = x[2];
        for (std::int64_t i = 0; i < n; ++i) {
            if (i > 0 && i + 2 < size) at += (published ? 1 : sigma) * x[2 + i];
            found.path.mutable_data()[k * n + i] = at;
            found.s.mutable_data()[k * n + i] = at + sigma * w[static_cast<std::size_t>(i)];
        }
    }
    return found;
}
