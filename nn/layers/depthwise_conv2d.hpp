#pragma once

#include <pollen/autograd/support/checks.hpp>
#include <pollen/nn/layers/conv2d.hpp>

namespace pollen {

struct DepthwiseOptions {
    std::int64_t multiplier = 1;  // outputs for each input
    Size2d stride = 1;
    Size2d padding = 0;
    Size2d dilation = 1;
    bool bias = true;
    Init init = Init::he();
};

// A Conv2d with a group for each channel: every channel has its own kernels and sees no other channel. Output
// k multiplier + j is kernel j of channel k. A copy of it, and what summary() shows, is that Conv2d.
template <Real T = float>
class DepthwiseConv2d : public Conv2d<T> {
  public:
    DepthwiseConv2d(std::int64_t channels, Size2d kernel, DepthwiseOptions options = {})
        : Conv2d<T>(channels, outputs(channels, options), kernel,
                    {.stride = options.stride,
                     .padding = options.padding,
                     .dilation = options.dilation,
                     .groups = channels,
                     .bias = options.bias,
                     .init = options.init}) {}

  private:
    static std::int64_t outputs(std::int64_t channels, const DepthwiseOptions& options) {
        check_sizes("DepthwiseConv2d", {{"channels", channels}, {"multiplier", options.multiplier}});
        return channels * options.multiplier;
    }
};

}  // namespace pollen
