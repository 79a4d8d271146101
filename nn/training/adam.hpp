#pragma once

#include <pollen/nn/training/optimiser.hpp>

namespace pollen {

// m = beta1 m + (1 - beta1) g        v = beta2 v + (1 - beta2) g^2        (Kingma & Ba 2015, Algorithm 1)
// theta -= rate m^ / (sqrt(v^) + epsilon),  m^ = m / (1 - beta1^t),  v^ = v / (1 - beta2^t),  t = 1, 2, ...
struct Adam {
    Schedule rate = 0.001;
    double beta1 = 0.9;
    double beta2 = 0.999;
    double epsilon = 1e-8;

    static constexpr int memories = 2;
    void check() const;
    template <Real T>
    void update(const UpdateStep& now, const Stretch<T>& at) const;
    std::string describe() const;
};

// Adam, and theta -= rate weight_decay theta besides (Loshchilov & Hutter 2019). This shrinkage is not the gradient of
// any prior; for a prior give the training run one.
struct AdamW {
    Schedule rate = 0.001;
    double beta1 = 0.9;
    double beta2 = 0.999;
    double epsilon = 1e-8;
    double weight_decay = 0.01;

    static constexpr int memories = 2;
    void check() const;
    template <Real T>
    void update(const UpdateStep& now, const Stretch<T>& at) const;
    std::string describe() const;
};

}  // namespace pollen
