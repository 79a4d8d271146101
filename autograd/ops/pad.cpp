#include <pollen/autograd/kernels/reduce.hpp>
#include <pollen/autograd/kernels/strided.hpp>
#include <pollen/autograd/ops.hpp>

#include <string>

namespace pollen {

namespace {

// The block that x fills in the padded tensor, which starts `offset` numbers in.
kernels::StridedPlan inside(const Shape& x, const Shape& padded, bool reading) {
    const auto in = kernels::strides(x), out = kernels::strides(padded);
    kernels::StridedPlan plan;
    for (int k = 0; k < x.rank(); ++k) {
        const auto axis = static_cast<std::size_t>(k);
        reading ? plan.push(x[k], out[axis], in[axis]) : plan.push(x[k], in[axis], out[axis]);
    }
    return plan;
}

Shape padded_shape(const Shape& x, std::span<const std::array<std::int64_t, 2>> widths) {
    if (static_cast<int>(widths.size()) != x.rank())
        throw ShapeError("pad: " + std::to_string(widths.size()) + " pairs of widths for x " + to_string(x) +
                         "; one pair for each axis is needed");
    constexpr std::int64_t most = std::int64_t{1} << 59;
    std::array<std::int64_t, max_rank> sizes{};
    for (std::size_t k = 0; k < widths.size(); ++k) {
        const auto [before, after] = widths[k];
        if (before < 0 || after < 0 || before > most || after > most)
            throw ValueError("pad: axis " + std::to_string(k) + " of x " + to_string(x) + " is to get (" +
                             std::to_string(before) + ", " + std::to_string(after) +
                             ") more entries; widths are from 0 to 2^59");
        sizes[k] = x[static_cast<int>(k)] + before + after;
    }
    return Shape(std::span<const std::int64_t>(sizes.data(), widths.size()));
}

}  // namespace

// y = x with `before` and `after` entries of a constant value around it        dL/dx += the inside of dL/dy
template <Real T>
Var<T> pad(Var<T> x, std::initializer_list<std::array<std::int64_t, 2>> widths, Number<T> value) {
    const Shape& shape = x.shape();
    const Shape to = padded_shape(shape, std::span(widths.begin(), widths.size()));
    const auto steps = kernels::strides(to);
    std::int64_t offset = 0;
    for (std::size_t k = 0; k < widths.size(); ++k) offset += widths.begin()[k][0] * steps[k];
    const auto forward = [offset, value](Forward<T>& node) {
        const Tensor<T>& in = node.input(0);
        const std::int64_t size = node.shape().size();
        if (size > in.size()) kernels::map(size, node.value(), kernels::Keep{}, kernels::Splat<T>{value});
        kernels::copy_strided(inside(in.shape(), node.shape(), false), in.data(), node.value() + offset);
    };
    return record("pad", {x}, to, forward, [offset](Backward<T>& b) {
        kernels::copy_strided_into(b.slot(0), inside(b.input(0).shape(), b.value().shape(), true), b.grad() + offset);
    });
}

template Var<float> pad(Var<float>, std::initializer_list<std::array<std::int64_t, 2>>, float);
template Var<double> pad(Var<double>, std::initializer_list<std::array<std::int64_t, 2>>, double);

}  // namespace pollen
