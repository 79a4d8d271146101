#include <pollen/autograd/ops/detail/pool2d.hpp>

namespace pollen {

namespace {

template <Real T>
struct Mean {
    static void halve(std::int64_t n, const T* __restrict top, const T* __restrict bottom, T* __restrict y) {
        for (std::int64_t j = 0; j < n; ++j)
            y[j] = ((top[2 * j] + top[2 * j + 1]) + (bottom[2 * j] + bottom[2 * j + 1])) * T(0.25);
    }

    template <bool add>
    static void halve_dx(std::int64_t n, const T*, const T*, const T* __restrict g, T* __restrict top,
                         T* __restrict bottom) {
        for (std::int64_t j = 0; j < n; ++j) {
            const T share = g[j] * T(0.25);
            top[2 * j] = add ? top[2 * j] + share : share;
            top[2 * j + 1] = add ? top[2 * j + 1] + share : share;
            bottom[2 * j] = add ? bottom[2 * j] + share : share;
            bottom[2 * j + 1] = add ? bottom[2 * j + 1] + share : share;
        }
    }

    static T window(const Windows& s, const T* x, std::int64_t i, std::int64_t j) {
        const auto rows = s.rows(i), columns = s.columns(j);
        T sum = 0;
        for (std::int64_t u = rows.begin; u < rows.end; ++u)
            for (std::int64_t v = columns.begin; v < columns.end; ++v) sum += x[u * s.width + v];
        return sum / pixels(s);
    }

    static void window_dx(const Windows& s, const T*, T g, T* dx, std::int64_t i, std::int64_t j) {
        const auto rows = s.rows(i), columns = s.columns(j);
        const T share = g / pixels(s);
        for (std::int64_t u = rows.begin; u < rows.end; ++u)
            for (std::int64_t v = columns.begin; v < columns.end; ++v) dx[u * s.width + v] += share;
    }

    static T pixels(const Windows& s) { return static_cast<T>(s.size_h) * static_cast<T>(s.size_w); }
};

}  // namespace

// y = the sum of each window / the pixels of a window, those of the padding too        dL/dx += dL/dy / the same number
template <Real T>
Var<T> avg_pool2d(Var<T> x, Pool2dOptions options) {
    return pool2d<T, Mean<T>>("avg_pool2d", x, options);
}

template Var<float> avg_pool2d(Var<float>, Pool2dOptions);
template Var<double> avg_pool2d(Var<double>, Pool2dOptions);

}  // namespace pollen
