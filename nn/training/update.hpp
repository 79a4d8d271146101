#pragma once

#include <pollen/autograd/gradient_sink.hpp>
#include <pollen/nn/module/pass.hpp>
#include <pollen/nn/priors/prior.hpp>
#include <pollen/nn/training/optimiser.hpp>

#include <limits>

namespace pollen {

// The prior of each parameter of a pass, in their order, and the number N of items: a step goes along the gradient of
// the mean loss less log p(theta) / N. No priors: along that of the loss alone.
struct UpdatePriors {
    std::vector<Prior> of_parameter = {};
    std::int64_t items = 1;
};

// One step of an optimiser: backward() from the loss of a pass, and theta moved along its gradient.
//
// Mean-field weights hand over the gradients of mu and rho in pieces, and theta is moved with each piece at once: that
// saves writing them to memory and reading them again. The numbers are the same either way. With a clip_norm the whole
// gradient must be known first.
//
//     Update<float> update(Adam{}, tape, pass, theta, memory);
//     pass.restart(options, theta.values());                       // for each step: a loss, as the user likes it,
//     update(loss, {.rate = 1e-3, .step = k});                     // and its update
//
// Running statistics that layers have set in the pass (Pass::set_statistic) are written to theta.
//
// After a step the leaves of the pass have neither values nor gradients of what was moved in pieces.
template <Real T>
class Update final : GradientSink<T> {
  public:
    // theta has the numbers of all parameters of the pass, and so has each tensor that the optimiser remembers.
    Update(Optimiser optimiser, Tape<T>& tape, Pass<T>& pass, Tensor<T>& theta, std::vector<Tensor<T>>& memory,
           UpdatePriors priors = {});

    // Returns the norm of the gradient of the loss before it was clipped; NaN without a clip_norm.
    double operator()(const Var<T>& loss, UpdateStep now, double clip_norm = std::numeric_limits<double>::infinity());
    // The same with the gradient of a loss that is not on the tape: one number for each of theta.
    double operator()(const Tensor<T>& gradient, UpdateStep now,
                      double clip_norm = std::numeric_limits<double>::infinity());

  private:
    void check() const;
    void start(UpdateStep now);
    double finish(double clip_norm, const auto& gradient_of);
    void backward(const Var<T>& loss, bool in_pieces);
    void take(std::size_t leaf, std::int64_t begin, std::span<const T> gradient) override;
    void move(std::size_t leaf, std::int64_t begin, std::span<const T> gradient) const;
    void move_under(const Prior& prior, const Stretch<T>& at) const;

    const Optimiser optimiser_;
    Tape<T>& tape_;
    Pass<T>& pass_;
    Tensor<T>& theta_;
    std::vector<Tensor<T>>& memory_;
    const UpdatePriors priors_;
    UpdateStep now_;
    std::vector<char> moved_;  // parameters whose gradient was taken
    std::vector<Stretch<T>> all_;
};

}  // namespace pollen
