#pragma once

#include <pollen/nn/module/module.hpp>

namespace pollen {

// What a global pooling makes one number of: all positions of each channel, (n, channels, ...) becomes (n, channels);
// or all steps of each feature, (n, steps, features) becomes (n, features).
enum class PoolOver { positions, steps };

// The mean of all positions, or of all steps.
template <Real T = float>
class GlobalAvgPool final : public Layer<GlobalAvgPool<T>, T> {
  public:
    explicit GlobalAvgPool(PoolOver over = PoolOver::positions) : over_(over) {}
    Var<T> forward(Pass<T>& pass, Var<T> x) const override;
    std::string describe() const override;

  private:
    PoolOver over_;
};

// The largest number of all positions, or of all steps; equal ones share the gradient.
template <Real T = float>
class GlobalMaxPool final : public Layer<GlobalMaxPool<T>, T> {
  public:
    explicit GlobalMaxPool(PoolOver over = PoolOver::positions) : over_(over) {}
    Var<T> forward(Pass<T>& pass, Var<T> x) const override;
    std::string describe() const override;

  private:
    PoolOver over_;
};

}  // namespace pollen
