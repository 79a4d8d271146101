// Large tensors: memory-bound ops against a plain copy, transcendental ones against a bare xsimd loop, in one run.
#include "bench.hpp"

#include <pollen/autograd/ops.hpp>
#include <pollen/autograd/parallel.hpp>

#include <xsimd/xsimd.hpp>

#include <memory>

namespace pollen::bench {

namespace {

constexpr std::int64_t n = 2400000;
constexpr std::int64_t block = 32768;
using Batch = xsimd::batch<float>;

struct Arrays {
    Tape<float> tape{Recording::off};
    Tensor<float> x = Tensor<float>::linspace(0.1f, 4.0f, n);
    Tensor<float> y = Tensor<float>::linspace(-2.0f, 2.0f, n);
    Tensor<float> out = Tensor<float>::zeros({n});
};

// out = f(x) by hand, the blocks shared among the threads in the same way.
template <class F>
void bare_loop(Arrays& a, F f) {
    const float* in = a.x.data();
    float* out = a.out.mutable_data();
    parallel_for(n, block, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; i += static_cast<std::int64_t>(Batch::size))
            f(Batch::load_aligned(in + i)).store_aligned(out + i);
    });
}

// Bytes moved per second, counting what the op reads and writes, against those of a copy.
template <class F>
void add_memory_bound(const std::shared_ptr<Arrays>& a, const std::string& name, double arrays, F op) {
    const double array = static_cast<double>(n) * sizeof(float);
    add({.suite = "ops",
         .name = name + "_2_4m",
         .unit = Unit::gigabytes(arrays * array),
         .ours =
             [a, op] {
                 op(a->tape.borrow(a->x), a->tape.borrow(a->y));
                 a->tape.clear();
             },
         .peer = "copy of as many bytes",
         .peer_work =
             [a, arrays] {
                 // `arrays` streams in all, half of them read and half written.
                 const float* in = a->x.data();
                 float* out = a->out.mutable_data();
                 parallel_for(static_cast<std::int64_t>(arrays / 2 * static_cast<double>(n)), block,
                              [&](std::int64_t begin, std::int64_t end) {
                                  for (std::int64_t i = begin; i < end; i += static_cast<std::int64_t>(Batch::size)) {
                                      const std::int64_t k = i < n ? i : i - n;
                                      Batch::load_aligned(in + k).store_aligned(out + k);
                                  }
                              });
             },
         .goal = 0.8});
}

template <class F, class G>
void add_compute_bound(const std::shared_ptr<Arrays>& a, const std::string& name, F op, G bare) {
    add({.suite = "ops",
         .name = name + "_2_4m",
         .unit = Unit::milliseconds(),
         .ours =
             [a, op] {
                 op(a->tape.borrow(a->x));
                 a->tape.clear();
             },
         .peer = "bare xsimd loop",
         .peer_work = [a, bare] { bare_loop(*a, bare); },
         .goal = 0.9});
}

const Register rows([] {
    auto a = std::make_shared<Arrays>();
    add_memory_bound(a, "add", 3, [](auto x, auto y) { return x + y; });
    add_memory_bound(a, "mul", 3, [](auto x, auto y) { return x * y; });
    add_memory_bound(a, "maximum", 3, [](auto x, auto y) { return maximum(x, y); });
    add_memory_bound(a, "scale", 2, [](auto x, auto) { return x * 1.5; });
    add_memory_bound(a, "relu", 2, [](auto, auto y) { return relu(y); });
    add_memory_bound(a, "square", 2, [](auto x, auto) { return square(x); });
    add_compute_bound(
        a, "exp", [](auto x) { return exp(x); }, [](Batch x) { return xsimd::exp(x); });
    add_compute_bound(
        a, "log", [](auto x) { return log(x); }, [](Batch x) { return xsimd::log(x); });
    add_compute_bound(
        a, "log1p", [](auto x) { return log1p(x); }, [](Batch x) { return xsimd::log1p(x); });
    add_compute_bound(
        a, "tanh", [](auto x) { return tanh(x); }, [](Batch x) { return xsimd::tanh(x); });
    add_compute_bound(
        a, "sin", [](auto x) { return sin(x); }, [](Batch x) { return xsimd::sin(x); });
    add_compute_bound(
        a, "erf", [](auto x) { return erf(x); }, [](Batch x) { return xsimd::erf(x); });
    add_compute_bound(
        a, "lgamma", [](auto x) { return lgamma(x); }, [](Batch x) { return xsimd::lgamma(x); });
    add_compute_bound(
        a, "softplus", [](auto x) { return softplus(x); }, [](Batch x) { return xsimd::log1p(xsimd::exp(x)); });
    add_compute_bound(
        a, "sigmoid", [](auto x) { return sigmoid(x); }, [](Batch x) { return 1.0f / (1.0f + xsimd::exp(-x)); });
    add({.suite = "ops",
         .name = "sum_2_4m",
         .unit = Unit::gigabytes(static_cast<double>(n) * sizeof(float)),
         .ours =
             [a] {
                 sum(a->tape.borrow(a->x));
                 a->tape.clear();
             },
         .peer = "copy, counting what it reads",
         .peer_work = [a] { bare_loop(*a, [](Batch x) { return x; }); },
         .goal = 0.4});
});

}  // namespace

}  // namespace pollen::bench
