#include <pollen/autograd/ops/detail/pool2d.hpp>

namespace pollen {

namespace {

// One row of results from two rows of x.
template <Real T>
void halve(std::int64_t n, const T* __restrict top, const T* __restrict bottom, T* __restrict y) {
    for (std::int64_t j = 0; j < n; ++j)
        y[j] = ((top[2 * j] + top[2 * j + 1]) + (bottom[2 * j] + bottom[2 * j + 1])) * T(0.25);
}

template <Real T, bool add>
void halve_dx(std::int64_t n, const T* __restrict g, T* __restrict top, T* __restrict bottom) {
    for (std::int64_t j = 0; j < n; ++j) {
        const T share = g[j] * T(0.25);
        top[2 * j] = add ? top[2 * j] + share : share;
        top[2 * j + 1] = add ? top[2 * j + 1] + share : share;
        bottom[2 * j] = add ? bottom[2 * j] + share : share;
        bottom[2 * j + 1] = add ? bottom[2 * j + 1] + share : share;
    }
}

template <Real T>
T count(const Windows& s) {
    return static_cast<T>(s.size_h) * static_cast<T>(s.size_w);
}

template <Real T>
T mean(const Windows& s, const T* x, std::int64_t i, std::int64_t j) {
    const auto rows = s.rows(i), columns = s.columns(j);
    T sum = 0;
    for (std::int64_t u = rows.begin; u < rows.end; ++u)
        for (std::int64_t v = columns.begin; v < columns.end; ++v) sum += x[u * s.width + v];
    return sum / count<T>(s);
}

template <Real T>
void spread(const Windows& s, T g, T* dx, std::int64_t i, std::int64_t j) {
    const auto rows = s.rows(i), columns = s.columns(j);
    const T share = g / count<T>(s);
    for (std::int64_t u = rows.begin; u < rows.end; ++u)
        for (std::int64_t v = columns.begin; v < columns.end; ++v) dx[u * s.width + v] += share;
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
                for (std::int64_t j = 0; j < s.out_w; ++j) to[j] = mean(s, from, i, j);
        }
    });
}

template <Real T>
void backward(const Windows& s, const T* g, const GradientSlot<T>& slot) {
    s.each_plane([&](std::int64_t plane) {
        const T* grad = g + plane * s.out_h * s.out_w;
        T* to = slot.data + plane * s.height * s.width;
        const bool tiled = s.halves() && s.height % 2 == 0 && s.width % 2 == 0;  // every number is in one window
        if (slot.fresh && !tiled) std::fill_n(to, s.height * s.width, T(0));
        for (std::int64_t i = 0; i < s.out_h; ++i, grad += s.out_w) {
            if (s.halves()) {
                const auto rows = slot.fresh ? halve_dx<T, false> : halve_dx<T, true>;
                rows(s.out_w, grad, to + 2 * i * s.width, to + (2 * i + 1) * s.width);
            } else {
                for (std::int64_t j = 0; j < s.out_w; ++j) spread(s, grad[j], to, i, j);
            }
        }
    });
}

}  // namespace

// y = the sum of each window / the pixels of a window, those of the padding too        dL/dx += dL/dy / the same number
template <Real T>
Var<T> avg_pool2d(Var<T> x, Pool2dOptions options) {
    const Shape& shape = x.shape();
    check_pool("avg_pool2d", shape, options);
    const Windows s = windows(shape, options);
    const auto evaluate = [options](Forward<T>& node) {
        forward(windows(node.input(0).shape(), options), node.input(0).data(), node.value());
    };
    const Shape result{shape[0], shape[1], s.out_h, s.out_w};
    return record("avg_pool2d", {x}, result, evaluate, [options](Backward<T>& b) {
        if (const GradientSlot<T> slot = b.slot(0)) backward(windows(b.input(0).shape(), options), b.grad(), slot);
    });
}

template Var<float> avg_pool2d(Var<float>, Pool2dOptions);
template Var<double> avg_pool2d(Var<double>, Pool2dOptions);

}  // namespace pollen
