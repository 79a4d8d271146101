#pragma once

#include <pollen/autograd/kernels/exp.hpp>
#include <pollen/autograd/kernels/log.hpp>

namespace pollen::kernels {

// The best polynomials for 0 <= e <= 1, first coefficient 1 left out:
//     ratio      log(1 + e) / e                   = 1 + e (ratio[0] + ratio[1] e + ...)
//     relative   e / ((1 + e) log(1 + e))         = 1 + e (relative[0] + relative[1] e + ...)
template <class T>
struct SigmaConstants;

template <>
struct SigmaConstants<float> {
    static constexpr float ratio[] = {-0x1.ffffbep-2f, 0x1.554c80p-2f,  -0x1.ff0f88p-3f,
                                      0x1.92f696p-3f,  -0x1.397562p-3f, 0x1.b25360p-4f,
                                      -0x1.d29ccap-5f, 0x1.453f0ep-6f,  -0x1.a93368p-9f};
    static constexpr float relative[] = {-0x1.ffff60p-2f, 0x1.aa94f4p-2f,  -0x1.7ed608p-2f,
                                         0x1.5cac02p-2f,  -0x1.2e7476p-2f, 0x1.c3f43ep-3f,
                                         -0x1.fdda6cp-4f, 0x1.6e9008p-5f,  -0x1.e8ec9ep-8f};
};

template <>
struct SigmaConstants<double> {
    static constexpr double ratio[] = {
        -0x1.fffffffffff6dp-2, 0x1.555555554ff54p-2,  -0x1.fffffffd7f47ap-3,  0x1.9999994a5573dp-3,
        -0x1.55554f4e4fe2dp-3, 0x1.2491fa72f9834p-3,  -0x1.fffa4c2e84017p-4,  0x1.c6f552a29f399p-4,
        -0x1.98cd254d973c1p-4, 0x1.711cd34d62611p-4,  -0x1.4ad813f59a882p-4,  0x1.1fdd2021328fep-4,
        -0x1.d61dfa937281cp-5, 0x1.596bac13d1b17p-5,  -0x1.b42e7b58ec149p-6,  0x1.c2bf01b9ce6acp-7,
        -0x1.6891b697941a8p-8, 0x1.9e9c3554d2366p-10, -0x1.2ed06e73fda7fp-12, 0x1.a4186ca962118p-16};
    static constexpr double relative[] = {
        -0x1.ffffffffffdaep-2, 0x1.aaaaaaaa94eefp-2, -0x1.7ffffffaed505p-2,  0x1.64fa4f03e06f2p-2,
        -0x1.51c71028e6ed8p-2, 0x1.4329e72061b84p-2, -0x1.3780ca39c322fp-2,  0x1.2dc99f0507635p-2,
        -0x1.2509ab2e85d93p-2, 0x1.1b8a3553e7b6dp-2, -0x1.0de6803a17ee5p-2,  0x1.edc6a4f4672bcp-3,
        -0x1.a374143787126p-3, 0x1.3d8a841213a6dp-3, -0x1.99e566611a1fcp-4,  0x1.ae7484d0ce6bbp-5,
        -0x1.5c7308a40c5d1p-6, 0x1.94427308ac633p-8, -0x1.2947981afef68p-10, 0x1.9ea30cb203c27p-14};
};

// sigma = log(1 + exp(rho)), log sigma, and the slope sigma' = 1 / (1 + exp(-rho)) with sigma' / sigma.
//
// With e = exp(-|rho|) and V = log(1 + e) / e, which lies between log 2 and 1,
//
//     rho < 0     sigma = e V          sigma' / sigma = 1 / ((1 + e) V)
//     rho >= 0    sigma = rho + e V    sigma' / sigma = 1 / ((1 + e) sigma)
//
// so that sigma' / sigma and log sigma = rho + log V are right where sigma itself is too small for a number. Weights
// have small sigma: the case rho < 0 does without a division.
template <class T>
struct Sigma {
    explicit Sigma(const Batch<T>& r) : rho(r), e(exp<T>(-xsimd::abs(r))) {
        v = multiply_add(e, long_polynomial(e, SigmaConstants<T>::ratio), Batch<T>(T(1)));
        value = multiply_add(e, v, xsimd::max(Batch<T>(T(0)), rho));
    }
    Batch<T> log_value() const {
        const auto negative = rho < Batch<T>(T(0));
        return xsimd::select(negative, rho, Batch<T>(T(0))) + log<T>(xsimd::select(negative, v, value));
    }
    Batch<T> relative_slope() const {
        const Batch<T> one(T(1)), r = multiply_add(e, long_polynomial(e, SigmaConstants<T>::relative), one);
        const auto negative = rho < Batch<T>(T(0));
        return xsimd::all(negative) ? r : xsimd::select(negative, r, one / ((one + e) * value));
    }

    Batch<T> rho, e, v, value;
};

}  // namespace pollen::kernels
