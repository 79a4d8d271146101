#pragma once

#include <pollen/nn/module/module.hpp>

#include <optional>

namespace pollen {

// y = x + f(x), or shortcut(x) + f(x) where the shapes differ (He et al. 2016)
template <Real T = float>
class Residual final : public Layer<Residual<T>, T> {
  public:
    explicit Residual(Part<T> body) : body_(std::move(body)) {}
    Residual(Part<T> body, Part<T> shortcut) : body_(std::move(body)), shortcut_(std::move(shortcut)) {}
    template <std::derived_from<Module<T>> M>
    explicit Residual(M body) : Residual(Part<T>(std::move(body))) {}
    template <std::derived_from<Module<T>> M, std::derived_from<Module<T>> S>
    Residual(M body, S shortcut) : Residual(Part<T>(std::move(body)), Part<T>(std::move(shortcut))) {}

    Var<T> forward(Pass<T>& pass, Var<T> x) const override {
        const Var<T> y = (*body_)(pass, x);
        const Var<T> straight = shortcut_ ? (**shortcut_)(pass, x) : x;
        if (y.shape() != straight.shape())
            throw ShapeError("Residual: the body makes " + to_string(y.shape()) + " of " + to_string(x.shape()) +
                             ", the other way is " + to_string(straight.shape()) + "; give a shortcut that fits");
        return y + straight;
    }
    static void members(auto& self, auto& visitor) {
        visitor.part("body", *self.body_);
        if (self.shortcut_) visitor.part("shortcut", **self.shortcut_);
    }
    std::unique_ptr<Module<T>> rebuild(const ChangePart<T>& change) const override {
        if (!shortcut_) return std::make_unique<Residual>(change(*body_, "body"));
        Part<T> body = change(*body_, "body");
        return std::make_unique<Residual>(std::move(body), change(**shortcut_, "shortcut"));
    }
    std::string describe() const override { return "Residual"; }

    const Module<T>& body() const { return *body_; }

  private:
    Part<T> body_;
    std::optional<Part<T>> shortcut_;
};

template <class M>
Residual(M) -> Residual<typename M::Number>;
template <class M, class S>
Residual(M, S) -> Residual<typename M::Number>;

}  // namespace pollen
