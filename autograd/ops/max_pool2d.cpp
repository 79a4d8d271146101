#include <pollen/autograd/ops/detail/pool2d.hpp>

#include <limits>

namespace pollen {

namespace {

// Whether v takes the place of the largest number so far: the first of equals stays, and NaN wins.
template <Real T>
bool replaces(T v, T largest) {
    return (v > largest) | (v != v);
}

// One row of results from two rows of x.
template <Real T>
void halve(std::int64_t n, const T* __restrict top, const T* __restrict bottom, T* __restrict y) {
    for (std::int64_t j = 0; j < n; ++j) {
        const T a = top[2 * j], b = top[2 * j + 1], c = bottom[2 * j], d = bottom[2 * j + 1];
        const T ab = replaces(b, a) ? b : a;
        const T abc = replaces(c, ab) ? c : ab;
        y[j] = replaces(d, abc) ? d : abc;
    }
}

// Its gradient goes to the number that was largest; add says whether to keep what is in the two rows of dx.
template <Real T, bool add>
void halve_dx(std::int64_t n, const T* __restrict top, const T* __restrict bottom, const T* __restrict g,
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
template <Real T>
std::int64_t largest(const Windows& s, const T* x, std::int64_t i, std::int64_t j) {
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

template <Real T>
void forward(const Windows& s, const T* x, T* y) {
    s.each_plane([&](std::int64_t plane) {
        const T* from = x + plane * s.height * s.width;
        T* to = y + plane * s.out_h * s.out_w;
        for (std::int64_t i = 0; i < s.out_h; ++i, to += s.out_w) {
            if (s.halves())
                halve(s.out_w, from + 2 * i * s.width, from + (2 * i + 1) * s.width, to);
            else
                for (std::int64_t j = 0; j < s.out_w; ++j) to[j] = from[largest(s, from, i, j)];
        }
    });
}

template <Real T>
void backward(const Windows& s, const T* x, const T* g, const GradientSlot<T>& slot) {
    s.each_plane([&](std::int64_t plane) {
        const T* from = x + plane * s.height * s.width;
        const T* grad = g + plane * s.out_h * s.out_w;
        T* to = slot.data + plane * s.height * s.width;
        const bool tiled = s.halves() && s.height % 2 == 0 && s.width % 2 == 0;  // every number is in one window
        if (slot.fresh && !tiled) std::fill_n(to, s.height * s.width, T(0));
        for (std::int64_t i = 0; i < s.out_h; ++i, grad += s.out_w) {
            if (s.halves()) {
                const std::int64_t top = 2 * i * s.width, bottom = top + s.width;
                const auto rows = slot.fresh ? halve_dx<T, false> : halve_dx<T, true>;
                rows(s.out_w, from + top, from + bottom, grad, to + top, to + bottom);
            } else {
                for (std::int64_t j = 0; j < s.out_w; ++j) to[largest(s, from, i, j)] += grad[j];
            }
        }
    });
}

}  // namespace

// y = the largest number of each window        dL/dx += dL/dy at the place it came from, which is found again in x
template <Real T>
Var<T> max_pool2d(Var<T> x, Pool2dOptions options) {
    const Shape& shape = x.shape();
    check_pool("max_pool2d", shape, options);
    const Windows s = windows(shape, options);
    const auto evaluate = [options](Forward<T>& node) {
        forward(windows(node.input(0).shape(), options), node.input(0).data(), node.value());
    };
    const Shape result{shape[0], shape[1], s.out_h, s.out_w};
    return record("max_pool2d", {x}, result, evaluate, [options](Backward<T>& b) {
        if (const GradientSlot<T> slot = b.slot(0))
            backward(windows(b.input(0).shape(), options), b.input(0).data(), b.grad(), slot);
    });
}

template Var<float> max_pool2d(Var<float>, Pool2dOptions);
template Var<double> max_pool2d(Var<double>, Pool2dOptions);

}  // namespace pollen
