#include "gaussian_fit.hpp"

#include "example.hpp"

#include <pollen/autograd/math.hpp>
#include <pollen/autograd/ops.hpp>
#include <pollen/autograd/support/interrupt.hpp>
#include <pollen/nn/training/adam.hpp>
#include <pollen/nn/variational/low_rank_log_q.hpp>

#include <algorithm>
#include <array>
#include <chrono>

using namespace pollen;

namespace {

using D = Tensor<double>;

GaussianFit first_guess(const GaussianFitOptions& options) {
    GaussianFit q;
    q.mu = D::empty({std::ssize(options.start)});
    std::copy(options.start.begin(), options.start.end(), q.mu.mutable_data());
    q.rho = D::full(q.mu.shape(), math::log(math::expm1(options.sd)));
    q.factors = D::empty({0, q.mu.size()});
    return q;
}

struct GaussianDraw {
    std::array<Var<double>, 3> leaves;
    Var<double> theta, log_q;
};

// theta = mu + softplus(rho) eps + V z and log q(theta) as functions of mu, rho and V. Without `value` log q has a
// gradient only.
GaussianDraw draw_from(const GaussianFit& q, Tape<double>& tape, Random random, bool value) {
    const std::int64_t n = q.mu.size(), rank = q.factors.shape()[0];
    D noise = D::empty({n + rank});
    random.fill_normal(noise.mutable_values());
    const auto mu = tape.borrow_variable(q.mu), rho = tape.borrow_variable(q.rho), v = tape.borrow_variable(q.factors);
    const auto eps = tape.constant(std::move(noise));
    const auto sd = softplus(rho);
    auto theta = mu + sd * slice(eps, 0, 0, n);
    if (rank > 0) theta = theta + matmul(slice(eps, 0, n, n + rank), v);
    return {{mu, rho, v}, theta, low_rank_log_q(rho, v, eps, value)};
}

void climb(GaussianFit& q, Potential<double>& potential, const GaussianFitOptions& options, double rate,
           std::uint32_t stream) {
    const Adam adam{.rate = Schedule::cosine(rate, options.steps)};
    const std::array<D*, 3> parameters{&q.mu, &q.rho, &q.factors};
    std::array<std::array<D, 2>, 3> memory;
    for (std::size_t k = 0; k < 3; ++k)
        memory[k] = {D::zeros(parameters[k]->shape()), D::zeros(parameters[k]->shape())};
    Tape<double> tape;
    D slope = D::empty(q.mu.shape());
    const Interrupt interrupt;
    for (std::int64_t t = 0; t < options.steps; ++t) {
        if (Interrupt::requested()) throw Interrupted();
        const GaussianDraw draw =
            draw_from(q, tape, Random(options.seed, stream, static_cast<std::uint64_t>(t)), false);
        potential.evaluate(draw.theta.value().values(), slope.mutable_values());
        tape.backward({{draw.theta, slope}, {draw.log_q, D::scalar(1)}});
        std::array<D, 3> gradients;
        for (std::size_t k = 0; k < 3; ++k) gradients[k] = draw.leaves[k].grad();
        tape.clear();
        for (std::size_t k = 0; k < 3; ++k)
            adam.update<double>({.rate = adam.rate(t), .step = t},
                                {parameters[k]->mutable_data(),
                                 gradients[k].data(),
                                 {memory[k][0].mutable_data(), memory[k][1].mutable_data()},
                                 parameters[k]->size()});
    }
}

}  // namespace

GaussianFit fit_gaussian(Potential<double>& potential, const GaussianFitOptions& options) {
    const auto begun = std::chrono::steady_clock::now();
    GaussianFit q = first_guess(options);
    climb(q, potential, options, options.rate, 0);
    // From the mean field on, and more slowly: columns that are too large at first throw it far.
    if (options.rank > 0) {
        q.factors = D::empty({options.rank, q.mu.size()});
        fill_normal({options.seed, 2}, 0, q.factors.mutable_values(), 0.0, 0.1 * options.sd);
        climb(q, potential, options, options.rate / 4, 3);
    }
    q.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();

    const std::int64_t count = potential.value_count();
    q.draws = D::empty({options.draws, count});
    q.elbo = D::empty({1, options.draws});
    Tape<double> tape;
    for (std::int64_t k = 0; k < options.draws; ++k) {
        const GaussianDraw draw = draw_from(q, tape, Random(options.seed, 1, static_cast<std::uint64_t>(k)), true);
        const std::span<const double> theta = draw.theta.value().values();
        q.elbo.mutable_data()[k] = -potential.evaluate(theta, {}).total() - draw.log_q.item();
        potential.values(theta, {q.draws.mutable_data() + k * count, static_cast<std::size_t>(count)});
        tape.clear();
    }
    return q;
}
