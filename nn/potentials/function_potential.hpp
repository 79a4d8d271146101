#pragma once

#include <pollen/nn/potentials/potential.hpp>

#include <functional>

namespace pollen {

// A potential from a function of yours that returns U(theta) and writes dU/dtheta. An empty span means that the
// gradient is not wanted:
//
//     const FunctionPotential<double> ring(2, [](std::span<const double> x, std::span<double> slope) {
//         const double r = math::hypot(x[0], x[1]);
//         for (std::size_t i = 0; i < slope.size(); ++i) slope[i] = 100 * (r - 1) * x[i] / r;
//         return 50 * (r - 1) * (r - 1);
//     });
//
// A density of 0 is an infinite U, or a DomainError. Every chain has a copy of the function. check_gradient() tells
// whether the gradient is that of U.
template <Real T>
class FunctionPotential final : public Potential<T> {
  public:
    using Function = std::function<double(std::span<const T> theta, std::span<T> gradient)>;
    using BatchFunction =
        std::function<double(std::span<const T> theta, std::span<T> gradient, std::span<const std::int64_t> batch)>;

    // Draws have one quantity, x of `size` numbers; or the numbers have names.
    FunctionPotential(std::int64_t size, Function f);
    FunctionPotential(const std::vector<std::string>& names, Function f);
    // With N items, for samplers that take batches: the function returns U~, whose likelihood has the factor N/n. An
    // empty batch means all items.
    FunctionPotential(std::int64_t size, std::int64_t items, BatchFunction f);
    FunctionPotential(const std::vector<std::string>& names, std::int64_t items, BatchFunction f);

    std::unique_ptr<Potential<T>> clone() const override;
    std::int64_t size() const override { return size_; }
    std::int64_t items() const override { return items_; }
    Energy evaluate(std::span<const T> theta, std::span<T> gradient) override;
    Energy evaluate(std::span<const T> theta, std::span<T> gradient, std::span<const std::int64_t> batch) override;
    const std::vector<Quantity>& quantities() const override { return blocks_; }
    void values(std::span<const T> theta, std::span<double> out) override;
    const std::vector<Quantity>& blocks() const override { return blocks_; }
    std::string describe() const override;

  private:
    FunctionPotential(std::int64_t size, std::vector<Quantity> blocks, std::int64_t items, BatchFunction f);
    void check(std::span<const T> theta, std::span<T> gradient) const;

    std::int64_t size_, items_;
    std::vector<Quantity> blocks_;
    BatchFunction f_;
};

}  // namespace pollen
