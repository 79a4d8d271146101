#include <pollen/autograd/detail/scratch.hpp>
#include <pollen/autograd/kernels/exp.hpp>
#include <pollen/autograd/kernels/map.hpp>
#include <pollen/autograd/kernels/reduce.hpp>
#include <pollen/autograd/ops.hpp>

#include <cmath>
#include <string>

namespace pollen {

namespace {

using Int = std::int64_t;
using kernels::Batch;
using kernels::multiply_add;
using kernels::Stream;

enum class Then { nothing, swish };

void check(const Shape& x, std::initializer_list<std::pair<const char*, Shape>> numbers) {
    if (x.rank() != 4)
        throw ShapeError("filter_response_norm: x has shape " + to_string(x) +
                         "; images (batch, channels, height, width) are needed");
    if (x[2] * x[3] == 0) throw ShapeError("filter_response_norm: the images of x " + to_string(x) + " have no pixels");
    for (const auto& [name, shape] : numbers)
        if (shape != Shape{x[1], 1, 1})
            throw ShapeError("filter_response_norm: " + std::string(name) + " has shape " + to_string(shape) +
                             " for x " + to_string(x) + "; one number for each channel, (" + std::to_string(x[1]) +
                             ", 1, 1), is needed");
}

// One channel of one image: r = 1 / sqrt(mean x^2 + epsilon), z = x (r scale) + shift, u = max(z, threshold)
template <Real T>
struct Plane {
    Int pixels;
    const T* x;
    T r, scale, shift, threshold;

    Plane(const Tensor<T>& all, Int plane, const T* scales, const T* shifts, const T* thresholds, T epsilon)
        : pixels(all.shape()[2] * all.shape()[3]), x(all.data() + plane * pixels) {
        const Int channel = plane % all.shape()[1];
        const T squares = kernels::reduce_serial<kernels::Sum, T>(
            pixels, [](const Batch<T>& v) { return v * v; }, Stream<T>{x});
        r = T(1) / std::sqrt(squares / static_cast<T>(pixels) + epsilon);
        scale = scales[channel];
        shift = shifts[channel];
        threshold = thresholds[channel];
    }

    // z and u at some numbers v of x.
    Batch<T> z(const Batch<T>& v) const { return multiply_add(v, Batch<T>(r * scale), Batch<T>(shift)); }
    Batch<T> u(const Batch<T>& v) const {
        const Batch<T> a = z(v), t(threshold);
        return xsimd::select(a > t || xsimd::isnan(a), a, t);  // NaN if one of the two is
    }
    // dL/dz, of dL/du = g: all of it above the threshold, half of it at the threshold, as in maximum().
    Batch<T> dz(const Batch<T>& g, const Batch<T>& v) const {
        const Batch<T> a = z(v), t(threshold);
        return xsimd::select(a < t, Batch<T>(T(0)), xsimd::select(a == t, g * Batch<T>(T(0.5)), g));
    }
};

// What each plane adds to the gradients of scale, shift and threshold.
template <Real T>
struct Sums {
    Tensor<T> memory;
    T *scale, *shift, *threshold;

