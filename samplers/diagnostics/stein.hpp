#pragma once

#include <pollen/autograd/tensor.hpp>

namespace pollen {

struct SteinOptions {
    double c = 1, beta = -0.5;  // the kernel (c^2 + |x - y|^2)^beta, c > 0 and -1 < beta < 0
};

struct SteinDiscrepancy {
    double v;  // sqrt(1/n^2 sum_ij k0(x_i, x_j)), the discrepancy itself, always at least 0
    double u;  // 1/(n (n-1)) sum_{i != j} k0(x_i, x_j), which estimates its square without bias; NaN for one draw
};

// The kernel Stein discrepancy between draws and the distribution whose score, grad log p = -grad U / T, is given at
// each of them, with the inverse multiquadric kernel (Gorham and Mackey, Measuring sample quality with kernels, 2017).
// It needs no normalising constant and no exact draws, and with this kernel it goes to 0 only if the draws converge to
// p.
//
//     k0(x, y) = s(x).s(y) k + s(x).grad_y k + s(y).grad_x k + div_x grad_y k
//
// positions and scores are (draws, dimensions). The cost is draws^2 * dimensions / 2, on all threads.
template <Real T>
SteinDiscrepancy stein_discrepancy(const Tensor<T>& positions, const Tensor<T>& scores, SteinOptions options = {});

}  // namespace pollen
