#pragma once

#include <pollen/autograd/math.hpp>
#include <pollen/nn/potentials/model.hpp>

#include <functional>

constexpr double sigma = 0.25;  // of the errors of y
constexpr double prior_sd = 2;  // s, of all weights
constexpr double probe = 0.2;   // predictions are compared at this x

struct Points {
    pollen::Tensor<double> x = pollen::Tensor<double>::linspace(-2, 2, 21), y = x;
    // A steep step and a gentle slope against it; errors of sigma, up and down in turn.
    Points() {
        for (std::int64_t i = 0; i < x.size(); ++i)
            y.mutable_at(i) =
                1.5 * pollen::math::tanh(4 * x(i)) - 2 * pollen::math::tanh(x(i) / 2) + (i % 2 == 0 ? sigma : -sigma);
    }
};
inline const Points data;

// f(x) = sum_k v_k tanh(w_k x) with n hidden units:
//
//     E = sum_i (f(x_i) - y_i)^2 / (2 sigma^2) + (|w|^2 + |v|^2) / (2 s^2)
inline std::function<void(pollen::Model<double>&)> network(std::int64_t n) {
    return [n](pollen::Model<double>& m) {
        const auto w = m.real("w", {n}), v = m.real("v", {n});
        const auto f = matmul(tanh(outer(m.tape().constant(data.x), w)), v);
        const auto ww = square(w), vv = square(v);
        m.prior(-(ww + vv) / (2 * prior_sd * prior_sd));
        m.likelihood(-square(f - data.y) / (2 * sigma * sigma));
        m.quantity("f", sum(tanh(probe * w) * v));
    };
}
