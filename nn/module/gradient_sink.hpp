#pragma once

#include <pollen/autograd/tensor.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace pollen {

// Takes gradients of parameters a piece at a time, as soon as they are known and while they are in the nearest cache.
// A node that has the whole gradient of a parameter in hand may give it to the sink of its pass, if the sink wants it,
// instead of leaving it with the leaf.
template <Real T>
class GradientSink {
  public:
    virtual bool wants(std::size_t leaf) const = 0;
    // Called from several threads at once, for different pieces.
    virtual void take(std::size_t leaf, std::int64_t begin, std::span<const T> gradient) = 0;

  protected:
    ~GradientSink() = default;
};

}  // namespace pollen
