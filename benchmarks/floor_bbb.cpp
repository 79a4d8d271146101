#include "floor_bbb.hpp"

#include <pollen/autograd/kernels/exp.hpp>
#include <pollen/autograd/kernels/gemm.hpp>
#include <pollen/autograd/kernels/log.hpp>
#include <pollen/autograd/parallel.hpp>
#include <pollen/autograd/random.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

namespace pollen::bench {

namespace {

using Int = std::int64_t;
using B = kernels::Batch<float>;

constexpr Int rows = 128, inputs = 784, classes = 10, grain = 32768, block = 1024, width = B::size;
constexpr float rate = 0.01f, kl_weight = 1.0f / 60000, pi = 0.25f;
const float precision2 = std::exp(12.0f), odds = std::log((1 - pi) / pi) + 6;

struct Layer {
    Int in, out, size;
    std::uint32_t stream;
    std::vector<float> mu, rho, w, eps, dw;

    Layer(Int i, Int o, std::uint32_t s)
        : in(i), out(o), size((i * o + 63) / 64 * 64), stream(s), mu(n()), rho(n(), -5.0f), w(n()), eps(n()), dw(n()) {
        fill_normal({1, stream, 0}, 0, mu, 0.0f, 0.05f);
    }
    std::size_t n() const { return static_cast<std::size_t>(size); }

    // w = mu + log(1 + exp(rho)) eps
    void draw(std::uint64_t step) {
        parallel_for(size, grain, [&](Int begin, Int end) {
            for (Int i = begin; i < end; i += block) {
                const Int stop = std::min(end, i + block);
                fill_normal({1, stream, step}, static_cast<std::uint64_t>(i),
                            std::span(&eps[static_cast<std::size_t>(i)], static_cast<std::size_t>(stop - i)));
                for (Int k = i; k < stop; k += width) {
                    const B sigma =
                        kernels::log1p_exp_minus_abs<float>(B::load_unaligned(&rho[static_cast<std::size_t>(k)]));
                    const auto at = static_cast<std::size_t>(k);
                    (B::load_unaligned(&mu[at]) + sigma * B::load_unaligned(&eps[at])).store_unaligned(&w[at]);
                }
            }
        });
    }

    // h = dL/dw - klw d log p/dw        mu -= rate h        rho -= rate (h eps - klw / sigma) sigma'
    void update() {
        const B one(1.0f), klw(kl_weight), a(rate), p2(precision2), half(0.5f * (precision2 - 1)), d0(odds);
        parallel_for(size, grain, [&](Int begin, Int end) {
            for (Int k = begin; k < end; k += width) {
                const auto at = static_cast<std::size_t>(k);
                const B x = B::load_unaligned(&w[at]), r = B::load_unaligned(&rho[at]);
                const B narrow = one / (one + kernels::exp<float>(half * x * x - d0));
                const B h = B::load_unaligned(&dw[at]) + klw * x * (one + (p2 - one) * narrow);
                const B e = kernels::exp<float>(r), sigma = kernels::log1p_exp_minus_abs<float>(r);
                (B::load_unaligned(&mu[at]) - a * h).store_unaligned(&mu[at]);
                (r - a * (h * B::load_unaligned(&eps[at]) - klw / sigma) * e / (one + e)).store_unaligned(&rho[at]);
            }
        });
    }
};

void product(bool ta, bool tb, Int m, Int n, Int k, const std::vector<float>& a, const std::vector<float>& b,
             std::vector<float>& c) {
    kernels::gemm<float>(ta, tb, m, n, k, 1.0f, a.data(), ta ? m : k, b.data(), tb ? k : n, 0.0f, c.data(), n);
}

std::vector<float> zeros(Int n) { return std::vector<float>(static_cast<std::size_t>(n)); }

}  // namespace

struct FloorBbb::Network {
    Int hidden;
    Layer first, second, third;
    std::vector<float> x = zeros(rows * inputs), h1 = zeros(rows * hidden), h2 = h1, d1 = h1, d2 = h1,
                       out = zeros(rows * classes);
    std::uint64_t step = 0;

    explicit Network(Int h) : hidden(h), first(inputs, h, 1), second(h, h, 2), third(h, classes, 3) {
        fill_uniform({2, 0, 0}, 0, x);
    }

    static void relu(std::vector<float>& a) {
        for_batches(a, [](const B& v) { return xsimd::max(v, B(0.0f)); });
    }
    template <class F>
    static void for_batches(std::vector<float>& a, const F& f) {
        parallel_for(std::ssize(a), grain, [&](Int begin, Int end) {
            for (Int k = begin; k < end; k += width)
                f(B::load_unaligned(&a[static_cast<std::size_t>(k)])).store_unaligned(&a[static_cast<std::size_t>(k)]);
        });
    }
    // d = 0 where h = 0
    static void mask(std::vector<float>& d, const std::vector<float>& h) {
        parallel_for(std::ssize(d), grain, [&](Int begin, Int end) {
            for (Int k = begin; k < end; k += width) {
                const auto at = static_cast<std::size_t>(k);
                const B zero(0.0f);
                xsimd::select(B::load_unaligned(&h[at]) > zero, B::load_unaligned(&d[at]), zero)
                    .store_unaligned(&d[at]);
            }
        });
    }
    // out = (softmax(out) - one hot) / rows
    void softmax() {
        for (Int i = 0; i < rows; ++i) {
            float* o = &out[static_cast<std::size_t>(i * classes)];
            const float highest = *std::max_element(o, o + classes);
            float sum = 0;
            for (Int c = 0; c < classes; ++c) sum += o[c] = std::exp(o[c] - highest);
            for (Int c = 0; c < classes; ++c) o[c] = (o[c] / sum - (c == i % classes ? 1.0f : 0.0f)) / rows;
        }
    }

    void operator()() {
        for (Layer* layer : {&first, &second, &third}) layer->draw(step);
        ++step;
        product(false, true, rows, hidden, inputs, x, first.w, h1);
        relu(h1);
        product(false, true, rows, hidden, hidden, h1, second.w, h2);
        relu(h2);
        product(false, true, rows, classes, hidden, h2, third.w, out);
        softmax();
        product(true, false, classes, hidden, rows, out, h2, third.dw);
        product(false, false, rows, hidden, classes, out, third.w, d2);
        mask(d2, h2);
        product(true, false, hidden, hidden, rows, d2, h1, second.dw);
        product(false, false, rows, hidden, hidden, d2, second.w, d1);
        mask(d1, h1);
        product(true, false, hidden, inputs, rows, d1, x, first.dw);
        for (Layer* layer : {&first, &second, &third}) layer->update();
    }
};

FloorBbb::FloorBbb(std::int64_t hidden) : network_(std::make_unique<Network>(hidden)) {}
FloorBbb::~FloorBbb() = default;
void FloorBbb::step() { (*network_)(); }

}  // namespace pollen::bench
