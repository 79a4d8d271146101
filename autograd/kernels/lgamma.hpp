#pragma once

#include <pollen/autograd/kernels/constants.hpp>
#include <pollen/autograd/kernels/log.hpp>
#include <pollen/autograd/kernels/trigonometry.hpp>

// log |Gamma(x)| and its first two derivatives, digamma and trigamma.
//
//     middle     a quotient of two polynomials; all their coefficients are positive, so nothing cancels
//     large x    Stirling's series
//     x < 0      the reflection formulas, at the price of two more functions; only where a lane needs them
//
// The zeros at 1 and 2 of the first and at 1.4616... of the second stand in front as factors, so the relative error
// stays small about them. About the zeros at negative x it does not: there the error is small beside the terms that
// cancel.
namespace pollen::kernels {

template <class T>
struct GammaConstants;

template <>
struct GammaConstants<float> {
    // lgamma(x) / ((x - 1) (x - 2)) in x - 1/2, and x (lgamma(x) - (x - 1/2) log(x) + x - log(2 pi) / 2) in 1 / x^2
    static constexpr float lgamma_large = 6.5f;
    static constexpr float lgamma_p[] = {0x1.86bc06p-1f, 0x1.1c922ap+1f, 0x1.e95aa2p+0f,
                                         0x1.0a5b70p-1f, 0x1.17f564p-5f, 0x1.05c556p-13f};
    static constexpr float lgamma_q[] = {0x1.000000p+0f, 0x1.d6a962p+1f, 0x1.17de0ap+2f,
                                         0x1.efcb60p+0f, 0x1.27e380p-2f, 0x1.49152ap-7f};
    static constexpr float lgamma_series[] = {0x1.55551cp-4f, -0x1.688990p-9f};

    // x digamma(x) / (x - root) in x, and x^2 (log(x) - 1 / (2 x) - digamma(x)) in 1 / x^2
    static constexpr float digamma_large = 6.0f;
    static constexpr float root = 0x1.762d86p+0f, root_low = 0x1.ab5f20p-27f;
    static constexpr float digamma_p[] = {0x1.5e4b18p-1f, 0x1.0c63aap+1f, 0x1.b1b12ep+0f,
                                          0x1.e28c18p-2f, 0x1.573fa2p-5f, 0x1.914d4ep-11f};
    static constexpr float digamma_q[] = {0x1.000000p+0f, 0x1.cda8b6p+0f, 0x1.f77de4p-1f,
                                          0x1.87f794p-3f, 0x1.7f7d22p-7f, 0x1.15d8d6p-13f};
    static constexpr float digamma_series[] = {0x1.555552p-4f, -0x1.10f5a4p-7f, 0x1.ecdf60p-9f};

    // x^2 trigamma(x) in x, and x^3 (trigamma(x) - 1 / x - 1 / (2 x^2)) in 1 / x^2
    static constexpr float trigamma_p[] = {0x1.000000p+0f, 0x1.ba0dd4p+1f, 0x1.8a361ap+2f,
                                           0x1.7d937ap+2f, 0x1.800ddep+1f, 0x1.429d72p-1f};
    static constexpr float trigamma_q[] = {0x1.000000p+0f, 0x1.ba0dd4p+1f, 0x1.20ef8cp+2f, 0x1.57b992p+1f,
                                           0x1.429d8ep-1f};
    static constexpr float trigamma_series[] = {0x1.555546p-3f, -0x1.10db64p-5f, 0x1.6b45e6p-6f};
};

template <>
struct GammaConstants<double> {
    static constexpr double lgamma_large = 8.5;
    static constexpr double lgamma_p[] = {0x1.86bc06134d7a7p-1,  0x1.4e3bb61bf9bebp+2,  0x1.cfa48c74c62a6p+3,
                                          0x1.514ecb035e9aap+4,  0x1.170703ab2dbf1p+4,  0x1.0b5d37203b727p+3,
                                          0x1.23af7ac0f26d6p+1,  0x1.5934e3d31173fp-2,  0x1.95e537d33db50p-6,
                                          0x1.947cb9a09f89fp-11, 0x1.e3ed1fc7fa1b4p-18, 0x1.06d2944c420e1p-28};
    static constexpr double lgamma_q[] = {0x1.0000000000000p+0, 0x1.e6d9a3aa8ebdap+2,  0x1.7db04f79e0ecdp+4,
                                          0x1.408530ae19fc1p+5, 0x1.3a554d6c45005p+5,  0x1.71bf63b475c2ap+4,
                                          0x1.036662ca05b09p+3, 0x1.a5191a4b84a6ap+0,  0x1.7542c9deee8d6p-3,
                                          0x1.47a2603b3fde4p-7, 0x1.dd5df22e8c675p-13, 0x1.82d12032474c8p-20};
    static constexpr double lgamma_series[] = {0x1.5555555554d3ap-4, -0x1.6c16c13202434p-9, 0x1.a018e7b768336p-11,
                                               -0x1.377a18cd0482dp-11, 0x1.925cff870cab6p-11};

