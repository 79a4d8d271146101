#pragma once

#include <pollen/autograd/random.hpp>
#include <pollen/autograd/tensor.hpp>
#include <pollen/nn/priors/fans.hpp>

#include <cstdint>
#include <span>
#include <string>

namespace pollen {

// The law of a parameter's first value. `gain` multiplies the standard deviation.
//
//     he       N(0, 2 / fan_in)                      for ReLU             He et al. 2015, Eq. 10
//     glorot   U(-a, a), a^2 = 6 / (in + out)        for tanh             Glorot & Bengio 2010, Eq. 16
//     lecun    N(0, 1 / fan_in)                      keeps the variance of a linear map
class Init {
  public:
    static Init he(double gain = 1) { return {Law::he, 0, gain}; }
    static Init glorot(double gain = 1) { return {Law::glorot, 0, gain}; }
    static Init lecun(double gain = 1) { return {Law::lecun, 0, gain}; }
    static Init normal(double mean, double sd) { return {Law::normal, mean, sd}; }
    static Init uniform(double low, double high) { return {Law::uniform, low, high}; }
    static Init constant(double value) { return {Law::constant, value, 0}; }

    // The same key gives the same numbers, on any number of threads.
    template <Real T>
    void fill(std::span<T> values, Fans fans, const RandomKey& key) const;

    std::string describe() const;  // "he(1)"

  private:
    enum class Law { he, glorot, lecun, normal, uniform, constant };
    Init(Law law, double a, double b) : law_(law), a_(a), b_(b) {}

    Law law_;
    double a_, b_;
};

}  // namespace pollen
