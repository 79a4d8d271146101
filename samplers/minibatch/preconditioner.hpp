#pragma once

#include <pollen/autograd/tensor.hpp>

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace pollen {

// What a preconditioner is given in each step, and what it writes.
template <Real T>
struct PreconditionerStep {
    std::span<const T> theta;
    std::span<const T> gradient;   // of U~ at theta
    std::span<const T> curvature;  // an estimate of d^2 U~ / dtheta_i^2; empty unless the preconditioner wants it
    std::int64_t items;            // N, or 1 if the potential has none
    std::span<T> memory;  // for the preconditioner's own use: `memories` times as many numbers as theta, 0 at first
    std::span<T> g;       // to be written: G_ii
    // To be written in every step, or never if it is 0: Gamma_i = sum_j dG_ij / dtheta_j = dG_ii / dtheta_i
    std::span<T> gamma;
};

// A diagonal metric G(theta) for Psgld. Your own is a function that takes a PreconditionerStep of float and of double:
//
//     Preconditioner mine("1 + theta^2", [](const auto& at) {
//         for (std::size_t i = 0; i < at.theta.size(); ++i) {
//             at.g[i] = 1 + at.theta[i] * at.theta[i];
//             at.gamma[i] = 2 * at.theta[i];
//         }
//     });
//
// `text` describes it: a saved run is only resumed under the same description. The text is all that is compared, so two
// functions need two texts.
class Preconditioner {
  public:
    struct Needs {
        int memories = 0;
        bool curvature = false;  // one more gradient in each step
    };

    template <class F>
    Preconditioner(std::string text, F f) : Preconditioner(std::move(text), std::move(f), Needs{}) {}
    template <class F>
    Preconditioner(std::string text, F f, Needs needs) : text_(std::move(text)), needs_(needs), float_(f), double_(f) {}

    enum class Gamma { left_out, estimated };
    // v = alpha v + (1 - alpha) gbar^2,  G = 1 / (lambda + sqrt(v)),  gbar = grad U~ / N       (Li et al. 2016, Eq.
    // 7-8)
    //
    // The paper leaves Gamma out; with alpha near 1 it is small. Estimated it is
    //     Gamma_i = -G_i^2 (1 - alpha) gbar_i / sqrt(v_i) dgbar_i/dtheta_i
    // with the second derivative from a difference of gradients along random signs (Hutchinson), without bias. With
    // alpha = 0 that is exact for small steps. With a memory, v depends on earlier gradients, too, and Gamma removes
    // little of the error, which is small only if theta goes far in 1 / (1 - alpha) steps.
    static Preconditioner rmsprop(double alpha = 0.99, double lambda = 1e-5, Gamma gamma = Gamma::left_out);
    // A G that stays: one number, or one a dimension.
    static Preconditioner fixed(std::vector<double> diagonal);

    const std::string& describe() const { return text_; }
    const Needs& needs() const { return needs_; }
    template <Real T>
    void operator()(const PreconditionerStep<T>& at) const {
        if constexpr (std::is_same_v<T, float>)
            float_(at);
        else
            double_(at);
    }

  private:
    std::string text_;
    Needs needs_;
    std::function<void(const PreconditionerStep<float>&)> float_;
    std::function<void(const PreconditionerStep<double>&)> double_;
};

}  // namespace pollen
