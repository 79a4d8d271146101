#pragma once

#include <pollen/autograd/math.hpp>
#include <pollen/nn/distributions/kernels/law_loops.hpp>

// A prior is a distribution about 0 with a scale s. Its law (law_loops.hpp) is the distribution's at location 0 and
// scale 1, which the compiler knows: nothing is subtracted or divided. With z = w / s,
//
//     log p(w) = law(z) - log s        d log p / dw = law'(z) / s
//
// Standard<T> holds that law as `law`; it is made of the further parameters, p. The terms of log p that all weights
// share are added in double.
namespace pollen {

// The scale of a law that has none: nothing is multiplied by it.
struct UnitScale {
    constexpr operator double() const { return 1; }
};

inline constexpr kernels::Wanted by_x_alone{true};

// d log p / dw, times -1 or 1.
template <class T, class Law>
[[gnu::always_inline]] inline kernels::Batch<T> slope_of(const Law& law, const kernels::Batch<T>& z, T factor) {
    kernels::Batch<T> d[4];
    law.slopes(z, by_x_alone, d);
    return d[0] * kernels::Batch<T>(factor);
}

// n times the constant of log p.
template <template <class> class Standard, class... P>
[[gnu::noinline]] double constants(std::int64_t n, double scale, const P&... p) {
    return static_cast<double>(n) * (Standard<double>(p...).law.constant().get(0) - math::log(scale));
}

template <template <class> class Standard, class T, class Scale, class... P>
POLLEN_FLATTEN double law_log_prob(const T* w, std::int64_t n, Scale scale, const P&... p) {
    using B = kernels::Batch<T>;
    if (n == 0) return 0;
    const Standard<T> standard(p...);
    const B inverse(static_cast<T>(1 / scale));
    const auto rest = [&](const B& x) { return standard.law.rest(x * inverse); };
    const T sum = kernels::reduce_serial<kernels::Sum, T>(n, rest, kernels::Stream<T>{w});
    return static_cast<double>(sum) + constants<Standard>(n, scale, p...);
}

template <template <class> class Standard, class T, class Scale, class... P>
POLLEN_FLATTEN void law_slopes(const T* w, std::int64_t n, T* out, Scale scale, const P&... p) {
    using B = kernels::Batch<T>;
    const Standard<T> standard(p...);
    const T inverse = static_cast<T>(1 / scale);
    const auto slope = [&](const B& x) { return slope_of<T>(standard.law, B(x * B(inverse)), inverse); };
    kernels::map_serial(n, out, slope, kernels::Stream<T>{w});
}

// A stretch of weights, read, and the room for as many slopes.
template <class T>
struct Stretch {
    struct At {
        kernels::Batch<T> w;
        T* out;
        std::int64_t count;
    };
    const T* w;
    T* out;
    At load(std::int64_t i) const {
        return {kernels::Batch<T>::load_unaligned(w + i), out + i, kernels::Batch<T>::size};
    }
    At load_part(std::int64_t i, std::int64_t n) const { return {kernels::load_first_repeated(w + i, n), out + i, n}; }
};

template <template <class> class Standard, class T, class Scale, class... P>
POLLEN_FLATTEN double law_descent(const T* w, std::int64_t n, T* out, Scale scale, const P&... p) {
    using B = kernels::Batch<T>;
    if (n == 0) return 0;
    const Standard<T> standard(p...);
    const T inverse = static_cast<T>(1 / scale);
    const auto rest = [&](const typename Stretch<T>::At& at) {
        const B z = at.w * B(inverse), slope = slope_of<T>(standard.law, z, -inverse);
        if (at.count == static_cast<std::int64_t>(B::size))
            slope.store_unaligned(at.out);
        else
            kernels::store_first(at.out, slope, at.count);
        return standard.law.rest(z);
    };
    const T sum = kernels::reduce_serial<kernels::Sum, T>(n, rest, Stretch<T>{w, out});
    return static_cast<double>(sum) + constants<Standard>(n, scale, p...);
}

}  // namespace pollen

// The members of a prior: its name, Standard, the scale and p.
#define POLLEN_LAW_PRIOR(Name, Standard, ...)                                \
    template <Real T>                                                        \
    double Name::log_prob(const T* w, std::int64_t n) const {                \
        return law_log_prob<Standard>(w, n, __VA_ARGS__);                    \
    }                                                                        \
    template <Real T>                                                        \
    void Name::slopes(const T* w, std::int64_t n, T* out) const {            \
        law_slopes<Standard>(w, n, out, __VA_ARGS__);                        \
    }                                                                        \
    template <Real T>                                                        \
    double Name::descent(const T* w, std::int64_t n, T* out) const {         \
        return law_descent<Standard>(w, n, out, __VA_ARGS__);                \
    }                                                                        \
    template double Name::log_prob(const float*, std::int64_t) const;        \
    template double Name::log_prob(const double*, std::int64_t) const;       \
    template void Name::slopes(const float*, std::int64_t, float*) const;    \
    template void Name::slopes(const double*, std::int64_t, double*) const;  \
    template double Name::descent(const float*, std::int64_t, float*) const; \
    template double Name::descent(const double*, std::int64_t, double*) const;
