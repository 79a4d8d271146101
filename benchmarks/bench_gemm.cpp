// Matrix products against OpenBLAS called directly, on one core and on two: a large square one, and the three products
// of each layer of a 784-1200-1200-10 network at batch 128.
#include "bench.hpp"

#include <pollen/autograd/kernels/gemm.hpp>
#include <pollen/autograd/tensor.hpp>

#include <cblas.h>

#include <memory>

namespace pollen::bench {

namespace {

struct Product {
    const char* name;
    bool trans_a, trans_b;
    int m, n, k;
};

struct Matrices {
    Tensor<float> a, b, c;
    explicit Matrices(const Product& p)
        : a(Tensor<float>::linspace(-1, 1, std::int64_t{p.m} * p.k)),
          b(Tensor<float>::linspace(-1, 1, std::int64_t{p.k} * p.n)),
          c(Tensor<float>::zeros({p.m, p.n})) {}
};

void add_product(const Product& p, int threads, double goal) {
    auto x = std::make_shared<Matrices>(p);
    add({.suite = "gemm",
         .name = std::string(p.name) + (threads == 1 ? "_1core" : "_2cores"),
         .unit = Unit::gigaflops(2.0 * p.m * p.n * p.k),
         .ours =
             [x, p] {
                 kernels::gemm<float>(p.trans_a, p.trans_b, p.m, p.n, p.k, 1.0f, x->a.data(), x->b.data(), 0.0f,
                                      x->c.mutable_data());
             },
         .peer = "OpenBLAS directly, one core",
         .peer_work =
             [x, p] {
                 cblas_sgemm(CblasRowMajor, p.trans_a ? CblasTrans : CblasNoTrans,
                             p.trans_b ? CblasTrans : CblasNoTrans, p.m, p.n, p.k, 1.0f, x->a.data(),
                             p.trans_a ? p.m : p.k, x->b.data(), p.trans_b ? p.k : p.n, 0.0f, x->c.mutable_data(), p.n);
             },
         .goal = goal,
         .threads = threads});
}

const Register rows([] {
    const Product square{"gemm_1024", false, false, 1024, 1024, 1024};
    add_product(square, 1, 0.95);
    add_product(square, 2, 1.8);
    const Product layers[] = {
        {"gemm_784_1200_forward", false, true, 128, 1200, 784},
        {"gemm_784_1200_weights", true, false, 1200, 784, 128},
        {"gemm_784_1200_input", false, false, 128, 784, 1200},
        {"gemm_1200_1200_forward", false, true, 128, 1200, 1200},
        {"gemm_1200_1200_weights", true, false, 1200, 1200, 128},
        {"gemm_1200_1200_input", false, false, 128, 1200, 1200},
        {"gemm_1200_10_forward", false, true, 128, 10, 1200},
        {"gemm_1200_10_weights", true, false, 10, 1200, 128},
        {"gemm_1200_10_input", false, false, 128, 1200, 10},
        {"gemm_both_transposed", true, true, 128, 1200, 784},
    };
    for (const Product& p : layers) {
        add_product(p, 1, 0.9);
        add_product(p, 2, 0.9);
    }
});

}  // namespace

}  // namespace pollen::bench
