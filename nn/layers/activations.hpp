#pragma once

#include <pollen/autograd/support/checks.hpp>
#include <pollen/nn/module/module.hpp>

#include <functional>

namespace pollen {

// y = f(x), element by element, f any op of one input. A saved run and a saved network know f by its name alone, so two
// functions need two names.
template <Real T = float>
class Activation : public Layer<Activation<T>, T> {
  public:
    Activation(std::string name, std::function<Var<T>(Var<T>)> f) : name_(std::move(name)), f_(std::move(f)) {
        check_function(name_, f_);
    }

    Var<T> forward(Pass<T>&, Var<T> x) const override { return f_(x); }
    Follower follower() const override { return follower_; }
    std::string describe() const override { return name_; }

  protected:
    Follower follower_ = Follower::other;

  private:
    std::string name_;
    std::function<Var<T>(Var<T>)> f_;
};

template <Real T = float>
struct Relu : Activation<T> {
    Relu() : Activation<T>("Relu", [](Var<T> x) { return relu(x); }) { this->follower_ = Follower::relu; }
};
template <Real T = float>
struct LeakyRelu : Activation<T> {
    explicit LeakyRelu(double slope = 0.01)
        : Activation<T>(call("LeakyRelu", slope), [slope](Var<T> x) { return leaky_relu(x, static_cast<T>(slope)); }) {}
};
template <Real T = float>
struct Elu : Activation<T> {
    explicit Elu(double alpha = 1)
        : Activation<T>(call("Elu", alpha), [alpha](Var<T> x) { return elu(x, static_cast<T>(alpha)); }) {}
};
template <Real T = float>
struct Gelu : Activation<T> {
    Gelu() : Activation<T>("Gelu", [](Var<T> x) { return gelu(x); }) {}
};
template <Real T = float>
struct Swish : Activation<T> {
    Swish() : Activation<T>("Swish", [](Var<T> x) { return swish(x); }) { this->follower_ = Follower::swish; }
};
template <Real T = float>
struct Tanh : Activation<T> {
    Tanh() : Activation<T>("Tanh", [](Var<T> x) { return tanh(x); }) {}
};
template <Real T = float>
struct Sigmoid : Activation<T> {
    Sigmoid() : Activation<T>("Sigmoid", [](Var<T> x) { return sigmoid(x); }) {}
};
template <Real T = float>
struct Softplus : Activation<T> {
    Softplus() : Activation<T>("Softplus", [](Var<T> x) { return softplus(x); }) {}
};

}  // namespace pollen
