#pragma once

#include <pollen/autograd/support/checks.hpp>
#include <pollen/nn/module/module.hpp>

namespace pollen {

struct Pool1dOptions {
    std::int64_t stride = 0;  // 0: the same as the size
    std::int64_t padding = 0;
};

namespace detail {

// A pooling of sequences (n, channels, length) is one of images of height 1.
class Pool1d {
  public:
    Pool1d(const char* name, std::int64_t size, const Pool1dOptions& o)
        : name_(name), options_{{1, size}, {1, o.stride == 0 ? size : o.stride}, {0, o.padding}} {
        check_sizes(name, {{"size", size}, {"stride", options_.stride[1]}});
        if (o.padding < 0 || o.padding > size / 2)
            throw ValueError(std::string(name) + ": padding is " + std::to_string(o.padding) +
                             "; it must be from 0 to " + std::to_string(size / 2) + ", half of the size");
    }
    template <Real T, class Pool>
    Var<T> operator()(Var<T> x, const Pool& pool) const {
        const Shape& from = x.shape();
        const std::int64_t size = options_.size[1], padding = options_.padding[1];
        if (from.rank() != 3)
            throw ShapeError(std::string(name_) + ": x " + to_string(from) +
                             "; sequences (n, channels, length) are needed");
        if (size > from[2] + 2 * padding)
            throw ShapeError(std::string(name_) + ": size " + std::to_string(size) + " is larger than x " +
                             to_string(from) + " with padding " + std::to_string(padding));
        const Var<T> y = pool(reshape(x, {from[0], from[1], 1, from[2]}), options_);
        return reshape(y, {from[0], from[1], y.shape()[3]});
    }
    std::string describe() const {  // "MaxPool1d(2), stride 1"
        const std::int64_t size = options_.size[1], stride = options_.stride[1], padding = options_.padding[1];
        return call(name_, size) + (stride != size ? ", stride " + to_text(stride) : "") +
               (padding != 0 ? ", padding " + to_text(padding) : "");
    }

  private:
    const char* name_;
    Pool2dOptions options_;
};

}  // namespace detail

// The largest number of each window of a sequence (n, channels, length), channel by channel.
template <Real T = float>
class MaxPool1d final : public Layer<MaxPool1d<T>, T> {
  public:
    explicit MaxPool1d(std::int64_t size, Pool1dOptions options = {}) : pool_("MaxPool1d", size, options) {}
    Var<T> forward(Pass<T>&, Var<T> x) const override {
        return pool_(x, [](Var<T> images, const Pool2dOptions& o) { return max_pool2d(images, o); });
    }
    std::string describe() const override { return pool_.describe(); }

  private:
    detail::Pool1d pool_;
};

// The mean of each window; padding counts as zeros.
template <Real T = float>
class AvgPool1d final : public Layer<AvgPool1d<T>, T> {
  public:
    explicit AvgPool1d(std::int64_t size, Pool1dOptions options = {}) : pool_("AvgPool1d", size, options) {}
    Var<T> forward(Pass<T>&, Var<T> x) const override {
        return pool_(x, [](Var<T> images, const Pool2dOptions& o) { return avg_pool2d(images, o); });
    }
    std::string describe() const override { return pool_.describe(); }

  private:
    detail::Pool1d pool_;
};

}  // namespace pollen
