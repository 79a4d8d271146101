#pragma once

#include <pollen/samplers/kernels/full_batch.hpp>

#include <cmath>
#include <limits>

// The trees of NUTS.
namespace pollen::detail {

inline double log_sum_exp(double a, double b) {
    if (a == -std::numeric_limits<double>::infinity()) return b;
    if (b == -std::numeric_limits<double>::infinity()) return a;
    return a > b ? a + std::log1p(std::exp(b - a)) : b + std::log1p(std::exp(a - b));
}

// A point that a tree proposes.
template <Real T>
struct Proposal {
    std::vector<T> position, gradient;
    Energy energy;
    double kinetic = 0;
};

// One end of a tree: momentum and velocity ("p sharp" in Stan).
template <Real T>
struct End {
    std::vector<T> momentum, velocity;
};

// A stretch of a trajectory. `first` was reached first and `last` last, whichever way time runs. A tree of one point
// has first and sum = first.momentum alone, and leaves the rest unused.
template <Real T>
struct Tree {
    bool leaf = true;
    End<T> first, last;
    std::vector<T> sum;  // of all momenta
    Proposal<T> proposal;
    double log_weight = 0;  // log sum exp(H0 - H) over its points

    const End<T>& front() const { return first; }
    const End<T>& back() const { return leaf ? first : last; }
    const std::vector<T>& total() const { return leaf ? first.momentum : sum; }

    void resize(std::size_t n) {
        for (std::vector<T>* x : {&first.momentum, &first.velocity, &last.momentum, &last.velocity, &sum,
                                  &proposal.position, &proposal.gradient})
            x->resize(n);
    }
};

// Whether two neighbouring trees together go on without a U-turn (Betancourt 2017, A.4.2): with velocities v at the
// ends and the sum of the momenta rho between them, v . rho > 0 at both ends. Besides the whole, two stretches over the
// seam are looked at: all of a with the first point of b, and all of b with the last point of a. Writes the sum of all
// momenta to `sum`, which may be a.sum.
template <Real T>
bool goes_on(const Tree<T>& a, const Tree<T>& b, T* sum) {
    const T *ra = a.total().data(), *rb = b.total().data();
    const T *va = a.front().velocity.data(), *vb = b.back().velocity.data();
    const T *pa = a.back().momentum.data(), *pb = b.front().momentum.data();
    const T *ua = a.back().velocity.data(), *ub = b.front().velocity.data();
    double x[6] = {};
    const std::size_t n = a.first.momentum.size();
    for (std::size_t i = 0; i < n; ++i) {
        const double left = static_cast<double>(ra[i]), right = static_cast<double>(rb[i]);
        const double all = left + right;
        const double to_first = left + static_cast<double>(pb[i]), from_last = right + static_cast<double>(pa[i]);
        const double v = static_cast<double>(va[i]), w = static_cast<double>(vb[i]);
        x[0] += v * all;
        x[1] += w * all;
        x[2] += v * to_first;
        x[3] += static_cast<double>(ub[i]) * to_first;
        x[4] += static_cast<double>(ua[i]) * from_last;
        x[5] += w * from_last;
        sum[i] = static_cast<T>(all);
    }
    return x[0] > 0 && x[1] > 0 && x[2] > 0 && x[3] > 0 && x[4] > 0 && x[5] > 0;
}

}  // namespace pollen::detail