    static constexpr double digamma_large = 9.0;
    static constexpr double root = 0x1.762d86356be3fp+0, root_low = 0x1.b86a722197829p-54;
    static constexpr double digamma_p[] = {0x1.5e4b1810ad60ep-1, 0x1.3e63d965a2a29p+1,  0x1.79399de3c38eep+1,
                                           0x1.9ccd9039aa060p+0, 0x1.d4e8f47278318p-2,  0x1.1c95a586cb6b2p-4,
                                           0x1.669b8a23d398bp-8, 0x1.ac033da076e2bp-13, 0x1.8c8ae6733f080p-19,
                                           0x1.5b0a0a7175c80p-27};
    static constexpr double digamma_q[] = {0x1.0000000000000p+0,  0x1.2fe9841c7ced1p+1,  0x1.0c1a5a40cfe60p+1,
                                           0x1.cf072414cb74dp-1,  0x1.aaecd0dafb19fp-3,  0x1.a9a1cfbed1552p-6,
                                           0x1.b8776fd90778ap-10, 0x1.aa489ecaf167dp-15, 0x1.357039bd12433p-21,
                                           0x1.7e70c9aaf3b64p-30};
    static constexpr double digamma_series[] = {0x1.55555555554cap-4,  -0x1.1111110f60db2p-7, 0x1.04103a06062dcp-8,
                                                -0x1.110a6225fe716p-8, 0x1.ed3a441608b1fp-8,  -0x1.267e707143fd2p-6};

