#pragma once

#include <pollen/autograd/kernels/exp.hpp>
#include <pollen/autograd/kernels/log.hpp>

namespace pollen::kernels {

// sigma = log(1 + exp(rho)), its slope sigma' = 1 / (1 + exp(-rho)), log sigma and sigma' / sigma. Where rho is very
// negative sigma = exp(rho) may be too small for a number, but its logarithm is rho and sigma' / sigma is 1.
template <class T>
struct Sigma {
    static constexpr T tiny = sizeof(T) == 4 ? T(-18) : T(-40);

    explicit Sigma(const Batch<T>& r) : rho(r), e(exp<T>(-xsimd::abs(r))) {}
    Batch<T> value() const {
        const Batch<T> zero(T(0));
        return xsimd::select(rho > zero, rho, zero) + log1p<T>(e);
    }
    Batch<T> slope() const {
        const Batch<T> one(T(1));
        return xsimd::select(rho < Batch<T>(T(0)), e, one) / (one + e);
    }
    Batch<T> log_value() const { return xsimd::select(rho < Batch<T>(tiny), rho, log<T>(value())); }
    Batch<T> relative_slope() const { return xsimd::select(rho < Batch<T>(tiny), Batch<T>(T(1)), slope() / value()); }

    Batch<T> rho, e;
};

}  // namespace pollen::kernels
