#pragma once

#include <pollen/nn/module/module.hpp>

namespace pollen {

// y = table[x], row by row: x holds whole numbers from 0 to rows - 1, and (n, k) becomes (n, k, width).
template <Real T = float>
class Embedding final : public Layer<Embedding<T>, T> {
  public:
    Embedding(std::int64_t rows, std::int64_t width, Init init = Init::normal(0, 1));

    Var<T> forward(Pass<T>& pass, Var<T> x) const override;
    static void members(auto& self, auto& visitor) { visitor.parameter("table", self.table); }
    std::string describe() const override;

    Parameter<T> table;
};

}  // namespace pollen
