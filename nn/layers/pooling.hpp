#pragma once

#include <pollen/autograd/support/checks.hpp>
#include <pollen/nn/layers/conv2d.hpp>

namespace pollen {

struct PoolOptions {
    Size2d stride = 0;  // 0: the same as the size
    Size2d padding = 0;
};

// "MaxPool2d(2), stride 1"
inline std::string describe_pool(const char* name, const Pool2dOptions& o) {
    std::string text = call(name, o.size);
    if (o.stride != Pair{0, 0} && o.stride != o.size) text += ", stride " + to_text(o.stride);
    if (o.padding != Pair{0, 0}) text += ", padding " + to_text(o.padding);
    return text;
}

// The largest number of each window, channel by channel.
template <Real T = float>
class MaxPool2d final : public Layer<MaxPool2d<T>, T> {
  public:
    explicit MaxPool2d(Size2d size, PoolOptions options = {}) : options_{size, options.stride, options.padding} {}
    Var<T> forward(Pass<T>&, Var<T> x) const override { return max_pool2d(x, options_); }
    Follower follower() const override {
        constexpr Pair none = {0, 0}, two = {2, 2};
        const bool by_two = options_.size == two && (options_.stride == none || options_.stride == two);
        return by_two && options_.padding == none ? Follower::max_pool_by_two : Follower::other;
    }
    std::string describe() const override { return describe_pool("MaxPool2d", options_); }

  private:
    Pool2dOptions options_;
};

// The mean of each window; padding counts as zeros.
template <Real T = float>
class AvgPool2d final : public Layer<AvgPool2d<T>, T> {
  public:
    explicit AvgPool2d(Size2d size, PoolOptions options = {}) : options_{size, options.stride, options.padding} {}
    Var<T> forward(Pass<T>&, Var<T> x) const override { return avg_pool2d(x, options_); }
    std::string describe() const override { return describe_pool("AvgPool2d", options_); }

  private:
    Pool2dOptions options_;
};

// (n, a, b, ...) becomes (n, a b ...)
template <Real T = float>
class Flatten final : public Layer<Flatten<T>, T> {
  public:
    Var<T> forward(Pass<T>&, Var<T> x) const override {
        if (x.rank() == 0) throw ShapeError("Flatten: x is a scalar; its first axis counts the inputs");
        const std::int64_t n = x.shape()[0];
        std::int64_t width = 1;
        for (const std::int64_t size : x.shape().sizes().subspan(1)) width *= size;
        return reshape(x, Shape{n, width});
    }
    std::string describe() const override { return "Flatten"; }
};

}  // namespace pollen
