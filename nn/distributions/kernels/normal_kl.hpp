#pragma once

#include <pollen/autograd/kernels/log.hpp>
#include <pollen/nn/distributions/kernels/law_loops.hpp>

namespace pollen::distributions {

// The divergence of two normal distributions. With r = s / t the ratio of the standard deviations, and z the distance
// of the means over t:
//     KL = (r^2 - 1 + z^2) / 2 - log r
template <class T>
struct NormalKl {
    using B = kernels::Batch<T>;
    B s, n, t;

    NormalKl(const B& s_p, const B& mean_q, const B& s_q) : s(s_p), n(mean_q), t(s_q) {}

    B value(const B& m) const {
        const B one(T(1)), r = s / t, z = (m - n) / t;
        return B(T(0.5)) * ((r - one) * (r + one) + z * z) - kernels::log(r);
    }
    void slopes(const B& m, const kernels::Wanted&, B* d) const {
        const B one(T(1)), r = s / t, z = (m - n) / t;
        d[0] = z / t;
        d[1] = (r - one / r) / t;
        d[2] = -d[0];
        d[3] = (one - r * r - z * z) / t;
    }
};

}  // namespace pollen::distributions
