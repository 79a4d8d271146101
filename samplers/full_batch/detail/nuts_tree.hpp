#pragma once

#include <pollen/autograd/math.hpp>
#include <pollen/samplers/full_batch/detail/hamiltonian.hpp>

#include <limits>

// The trees of NUTS.
namespace pollen::detail {

inline double log_sum_exp(double a, double b) {
    if (a == -std::numeric_limits<double>::infinity()) return b;
    if (b == -std::numeric_limits<double>::infinity()) return a;
    return a > b ? a + math::log1p(math::exp(b - a)) : b + math::log1p(math::exp(a - b));
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

// A stretch of a trajectory. `first` was reached first and `last` last, whichever way time runs. A leaf is a tree of
// one point: it uses `first` alone, whose momentum is the sum, too.
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

// Whether the trajectory of a and b, which follows a, makes a U-turn (Betancourt 2017, A.4.2). With velocities v at its
// ends and rho the sum of its momenta, it makes none if v . rho > 0 at both ends. Two shorter stretches across the seam
// must pass the same test: all of a with the first point of b, and all of b with the last point of a. Writes the sum of
// all momenta to `sum`, which may be a.sum.
template <Real T>
bool turns_back(const Tree<T>& a, const Tree<T>& b, T* sum) {
    const T *ra = a.total().data(), *rb = b.total().data();
    const T *va = a.front().velocity.data(), *vb = b.back().velocity.data();
    const T *pa = a.back().momentum.data(), *pb = b.front().momentum.data();
    const T *ua = a.back().velocity.data(), *ub = b.front().velocity.data();
    // Four elements at a time, so that the additions do not wait for each other.
    using Four __attribute__((vector_size(4 * sizeof(double)))) = double;
    Four x[6] = {};
    const auto add = [&](std::size_t i, const auto& load) {
        const Four left = load(ra + i), right = load(rb + i), all = left + right;
        const Four to_first = left + load(pb + i), from_last = right + load(pa + i);
        const Four v = load(va + i), w = load(vb + i);
        x[0] += v * all;
        x[1] += w * all;
        x[2] += v * to_first;
        x[3] += load(ub + i) * to_first;
        x[4] += load(ua + i) * from_last;
        x[5] += w * from_last;
        return all;
    };
    const std::size_t n = a.first.momentum.size();
    std::size_t i = 0;
    for (; i + 4 <= n; i += 4) {
        const Four all = add(i, [](const T* p) {
            return Four{static_cast<double>(p[0]), static_cast<double>(p[1]), static_cast<double>(p[2]),
                        static_cast<double>(p[3])};
        });
        for (std::size_t k = 0; k < 4; ++k) sum[i + k] = static_cast<T>(all[k]);
    }
    for (; i < n; ++i) {
        const Four all = add(i, [](const T* p) { return Four{static_cast<double>(*p)}; });
        sum[i] = static_cast<T>(all[0]);
    }
    for (const Four& dot : x)
        if (!((dot[0] + dot[2]) + (dot[1] + dot[3]) > 0)) return true;
    return false;
}

}  // namespace pollen::detail
