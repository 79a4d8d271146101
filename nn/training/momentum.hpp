#pragma once

#include <pollen/nn/training/optimiser.hpp>

namespace pollen {

// classic    v = momentum v + g                       theta -= rate v                      (Polyak 1964)
// nesterov   v = momentum v + g                       theta -= rate (g + momentum v)       (Sutskever et al. 2013)
// averaged   p = (1 - b) p - b g, b = 1 - momentum    theta += rate p                      a running mean of g
struct Momentum {
    enum class Form { classic, nesterov, averaged };
    Schedule rate = 0.01;
    double momentum = 0.9;
    Form form = Form::classic;

    static constexpr int memories = 1;
    void check() const;
    template <Real T>
    void update(const UpdateStep& now, const Stretch<T>& at) const;
    std::string describe() const;
};

}  // namespace pollen
