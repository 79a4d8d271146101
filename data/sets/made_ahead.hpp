#pragma once

#include <pollen/autograd/parallel.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>

namespace pollen {

// What steps 0, 1, 2, ... of a run need. While that of one step is used, that of the next one is made in the
// background.
template <class Made>
class MadeAhead {
  public:
    // make(step) is called by one thread at a time, and depends on the step alone.
    explicit MadeAhead(std::function<Made(std::int64_t)> make) : make_(std::move(make)) {}

    // Throws what make() threw.
    Made at(std::int64_t step) {
        const std::optional<std::int64_t> made = std::exchange(next_step_, {});
        background_.wait();
        Made now = made == step ? std::move(next_) : make_(step);
        background_.start([this, next = step + 1] { next_ = make_(next); });
        next_step_ = step + 1;  // not if nothing was started
        return now;
    }

  private:
    std::function<Made(std::int64_t)> make_;
    std::optional<std::int64_t> next_step_;
    Made next_;
    Background background_;  // the last member: its work is over before the others go
};

}  // namespace pollen
