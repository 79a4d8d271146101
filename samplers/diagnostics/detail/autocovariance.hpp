#pragma once

#include <pollen/samplers/diagnostics/detail/draws_math.hpp>

#include <cstddef>
#include <span>
#include <vector>

namespace pollen::detail {

// The discrete Fourier transform of 2^k complex numbers, real and imaginary parts apart.
//
// Forward goes from natural to bit-reversed order (decimation in frequency) and backward from there to natural order
// (decimation in time), so that nothing ever has to be put in order. Neither divides by the size.
class Fft {
  public:
    explicit Fft(std::size_t size);
    std::size_t size() const { return cosines_.size(); }
    void forward(double* re, double* im) const;
    void backward(double* re, double* im) const;

  private:
    template <class Butterfly>
    void stage(std::size_t half, double* re, double* im, const Butterfly& butterfly) const;

    // exp(-i pi j / half) at half + j, for half = 1, 2, 4, ... and j < half.
    std::vector<double> cosines_, sines_;
};

// The mean of the chains' autocovariances, of all chains of one length in turn.
//
// The autocovariance is the inverse transform of |X|^2. That is linear, so the spectra of all chains are added up and
// one inverse transform is enough; and two chains go through one transform as its real and imaginary parts, since the
// real part of the autocovariance of x + i y is the sum of theirs.
class MeanAutocovariance {
  public:
    explicit MeanAutocovariance(std::size_t draws);
    std::size_t draws() const { return draws_; }
    // 1/n sum_t (x_t - mean) (x_{t+k} - mean) for every k, valid until the next call.
    std::span<const double> operator()(const ChainBlock& x);

  private:
    std::size_t draws_;
    Fft fft_;
    std::vector<double> re_, im_, power_;
};

}  // namespace pollen::detail
