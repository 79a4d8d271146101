#include <pollen/autograd/ops/detail/pool2d.hpp>

#include <limits>

namespace pollen {

namespace {

template <Real T>
struct Largest {
    // Whether v takes the place of the largest number so far: the first of equals stays, and NaN wins.
    static bool replaces(T v, T largest) { return (v > largest) | (v != v); }

    static void halve(std::int64_t n, const T* __restrict top, const T* __restrict bottom, T* __restrict y) {
        for (std::int64_t j = 0; j < n; ++j) {
            const T a = top[2 * j], b = top[2 * j + 1], c = bottom[2 * j], d = bottom[2 * j + 1];
            const T ab = replaces(b, a) ? b : a;
            const T abc = replaces(c, ab) ? c : ab;
            y[j] = replaces(d, abc) ? d : abc;
        }
    }

    template <bool add>
    static void halve_dx(std::int64_t n, const T* __restrict top, const T* __restrict bottom, const T* __restrict g,
                         T* __restrict dx_top, T* __restrict dx_bottom) {
        for (std::int64_t j = 0; j < n; ++j) {
            const T a = top[2 * j], b = top[2 * j + 1], c = bottom[2 * j], d = bottom[2 * j + 1];
            const T ab = replaces(b, a) ? b : a;
            const T abc = replaces(c, ab) ? c : ab;
            const T to_d = replaces(d, abc) ? g[j] : T(0), to_abc = replaces(d, abc) ? T(0) : g[j];
            const T to_c = replaces(c, ab) ? to_abc : T(0), to_ab = replaces(c, ab) ? T(0) : to_abc;
            const T to_b = replaces(b, a) ? to_ab : T(0), to_a = replaces(b, a) ? T(0) : to_ab;
            dx_top[2 * j] = add ? dx_top[2 * j] + to_a : to_a;
            dx_top[2 * j + 1] = add ? dx_top[2 * j + 1] + to_b : to_b;
            dx_bottom[2 * j] = add ? dx_bottom[2 * j] + to_c : to_c;
            dx_bottom[2 * j + 1] = add ? dx_bottom[2 * j + 1] + to_d : to_d;
        }
    }

    // The index of the largest number of window (i, j) in a plane of x.
    static std::int64_t place(const Windows& s, const T* x, std::int64_t i, std::int64_t j) {
        const auto rows = s.rows(i), columns = s.columns(j);
        std::int64_t at = rows.begin * s.width + columns.begin;
        T best = -std::numeric_limits<T>::infinity();
        for (std::int64_t u = rows.begin; u < rows.end; ++u)
            for (std::int64_t v = columns.begin; v < columns.end; ++v) {
                const T number = x[u * s.width + v];
                if (!replaces(number, best)) continue;
                best = number;
                at = u * s.width + v;
            }
        return at;
    }

    static T window(const Windows& s, const T* x, std::int64_t i, std::int64_t j) { return x[place(s, x, i, j)]; }
    static void window_dx(const Windows& s, const T* x, T g, T* dx, std::int64_t i, std::int64_t j) {
        dx[place(s, x, i, j)] += g;
    }
};

}  // namespace

// y = the largest number of each window        dL/dx += dL/dy at the place it came from, which is found again in x
template <Real T>
Var<T> max_pool2d(Var<T> x, Pool2dOptions options) {
    return pool2d<T, Largest<T>>("max_pool2d", x, options);
}

template Var<float> max_pool2d(Var<float>, Pool2dOptions);
template Var<double> max_pool2d(Var<double>, Pool2dOptions);

}  // namespace pollen
