#pragma once

#include <pollen/autograd/ops.hpp>
#include <pollen/nn/module/concrete.hpp>
#include <pollen/nn/module/pass.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace pollen {

// A function of an input and of parameters: a layer, or a network of them. Modules are values: a copy has parameters of
// its own.
//
// A layer is one small class, for example
//
//     template <Real T = float>
//     class Scale : public Layer<Scale<T>, T> {
//       public:
//         explicit Scale(std::int64_t n) : scale_{.shape = {n}, .init = Init::constant(1)} {}
//         Var<T> forward(Pass<T>& pass, Var<T> x) const override { return x * pass(scale_); }
//         static void members(auto& self, auto& visitor) { visitor.parameter("scale", self.scale_); }
//         std::string describe() const override { return "Scale"; }
//       private:
//         Parameter<T> scale_;
//     };
template <Real T>
using Part = Owned<Module<T>>;  // a module inside another one
template <Real T>
using ChangePart = std::function<Part<T>(const Module<T>& part, const std::string& name)>;

// What forward() is: max(x, 0), swish(x), max_pool2d(x) with windows of 2 x 2 that do not overlap, or something else.
enum class Follower { other, relu, swish, max_pool_by_two };

// A value, and how many parts of a network were computed along with it.
template <Real T>
struct Fused {
    Var<T> value;
    std::size_t parts = 0;
};

template <Real T>
class Module : public HasParameters<T> {
  public:
    // The module's value at x: forward(), which the pass's observer is told of.
    Var<T> operator()(Pass<T>& pass, Var<T> x) const {
        const Var<T> y = forward(pass, x);
        if (pass.observer) pass.observer(*this, y);
        return y;
    }

    virtual Var<T> forward(Pass<T>& pass, Var<T> x) const = 0;

    // The same where `next` follows. It may compute the first of these along, as one op, and return the value of the
    // last of them; values and gradients have the same bits. Sequential calls this if there is no observer to tell.
    virtual Fused<T> forward_fused(Pass<T>& pass, Var<T> x, std::span<const Part<T>>) const {
        return {forward(pass, x)};
    }
    // What a layer before this one can compute along.
    virtual Follower follower() const { return Follower::other; }

    virtual std::unique_ptr<Module<T>> clone() const = 0;
    virtual std::string describe() const = 0;  // "Dense(784, 800)"
    // The same with everything that training depends on, where that is more: what a resumed run is compared by.
    virtual std::string details() const { return describe(); }

    // A container returns a copy of itself in which change(part, name) stands for each part, named as in visit(). Other
    // modules return null.
    virtual std::unique_ptr<Module<T>> rebuild(const ChangePart<T>&) const { return nullptr; }

    // Whether the outputs are linear in the parameters; then random weights can be drawn in other ways (Estimator).
    virtual bool linear_in_parameters() const { return false; }
    // The axis of inputs and outputs of this rank that counts the features: 1, the channels, for layers of images.
    virtual int feature_axis(int rank) const { return rank - 1; }
};

// The base of a layer of type Self.
template <class Self, Real T>
using Layer = Concrete<Self, Module<T>>;

// How many numbers there are to learn: those of all parameters but running statistics.
template <Real T>
std::int64_t parameter_count(const HasParameters<T>& tree);

// A table of layers, output shapes and numbers of parameters, for one input of the given shape (without the batch
// axis): summary(net, {1, 28, 28}).
template <Real T>
std::string summary(const Module<T>& module, const Shape& input);

// The module's outputs for all rows of x, at most `batch` rows at a time, without recording anything. With Mode::sample
// one draw of the random layers (MC dropout): `seed` and `draw` choose which. The batch does not change the outputs of
// layers that treat each row by itself, as those of the library do, nor what random layers draw for a row.
struct PredictOptions {
    // Empty: 1,000, or fewer if the outputs of all layers for 1,000 rows take more than 64 MB.
    std::optional<std::int64_t> batch = {};
    Mode mode = Mode::predict;
    std::uint64_t seed = 0;
    std::uint64_t draw = 0;
};
template <Real T>
Tensor<T> predict(const Module<T>& module, const Tensor<T>& x, PredictOptions options = {});
// The same with other parameter values, laid out as Parameters has them.
template <Real T>
Tensor<T> predict(const Module<T>& module, const Parameters<T>& parameters, std::span<const T> theta,
                  const Tensor<T>& x, PredictOptions options = {});
// The same on a tape of your own, made with Recording::off: it keeps its memory from one call to the next.
template <Real T>
Tensor<T> predict(Tape<T>& tape, const Module<T>& module, const Parameters<T>& parameters, std::span<const T> theta,
                  const Tensor<T>& x, PredictOptions options = {});

}  // namespace pollen
