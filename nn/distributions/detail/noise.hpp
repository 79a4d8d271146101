#pragma once

#include <pollen/autograd/math.hpp>
#include <pollen/autograd/random.hpp>
#include <pollen/nn/distributions/detail/density_node.hpp>
#include <pollen/nn/distributions/kernels/special.hpp>

#include <cmath>
#include <string>

// Standard noise, and draws made of it.
namespace pollen::distributions {

template <Real T>
Tensor<T> normal_noise(const Shape& shape, const RandomKey& key) {
    Tensor<T> out = Tensor<T>::empty(shape);
    fill_normal(key, 0, std::span<T>(out.fresh_data(), static_cast<std::size_t>(out.size())));
    return out;
}

// e = f(u) on batches of uniform numbers u in [0, 1).
template <Real T, class F>
Tensor<T> noise_of_uniforms(const Shape& shape, const RandomKey& key, const F& f) {
    Tensor<T> out = Tensor<T>::empty(shape);
    fill_uniform(key, 0, std::span<T>(out.fresh_data(), static_cast<std::size_t>(out.size())));
    kernels::map(out.size(), out.fresh_data(), f, kernels::Stream<T>{out.data()});
    return out;
}

// f(v) with either sign: v is 2 u or 2 u - 1, again uniform in [0, 1), as u is in the first or the second half.
template <class T, class F>
kernels::Batch<T> with_random_sign(const kernels::Batch<T>& u, const F& f) {
    const kernels::Batch<T> one(T(1)), twice = u + u;
    const auto second = twice >= one;
    const kernels::Batch<T> e = f(kernels::Batch<T>(xsimd::select(second, twice - one, twice)));
    return xsimd::select(second, e, -e);
}

// -log(1 - u)
template <class T>
kernels::Batch<T> exponential_of(const kernels::Batch<T>& u) {
    return -kernels::log1p<T>(-u);
}

// tan(pi u / 2), finite because 1 - u is not 0
template <class T>
kernels::Batch<T> half_cauchy_of(const kernels::Batch<T>& u) {
    const kernels::Batch<T> half(T(0.5)), r = half * u;
    return kernels::sin_pi<T>(r) / kernels::sin_pi<T>(half - r);
}

template <Real T>
Tensor<T> uniform_noise(const Shape& shape, const RandomKey& key) {
    return noise_of_uniforms<T>(shape, key, [](const kernels::Batch<T>& u) { return u; });
}
template <Real T>
Tensor<T> half_normal_noise(const Shape& shape, const RandomKey& key) {
    Tensor<T> z = normal_noise<T>(shape, key);
    for (std::int64_t i = 0; i < z.size(); ++i) z.fresh_data()[i] = std::abs(z.fresh_data()[i]);
    return z;
}
template <Real T>
Tensor<T> exponential_noise(const Shape& shape, const RandomKey& key) {
    return noise_of_uniforms<T>(shape, key, [](const kernels::Batch<T>& u) { return exponential_of<T>(u); });
}
template <Real T>
Tensor<T> half_cauchy_noise(const Shape& shape, const RandomKey& key) {
    return noise_of_uniforms<T>(shape, key, [](const kernels::Batch<T>& u) { return half_cauchy_of<T>(u); });
}
template <Real T>
Tensor<T> laplace_noise(const Shape& shape, const RandomKey& key) {
    return noise_of_uniforms<T>(shape, key,
                                [](const kernels::Batch<T>& u) { return with_random_sign<T>(u, exponential_of<T>); });
}
template <Real T>
Tensor<T> cauchy_noise(const Shape& shape, const RandomKey& key) {
    return noise_of_uniforms<T>(shape, key,
                                [](const kernels::Batch<T>& u) { return with_random_sign<T>(u, half_cauchy_of<T>); });
}

inline void check_sample_shape(const char* name, const Shape& parameter, const Shape& shape) {
    if (!broadcasts_to(parameter, shape))
        throw ShapeError(std::string(name) + ": a parameter of shape " + to_string(parameter) +
                         " does not broadcast to the shape asked for, " + to_string(shape));
}

// Draws as laws (density.hpp) of noise e and the parameters: x = location + scale e, and x = scale e.
template <Real T>
struct LocationScaleDraw {
    using B = kernels::Batch<T>;
    B location, scale;

    LocationScaleDraw(const B& m, const B& s) : location(m), scale(s) {}
    B value(const B& e) const { return location + scale * e; }
    void slopes(const B& e, const kernels::Wanted&, B* d) const {
        d[0] = scale;
        d[1] = B(T(1));
        d[2] = e;
    }
};
template <Real T>
struct ScaleDraw {
    using B = kernels::Batch<T>;
    B scale;

    explicit ScaleDraw(const B& s) : scale(s) {}
    B value(const B& e) const { return scale * e; }
    void slopes(const B& e, const kernels::Wanted&, B* d) const {
        d[0] = scale;
        d[1] = e;
    }
};

// exact in both tails
inline double normal_cdf(double z) { return 0.5 * math::erfc(-0.70710678118654752440 * z); }

}  // namespace pollen::distributions