    Sums(Backward<T>& b, Int planes)
        : memory(b.scratch(Shape{3, planes})),
          scale(memory.fresh_data()),
          shift(scale + planes),
          threshold(shift + planes) {}
};

// The scratch memory for dL/du of a plane, where y is swish(u).
struct SlopesOfSwish;

// u = max(z, threshold), z = x r scale + shift, r = 1 / sqrt(mean x^2 + epsilon)        y = u or swish(u)
//
// Let h = dL/dz: dL/du where z > threshold, half of it where the two are equal, 0 elsewhere. The sums run over the P
// pixels of a plane.
//
//     dL/dx += r scale (h - x r^2 (sum h x) / P)
//     dL/dscale += r sum h x        dL/dshift += sum h        dL/dthreshold += sum (dL/du - h)
template <Real T, Then then>
Var<T> norm(const char* name, Var<T> x, Var<T> scale, Var<T> shift, Var<T> threshold, double epsilon) {
    check(x.shape(), {{"scale", scale.shape()}, {"shift", shift.shape()}, {"threshold", threshold.shape()}});
    const T eps = static_cast<T>(epsilon);
    const auto each_plane = [eps](auto& node, const auto& f) {
        const Tensor<T>& in = node.input(0);
        const Shape& s = in.shape();
        const T *scales = node.input(1).data(), *shifts = node.input(2).data(), *thresholds = node.input(3).data();
        parallel_for(s[0] * s[1], kernels::grain_for(s[2] * s[3], kernels::map_grain / 4), [&](Int begin, Int end) {
            for (Int k = begin; k < end; ++k) f(k, Plane<T>(in, k, scales, shifts, thresholds, eps));
        });
    };
    const auto forward = [each_plane](Forward<T>& node) {
        T* y = node.value();
        each_plane(node, [&](Int k, const Plane<T>& p) {
            kernels::map_serial(
                p.pixels, y + k * p.pixels,
                [&](const Batch<T>& v) {
                    if constexpr (then == Then::swish)
                        return kernels::swish<T>(p.u(v));
                    else
                        return p.u(v);
                },
                Stream<T>{p.x});
        });
    };
    return record(name, {x, scale, shift, threshold}, x.shape(), forward, [each_plane](Backward<T>& b) {
        const Shape& s = b.value().shape();
        const Int planes = s[0] * s[1], pixels = s[2] * s[3];
        const Sums<T> sums(b, planes);
        const GradientSlot<T> dx = b.slot(0);
        each_plane(b, [&](Int k, const Plane<T>& p) {
            const T* du = b.grad() + k * pixels;
            if constexpr (then == Then::swish) {
                T* slopes = kernels::scratch<T, SlopesOfSwish>(pixels);
                kernels::map_serial(
                    pixels, slopes,
                    [&](const Batch<T>& g, const Batch<T>& v) { return g * kernels::swish_slope<T>(p.u(v)); },
                    Stream<T>{du}, Stream<T>{p.x});
                du = slopes;
            }
            const Stream<T> from{du}, at{p.x};
            const auto sum = [&](const auto& f) {
                return kernels::reduce_serial<kernels::Sum, T>(pixels, f, from, at);
            };
            const T along = sum([&](const Batch<T>& g, const Batch<T>& v) { return p.dz(g, v) * v; });
            sums.scale[k] = p.r * along;
            sums.shift[k] = sum([&](const Batch<T>& g, const Batch<T>& v) { return p.dz(g, v); });
            sums.threshold[k] = sum([&](const Batch<T>& g, const Batch<T>& v) { return g - p.dz(g, v); });
            if (!dx) return;
            const Batch<T> factor(p.r * p.scale), back(p.r * p.r * along / static_cast<T>(pixels));
            const auto slope = [&](const Batch<T>& g, const Batch<T>& v) {
                return factor * kernels::subtract_product(back, v, p.dz(g, v));
            };
            T* to = dx.data + k * pixels;
            if (dx.fresh)
                kernels::map_serial(pixels, to, slope, from, at);
            else
                kernels::map_serial(
                    pixels, to, [&](const Batch<T>& old, const auto&... in) { return old + slope(in...); },
                    Stream<T>{to}, from, at);
        });
        const Shape each{s[0], s[1]}, all{1, s[1]};
        const T* of[] = {sums.scale, sums.shift, sums.threshold};
        for (int k = 0; k < 3; ++k)
            if (const GradientSlot<T> d = b.slot(k + 1)) kernels::sum_to(of[k], each, d, all);
    });
}

}  // namespace

template <Real T>
Var<T> filter_response_norm(Var<T> x, Var<T> scale, Var<T> shift, Var<T> threshold, double epsilon) {
    return norm<T, Then::nothing>("filter_response_norm", x, scale, shift, threshold, epsilon);
}

template <Real T>
Var<T> filter_response_norm_swish(Var<T> x, Var<T> scale, Var<T> shift, Var<T> threshold, double epsilon) {
    return norm<T, Then::swish>("filter_response_norm_swish", x, scale, shift, threshold, epsilon);
}

#define POLLEN_INSTANTIATE_NORM(T)                                                \
    template Var<T> filter_response_norm(Var<T>, Var<T>, Var<T>, Var<T>, double); \
    template Var<T> filter_response_norm_swish(Var<T>, Var<T>, Var<T>, Var<T>, double);
POLLEN_INSTANTIATE_NORM(float)
POLLEN_INSTANTIATE_NORM(double)
#undef POLLEN_INSTANTIATE_NORM

}  // namespace pollen
