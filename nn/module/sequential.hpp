#pragma once

#include <pollen/nn/module/module.hpp>

#include <span>
#include <vector>

namespace pollen {

// y = f_k(... f_2(f_1(x))). Some layers compute what follows them as well (Module::forward_fused): Dense and Relu are
// one node of the tape, and Conv2d, Relu and MaxPool2d(2) are.
//
// Write braces: with parentheses C++ may take the line for the declaration of a function.
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
    Module<T>& operator[](std::size_t k) { return *parts_.at(k); }
    const Module<T>& operator[](std::size_t k) const { return *parts_.at(k); }

    Var<T> forward(Pass<T>& pass, Var<T> x) const override {
        for (std::size_t k = 0; k < parts_.size(); ++k) {
            try {
                if (pass.observer) {
                    x = (*parts_[k])(pass, x);
                } else {
                    const auto [y, more] = parts_[k]->forward_fused(pass, x, std::span(parts_).subspan(k + 1));
                    x = y;
                    k += more;
                }
            } catch (const ShapeError& error) {
                throw ShapeError("part " + std::to_string(k) + ", " + parts_[k]->describe() + ": " + error.what());
            }
        }
        return x;
    }
    static void members(auto& self, auto& visitor) {
        for (std::size_t k = 0; k < self.parts_.size(); ++k) visitor.part(std::to_string(k), *self.parts_[k]);
    }
    std::unique_ptr<Module<T>> rebuild(const ChangePart<T>& change) const override {
        auto copy = std::make_unique<Sequential>();
        for (std::size_t k = 0; k < parts_.size(); ++k) copy->add(change(*parts_[k], std::to_string(k)));
        return copy;
    }
    std::string describe() const override { return "Sequential(" + std::to_string(parts_.size()) + " parts)"; }

  private:
    std::vector<Part<T>> parts_;
};

template <class First, class... Rest>
Sequential(First, Rest...) -> Sequential<typename First::Number>;

}  // namespace pollen
