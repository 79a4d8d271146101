#pragma once

#include <pollen/autograd/kernels/log.hpp>

namespace pollen::kernels {

// log x_1 + log x_2 + ... = log(x_1 x_2 ...): one logarithm for many numbers, lane by lane.
//
// Before the product of a lane leaves the range where it has all its digits, its logarithm is taken and it begins anew;
// so zeros, infinities and numbers that are not normal come to a logarithm of their own. A product of n numbers is off
// by n / 2 units of its last place at most, and that is the error of the sum: no more than that of n logarithms of
// about 1.
template <class T>
class LogProduct {
  public:
    void multiply(const Batch<T>& x) {
        const Batch<T> next = product_ * x;
        const auto in_range = next > Batch<T>(lowest) && next < Batch<T>(1 / lowest);
        if (xsimd::all(in_range)) [[likely]] {
            product_ = next;
        } else {
            sum_ = xsimd::select(in_range, sum_, sum_ + kernels::log(product_));
            product_ = xsimd::select(in_range, next, x);
        }
    }
    Batch<T> log() const { return sum_ + kernels::log(product_); }

  private:
    static constexpr T lowest = sizeof(T) == 4 ? T(0x1p-100) : T(0x1p-1000);

    Batch<T> product_ = Batch<T>(T(1)), sum_ = Batch<T>(T(0));
};

}  // namespace pollen::kernels
