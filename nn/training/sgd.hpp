#pragma once

#include <pollen/nn/training/optimiser.hpp>

namespace pollen {

// theta -= rate g
struct Sgd {
    Schedule rate = 0.1;

    static constexpr int memories = 0;
    template <Real T>
    void update(const UpdateStep& now, const Stretch<T>& at) const;
    std::string describe() const;
};

}  // namespace pollen
