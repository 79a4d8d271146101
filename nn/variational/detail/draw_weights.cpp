#include <pollen/nn/variational/detail/draw_weights.hpp>

#include <pollen/autograd/kernels/constants.hpp>
#include <pollen/autograd/kernels/map.hpp>
#include <pollen/autograd/kernels/reduce.hpp>
#include <pollen/autograd/math.hpp>
#include <pollen/nn/variational/kernels/sigma.hpp>

#include <limits>

namespace pollen {

using kernels::Batch;
using kernels::log_sqrt_2pi;
using kernels::Sigma;
using kernels::Stream;

namespace {

using Int = std::int64_t;

constexpr Int block = 512;  // weights that go through the prior at once, from the nearest cache

template <class T>
constexpr Int lanes = Batch<T>::size;

// Calls body(first, count) for pieces of [0, n), in parallel, and adds up what it returns, in a fixed order.
template <class Body>
std::array<double, 2> sum_over_blocks(Int n, const Body& body) {
    const Int grain = kernels::map_grain, tasks = (n + grain - 1) / grain;
    std::vector<std::array<double, 2>> sums(static_cast<std::size_t>(tasks));
    parallel_for(n, grain, [&](Int begin, Int end) {
        auto& sum = sums[static_cast<std::size_t>(begin / grain)];
        for (Int i = begin; i < end; i += block) {
            const auto [a, b] = body(i, std::min(block, end - i));
            sum[0] += a;
            sum[1] += b;
        }
    });
    std::array<double, 2> total{};
    for (const auto& [a, b] : sums) {
        total[0] += a;
        total[1] += b;
    }
    return total;
}

template <class T>
void write_pair(const std::array<double, 2>& numbers, T* pair) {
    for (std::size_t k = 0; k < 2; ++k) pair[k] = static_cast<T>(numbers[k]);
}

constexpr std::array<double, 2> unknown{std::numeric_limits<double>::quiet_NaN(),
                                        std::numeric_limits<double>::quiet_NaN()};

// w = mu + sigma eps for numbers [begin, end); eps is kept unless it is null.
template <class T>
void draw(Int begin, Int end, const RandomKey& key, const T* mu, const T* rho, T* w, T* eps) {
    alignas(64) T noise[block];
    for (Int i = begin; i < end; i += block) {
        const Int count = std::min(block, end - i);
        T* const z = eps ? eps + i : noise;
        fill_normal(key, static_cast<std::uint64_t>(i), std::span(z, static_cast<std::size_t>(count)));
        kernels::map_serial(
            count, w + i,
            [](const Batch<T>& m, const Batch<T>& r, const Batch<T>& e) {
                return kernels::multiply_add(Sigma<T>(r).value, e, m);
            },
            Stream<T>{mu + i}, Stream<T>{rho + i}, Stream<T>{z});
    }
}

template <class T>
void draw_all(const RandomKey& key, const Tensor<T>& mu, const Tensor<T>& rho, T* w, T* eps) {
    const T *m = mu.data(), *r = rho.data();
    parallel_for(mu.size(), kernels::map_grain, [&](Int begin, Int end) { draw(begin, end, key, m, r, w, eps); });
}

template <class T>
double log_q(Int n, const T* rho, const T* eps) {
    const T sum = kernels::reduce_serial<kernels::Sum, T>(
        n, [](const Batch<T>& r, const Batch<T>& z) { return -Sigma<T>(r).log_value() - Batch<T>(T(0.5)) * z * z; },
        Stream<T>{rho}, Stream<T>{eps});
    return static_cast<double>(sum) - static_cast<double>(n) * log_sqrt_2pi;
}

// slot[i] = or += x[i] for one batch or the n numbers that are left.
template <class T, bool fresh>
void put(T* slot, Int n, const Batch<T>& x) {
    if (n == lanes<T>) {
        (fresh ? x : x + Batch<T>::load_unaligned(slot)).store_unaligned(slot);
    } else {
        alignas(64) T part[Batch<T>::size];
        x.store_aligned(part);
        for (Int k = 0; k < n; ++k) slot[k] = fresh ? part[k] : slot[k] + part[k];
    }
}

// dL/dmu += h        dL/drho += h eps sigma' - gq sigma' / sigma        h = dL/dw + gp d log p / dw
template <class T, bool fresh>
void pass_on(Int n, T gq, T gp, const T* g, const T* slope, const T* eps, const T* rho, T* dmu, T* drho) {
    const Batch<T> q(gq), p(gp);
    for (Int i = 0; i < n; i += lanes<T>) {
        const Int some = std::min(lanes<T>, n - i);
        const auto load = [&](const T* from) {
            return some == lanes<T> ? Batch<T>::load_unaligned(from + i) : Stream<T>{from}.load_part(i, some);
        };
        const Batch<T> h = slope ? load(g) + p * load(slope) : load(g);
        const Sigma<T> sigma(load(rho));
        const Batch<T> relative = sigma.relative_slope();
        const Batch<T> dr = h * load(eps) * sigma.value * relative - q * relative;
        if (dmu) put<T, fresh>(dmu + i, some, h);
        if (drho) put<T, fresh>(drho + i, some, dr);
    }
}

// What the op passes back: g is dL/dw, gq and gp are the gradients of the sums of log q and log p. Where the gradients
// of mu and rho can be taken in pieces, they are never written to memory.
template <class T>
void pass_back(Backward<T>& b, const Prior* prior) {
    const Int n = b.value().size();
    const T* const sums = b.second_grad();
    const T gq = sums ? sums[0] : T(0), gp = sums ? sums[1] : T(0);
    const T *g = b.grad(), *w = b.value().data(), *rho = b.input(1).data(), *eps = b.input(2).data();
    const bool with_prior = prior && gp != T(0);
    const auto each_block = [&](const auto& pass) {
        parallel_for(n, kernels::map_grain, [&](Int begin, Int end) {
            alignas(64) T slopes[block];
            for (Int i = begin; i < end; i += block) {
                const Int count = std::min(block, end - i);
                if (with_prior) prior->slopes(w + i, count, slopes);
                pass(i, count, with_prior ? slopes : nullptr);
            }
        });
    };
    if (b.has_sink(0) && b.has_sink(1)) {
        const SinkSlot<T> to_mu = b.sink(0), to_rho = b.sink(1);
        each_block([&](Int i, Int count, const T* slopes) {
            alignas(64) T dmu[block], drho[block];
            pass_on<T, true>(count, gq, gp, g + i, slopes, eps + i, rho + i, dmu, drho);
            to_mu.take(i, std::span(dmu, static_cast<std::size_t>(count)));
            to_rho.take(i, std::span(drho, static_cast<std::size_t>(count)));
        });
        return;
    }
    const GradientSlot<T> dmu = b.slot(0), drho = b.slot(1);
    const bool fresh = (!dmu || dmu.fresh) && (!drho || drho.fresh);
    // If only one of the two is fresh, the other one's memory is made so too.
    if (!fresh)
        for (const auto& slot : {dmu, drho})
            if (slot && slot.fresh) std::fill_n(slot.data, n, T(0));
    each_block([&](Int i, Int count, const T* slopes) {
        const auto pass = fresh ? pass_on<T, true> : pass_on<T, false>;
        pass(count, gq, gp, g + i, slopes, eps + i, rho + i, dmu ? dmu.data + i : nullptr,
             drho ? drho.data + i : nullptr);
    });
}

}  // namespace

// One op with two results: the weights, and the sums of log q and log p. Its closure has the gradients of both, and
// goes over the weights once.
template <Real T>
WeightDraw<T> draw_weights(Var<T> mu, Var<T> rho, const Prior* prior, const RandomKey& key, bool value) {
    if (mu.shape() != rho.shape())
        throw ShapeError("draw_weights: mu " + to_string(mu.shape()) + " and rho " + to_string(rho.shape()) +
                         " differ in shape");
    TapeState<T>& tape = mu.state();
    const Int n = mu.size();
    const bool keep = mu.needs_grad() || rho.needs_grad() || value;
    Tensor<T> w = tape.empty(mu.shape()), noise = tape.empty(Shape{keep ? n : 0});
    draw_all(key, mu.value(), rho.value(), w.fresh_data(), keep ? noise.fresh_data() : nullptr);
    const Var<T> kept = tape.leaf("noise", std::move(noise), false);
    const auto draw_again = [key](Forward<T>& node) {
        draw_all<T>(key, node.input(0), node.input(1), node.value(), nullptr);
    };
    const Var<T> drawn = record("draw_weights", {mu, rho, kept}, std::move(w), draw_again,
                                [prior](Backward<T>& b) { pass_back(b, prior); });
    const auto sums = [prior, value](Forward<T>& node) {
        const T *weights = node.input(0).data(), *r = node.input(1).data(), *eps = node.input(2).data();
        const auto sum_block = [&](Int i, Int count) {
            return std::array{log_q(count, r + i, eps + i), prior ? prior->log_prob(weights + i, count) : 0.0};
        };
        write_pair(value ? sum_over_blocks(node.input(0).size(), sum_block) : unknown, node.value());
    };
    return {drawn, tape.record_second("log_q_log_p", std::array{drawn, rho, kept}, Shape{2}, sums)};
}

// E log q = sum -log sigma - log(2 pi e) / 2        E log p = sum -(mu^2 + sigma^2) / (2 s^2) - log s - log(2 pi) / 2
template <Real T>
Var<T> expected_log_q_log_p(Var<T> mu, Var<T> rho, double prior_sd, bool value) {
    if (mu.shape() != rho.shape())
        throw ShapeError("expected_log_q_log_p: mu " + to_string(mu.shape()) + " and rho " + to_string(rho.shape()) +
                         " differ in shape");
    const double precision = 1 / (prior_sd * prior_sd);
    const auto forward = [prior_sd, precision, value](Forward<T>& node) {
        const T *m = node.input(0).data(), *r = node.input(1).data();
        const auto sum_block = [&](Int i, Int count) {
            const auto sum = [&](const auto& f, const auto&... in) {
                return static_cast<double>(kernels::reduce_serial<kernels::Sum, T>(count, f, in...));
            };
            const double logs = sum([](const Batch<T>& x) { return Sigma<T>(x).log_value(); }, Stream<T>{r + i});
            const double squares = sum(
                [](const Batch<T>& u, const Batch<T>& x) {
                    const Batch<T> s = Sigma<T>(x).value;
                    return u * u + s * s;
                },
                Stream<T>{m + i}, Stream<T>{r + i});
            const auto n = static_cast<double>(count);
            return std::array{-logs - n * (log_sqrt_2pi + 0.5),
                              -0.5 * precision * squares - n * (math::log(prior_sd) + log_sqrt_2pi)};
        };
        write_pair(value ? sum_over_blocks(node.input(0).size(), sum_block) : unknown, node.value());
    };
    return record("expected_log_q_log_p", {mu, rho}, Shape{2}, forward, [precision](Backward<T>& b) {
        const Int n = b.input(0).size();
        const Batch<T> gq(b.grad()[0]), gp(b.grad()[1] * static_cast<T>(-precision));
        kernels::map_into(
            b.slot(0), n, [=](const Batch<T>& u) { return gp * u; }, Stream<T>{b.input(0).data()});
        kernels::map_into(
            b.slot(1), n,
            [=](const Batch<T>& x) {
                const Sigma<T> s(x);
                const Batch<T> relative = s.relative_slope();
                return gp * s.value * s.value * relative - gq * relative;
            },
            Stream<T>{b.input(1).data()});
    });
}

#define POLLEN_INSTANTIATE(T)                                                                  \
    template WeightDraw<T> draw_weights(Var<T>, Var<T>, const Prior*, const RandomKey&, bool); \
    template Var<T> expected_log_q_log_p(Var<T>, Var<T>, double, bool);
POLLEN_INSTANTIATE(float)
POLLEN_INSTANTIATE(double)

}  // namespace pollen
