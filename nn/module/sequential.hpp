#pragma once

#include <pollen/nn/module/module.hpp>

#include <vector>

namespace pollen {

// y = f_k(... f_2(f_1(x))). Write braces: with parentheses C++ may take the line for the declaration of a function.
//
//     Sequential net{Dense(784, 800), Relu(), Dense(800, 10)};                     // float
//     Sequential net{Dense<double>(784, 800), Relu<double>(), Dense<double>(800, 10)};
template <Real T = float>
class Sequential final : public Layer<Sequential<T>, T> {
  public:
    Sequential() = default;
    template <class First, class... Rest>
    requires(std::derived_from<std::remove_cvref_t<First>, Module<T>> &&
             !(sizeof...(Rest) == 0 &&
               std::same_as<std::remove_cvref_t<First>, Sequential>)) explicit Sequential(First&& first,
                                                                                          Rest&&... rest) {
        add(std::forward<First>(first));
        (add(std::forward<Rest>(rest)), ...);
    }

    Sequential& add(Part<T> part) {
        parts_.push_back(std::move(part));
        return *this;
    }
    std::size_t size() const { return parts_.size(); }
    Module<T>& operator[](std::size_t k) const { return *parts_.at(k); }

    Var<T> forward(Pass<T>& pass, Var<T> x) const override {
        for (std::size_t k = 0; k < parts_.size(); ++k) {
            try {
                x = (*parts_[k])(pass, x);
            } catch (const ShapeError& error) {
                throw ShapeError("part " + std::to_string(k) + ", " + parts_[k]->describe() + ": " + error.what());
            }
        }
        return x;
    }
    void visit(Visitor<T>& visitor) override {
        for (std::size_t k = 0; k < parts_.size(); ++k) visitor.part(std::to_string(k), *parts_[k]);
    }
    std::string describe() const override { return "Sequential(" + std::to_string(parts_.size()) + " parts)"; }

  private:
    std::vector<Part<T>> parts_;
};

template <class First, class... Rest>
Sequential(First, Rest...) -> Sequential<typename First::Number>;

// y = x + f(x), or shortcut(x) + f(x) where the shapes differ
template <Real T = float>
class Residual final : public Layer<Residual<T>, T> {
  public:
    explicit Residual(Part<T> body) { parts_.push_back(std::move(body)); }
    Residual(Part<T> body, Part<T> shortcut) : Residual(std::move(body)) { parts_.push_back(std::move(shortcut)); }
    template <std::derived_from<Module<T>> M>
    explicit Residual(M body) : Residual(Part<T>(std::move(body))) {}
    template <std::derived_from<Module<T>> M, std::derived_from<Module<T>> S>
    Residual(M body, S shortcut) : Residual(Part<T>(std::move(body)), Part<T>(std::move(shortcut))) {}

    Var<T> forward(Pass<T>& pass, Var<T> x) const override {
        const Var<T> y = (*parts_[0])(pass, x);
        const Var<T> straight = parts_.size() > 1 ? (*parts_[1])(pass, x) : x;
        if (y.shape() != straight.shape())
            throw ShapeError("Residual: the body makes " + to_string(y.shape()) + " of " + to_string(x.shape()) +
                             ", the other way is " + to_string(straight.shape()) + "; give a shortcut that fits");
        return y + straight;
    }
    void visit(Visitor<T>& visitor) override {
        visitor.part("body", *parts_[0]);
        if (parts_.size() > 1) visitor.part("shortcut", *parts_[1]);
    }
    std::string describe() const override { return "Residual"; }

    const Module<T>& body() const { return *parts_[0]; }
    const Module<T>* shortcut() const { return parts_.size() > 1 ? &*parts_[1] : nullptr; }

  private:
    std::vector<Part<T>> parts_;
};

template <class M>
Residual(M) -> Residual<typename M::Number>;
template <class M, class S>
Residual(M, S) -> Residual<typename M::Number>;

}  // namespace pollen
