#pragma once

#include <pollen/nn/module/module.hpp>

namespace pollen {

// y = (x - mean) / sqrt(variance + epsilon) scale + shift, mean and variance over the last axis (Ba et al. 2016).
template <Real T = float>
class LayerNorm final : public Layer<LayerNorm<T>, T> {
  public:
    explicit LayerNorm(std::int64_t size, double epsilon = 1e-5);

    Var<T> forward(Pass<T>& pass, Var<T> x) const override;
    static void members(auto& self, auto& visitor) {
        visitor.parameter("scale", self.scale);
        visitor.parameter("shift", self.shift);
    }
    std::string describe() const override;
    std::string details() const override;

    Parameter<T> scale, shift;

  private:
    double epsilon_;
};

// y = max(x / sqrt(mean x^2 + epsilon) scale + shift, threshold), the mean over each channel of each image, one scale,
// shift and threshold a channel (Singh & Krishnan 2020). No batch statistics: each image is by itself, which a
// posterior over weights needs. In a Sequential, a Swish behind it is computed in the same op.
template <Real T = float>
class FilterResponseNorm final : public Layer<FilterResponseNorm<T>, T> {
  public:
    explicit FilterResponseNorm(std::int64_t channels, double epsilon = 1e-6);

    Var<T> forward(Pass<T>& pass, Var<T> x) const override;
    Fused<T> forward_fused(Pass<T>& pass, Var<T> x, std::span<const Part<T>> next) const override;
    static void members(auto& self, auto& visitor) {
        visitor.parameter("scale", self.scale);
        visitor.parameter("shift", self.shift);
        visitor.parameter("threshold", self.threshold);
    }
    std::string describe() const override;
    std::string details() const override;

    Parameter<T> scale, shift, threshold;

  private:
    void check(const Shape& x) const;

    double epsilon_;
};

}  // namespace pollen
