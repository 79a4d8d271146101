#pragma once

#include <pollen/autograd/ops.hpp>
#include <pollen/nn/module/pass.hpp>

#include <iosfwd>
#include <memory>
#include <string>
#include <utility>

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
//         void visit(Visitor<T>& visitor) override { visitor.parameter("scale", scale_); }
//         std::string describe() const override { return "Scale"; }
//       private:
//         Parameter<T> scale_;
//     };
template <Real T>
class Module : public HasParameters<T> {
  public:
    using Number = T;

    // The module's value at x.
    Var<T> operator()(Pass<T>& pass, Var<T> x) const {
        const Var<T> y = forward(pass, x);
        if (pass.observer) pass.observer(*this, y);
        return y;
    }

    virtual std::unique_ptr<Module<T>> clone() const = 0;
    virtual std::string describe() const = 0;  // "Dense(784, 800)"
    // The same with everything that training depends on, where that is more: what a resumed run is compared by.
    virtual std::string details() const { return describe(); }

  protected:
    virtual Var<T> forward(Pass<T>& pass, Var<T> x) const = 0;
};

// The base of a layer of type Self: copying done once for all. A copy is a Self, so what derives from Self in turn
// needs a clone() of its own; the layers of this library are final.
template <class Self, Real T>
class Layer : public Module<T> {
  public:
    std::unique_ptr<Module<T>> clone() const override {
        return std::make_unique<Self>(static_cast<const Self&>(*this));
    }
};

// A module inside another one, of any type; copied along with it.
template <Real T>
class Part {
  public:
    template <class M>
    requires std::derived_from<std::remove_cvref_t<M>, Module<T>> Part(M&& module)
        : module_(std::make_unique<std::remove_cvref_t<M>>(std::forward<M>(module))) {}
    Part(std::unique_ptr<Module<T>> module) : module_(std::move(module)) {}
    Part(const Part& other) : module_(other.module_->clone()) {}
    Part(Part&&) noexcept = default;
    Part& operator=(Part other) noexcept {
        std::swap(module_, other.module_);
        return *this;
    }

    Module<T>& operator*() const { return *module_; }
    Module<T>* operator->() const { return module_.get(); }

  private:
    std::unique_ptr<Module<T>> module_;
};

// How many numbers there are to learn.
template <Real T>
std::int64_t parameter_count(const HasParameters<T>& tree);

// A table of layers, output shapes and numbers of parameters, for one input of the given shape (without the batch
// axis): summary(net, {1, 28, 28}).
template <Real T>
std::string summary(const Module<T>& module, const Shape& input);

// The module's outputs for all rows of x, `batch` rows at a time, without recording anything. With Mode::sample one
// draw of the random layers (MC dropout): `seed` and `draw` choose which.
struct PredictOptions {
    std::int64_t batch = 1000;
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
// The same on a tape of one's own, made with Recording::off: it keeps its memory from one call to the next.
template <Real T>
Tensor<T> predict(Tape<T>& tape, const Module<T>& module, const Parameters<T>& parameters, std::span<const T> theta,
                  const Tensor<T>& x, PredictOptions options = {});

}  // namespace pollen