    static constexpr double trigamma_p[] = {
        0x1.0000000000000p+0, 0x1.24afae0b17657p+2, 0x1.52a565cfa8315p+3, 0x1.dd4fd533846e9p+3, 0x1.b2b3711a684a4p+3,
        0x1.05f394d518c25p+3, 0x1.a168cc6c8e590p+1, 0x1.a9e778590369bp-1, 0x1.fcc8034fa34e1p-4, 0x1.11c32efdc10c4p-7};
    static constexpr double trigamma_q[] = {0x1.0000000000000p+0, 0x1.24afae0b17656p+2, 0x1.1e02190b02238p+3,
                                            0x1.3984c95b0cf4dp+3, 0x1.a85150978eafep+2, 0x1.6d8a758157b81p+1,
                                            0x1.8a763934969a2p-1, 0x1.ebabd05f8b713p-4, 0x1.11c32efdc86f0p-7};
    static constexpr double trigamma_series[] = {0x1.55555555551a5p-3,  -0x1.1111110b5638ep-5, 0x1.861849c1ee778p-6,
                                                 -0x1.1105af7ade055p-5, 0x1.3385426b6b31fp-4,  -0x1.ae88df29180e9p-3};
};

// log |Gamma(x)|; infinite at 0, -1, -2, ...
//     lgamma(x) = lgamma(1 + x) - log|x| for |x| < 1/2
//     lgamma(x) = log(pi / |x sin(pi x)|) - lgamma(-x)
template <class T>
inline Batch<T> lgamma(const Batch<T>& x) {
    using Constants = GammaConstants<T>;
    const Batch<T> zero(T(0)), half(T(0.5)), one(T(1)), two(T(2)), a = xsimd::abs(x), log_a = kernels::log(a);
    const auto small = a < half, large = a >= Batch<T>(Constants::lgamma_large);
    const Batch<T> d = xsimd::select(small, x + half, a - half);
    const Batch<T> zeros =
        xsimd::select(small, x * (x - one), multiply_add(Batch<T>(a - one), Batch<T>(a - two), zero));
    const Batch<T> p = zeros * long_polynomial(d, Constants::lgamma_p), q = long_polynomial(d, Constants::lgamma_q);
    const Batch<T> ratio = xsimd::select(large, one, p) / xsimd::select(large, a, q);
    const Batch<T> series = ratio * polynomial(Batch<T>(ratio * ratio), Constants::lgamma_series);
    const Batch<T> constant(T(0.41893853320467274178));  // log(2 pi) / 2 - 1/2
    const Batch<T> stirling = multiply_add(Batch<T>(a - half), Batch<T>(log_a - one), constant) + series;
    const Batch<T> y = xsimd::select(large, stirling, xsimd::select(small, ratio - log_a, ratio));

    const auto reflected = x <= -half;
    if (!xsimd::any(reflected)) return y;
    const Batch<T> sine = xsimd::abs(sin_pi<T>(a - xsimd::nearbyint(a)));
    const Batch<T> other = Batch<T>(T(log_pi)) - kernels::log<T>(a * sine) - y;
    return xsimd::select(reflected, xsimd::select(a == xsimd::floor(a), Batch<T>(infinity<T>), other), y);
}

// The derivative of lgamma; infinite at 0, NaN at -1, -2, ...
//     digamma(x) = digamma(1 - x) - pi cot(pi x)
template <class T>
inline Batch<T> digamma(const Batch<T>& x) {
    using Constants = GammaConstants<T>;
    const Batch<T> half(T(0.5)), one(T(1)), zero(T(0));
    const auto reflected = x < zero;
    const Batch<T> a = xsimd::select(reflected, one - x, x);
    const auto large = a >= Batch<T>(Constants::digamma_large);
    const Batch<T> factor = (a - Batch<T>(Constants::root)) - Batch<T>(Constants::root_low);
    const Batch<T> p = factor * long_polynomial(a, Constants::digamma_p);
    const Batch<T> q = a * long_polynomial(a, Constants::digamma_q);
    const Batch<T> ratio = xsimd::select(large, one, p) / xsimd::select(large, a, q), z = ratio * ratio;
    const Batch<T> series = multiply_add(z, polynomial(z, Constants::digamma_series), Batch<T>(half * ratio));
    const Batch<T> y = xsimd::select(large, kernels::log(a) - series, ratio);

    if (!xsimd::any(reflected)) return y;
    const Batch<T> r = x - xsimd::nearbyint(x), pi(T(3.14159265358979323846));
    const Batch<T> cotangent = sin_pi<T>(half - xsimd::abs(r)) / sin_pi(r);
    const Batch<T> other = xsimd::select(r == zero, Batch<T>(nan<T>), y - pi * cotangent);
    return xsimd::select(reflected, other, y);
}

// The derivative of digamma; infinite at 0, -1, -2, ...
//     trigamma(x) = (pi / sin(pi x))^2 - trigamma(1 - x)
template <class T>
inline Batch<T> trigamma(const Batch<T>& x) {
    using Constants = GammaConstants<T>;
    const Batch<T> half(T(0.5)), one(T(1)), zero(T(0));
    const auto reflected = x < zero;
    const Batch<T> a = xsimd::select(reflected, one - x, x);
    const auto large = a >= Batch<T>(Constants::digamma_large);
    const Batch<T> p = long_polynomial(a, Constants::trigamma_p), q = a * long_polynomial(a, Constants::trigamma_q);
    const Batch<T> ratio = xsimd::select(large, one, p) / xsimd::select(large, a, q), z = ratio * ratio;
    const Batch<T> tail = multiply_add(Batch<T>(ratio * z), polynomial(z, Constants::trigamma_series), half * z);
    const Batch<T> y = xsimd::select(large, ratio + tail, ratio / a);

    if (!xsimd::any(reflected)) return y;
    const Batch<T> pi(T(3.14159265358979323846)), ratio_pi = pi / sin_pi<T>(x - xsimd::nearbyint(x));
    return xsimd::select(reflected, ratio_pi * ratio_pi - y, y);
}

}  // namespace pollen::kernels
