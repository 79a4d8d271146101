#pragma once

#include <pollen/autograd/tensor.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace pollen {

// Where an op adds the gradient of one of its inputs.
template <Real T>
struct GradientSlot {
    T* data = nullptr;   // null: this input needs no gradient
    bool fresh = false;  // true: nothing is there yet, so write every element; false: add to what is there
    explicit operator bool() const { return data != nullptr; }
};

// Takes gradients of variables in pieces, each as soon as it is known and while it is in the nearest cache. Variables
// are known by numbers of the sink's own choice, see Tape::accumulate_into.
template <Real T>
class GradientSink {
  public:
    // dL/dx of the elements of x from `begin` on. Called from several threads at once, for different pieces. The sink
    // may change these elements of x, which the tape does not read again.
    virtual void take(std::size_t variable, std::int64_t begin, std::span<const T> gradient) = 0;

  protected:
    ~GradientSink() = default;
};

// Where the gradient of one variable goes. An empty slot (false) has no sink.
template <Real T>
struct SinkSlot {
    GradientSink<T>* sink = nullptr;
    std::size_t variable = 0;

    explicit operator bool() const { return sink != nullptr; }
    void take(std::int64_t begin, std::span<const T> gradient) const { sink->take(variable, begin, gradient); }
};

}  // namespace pollen
