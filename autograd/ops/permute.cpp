#include <pollen/autograd/ops/detail/permute.hpp>

#include <pollen/autograd/kernels/strided.hpp>
#include <pollen/autograd/ops/detail/share.hpp>

#include <string>

namespace pollen {

namespace {

// A copy from a tensor of shape `from` to one whose axis k is its axis order[k].
kernels::StridedPlan plan_for(const Shape& from, const Shape& to, const AxisOrder& order) {
    const auto read = kernels::strides(from), write = kernels::strides(to);
    kernels::StridedPlan plan;
    for (int k = 0; k < to.rank(); ++k) {
        const auto axis = static_cast<std::size_t>(k);
        plan.push(to[k], read[static_cast<std::size_t>(order[axis])], write[axis]);
    }
    return plan;
}

AxisOrder inverse(const AxisOrder& order, int rank) {
    AxisOrder back{};
    for (int k = 0; k < rank; ++k)
        back[static_cast<std::size_t>(order[static_cast<std::size_t>(k)])] = static_cast<std::int8_t>(k);
    return back;
}

}  // namespace

// y[i_0, i_1, ...] = x with index i_k on axis order[k]        dL/dx += dL/dy, permuted back
template <Real T>
Var<T> permute_axes(const char* name, Var<T> x, const AxisOrder& order) {
    const Shape& shape = x.shape();
    std::array<std::int64_t, max_rank> sizes{};
    for (int k = 0; k < shape.rank(); ++k)
        sizes[static_cast<std::size_t>(k)] = shape[order[static_cast<std::size_t>(k)]];
    const Shape to(std::span<const std::int64_t>(sizes.data(), static_cast<std::size_t>(shape.rank())));
    const kernels::StridedPlan plan = plan_for(shape, to, order);
    if (plan.contiguous()) return share(name, x, to);  // only axes of size 1 change their place
    const auto forward = [plan](Forward<T>& node) { kernels::copy_strided(plan, node.input(0).data(), node.value()); };
    return record(name, {x}, to, forward, [order](Backward<T>& b) {
        const Shape &from = b.value().shape(), &back = b.input(0).shape();
        kernels::copy_strided_into(b.slot(0), plan_for(from, back, inverse(order, from.rank())), b.grad());
    });
}

template <Real T>
Var<T> permute(Var<T> x, std::initializer_list<int> order) {
    const Shape& shape = x.shape();
    const auto fail = [&](const std::string& what) {
        std::string list;
        for (int axis : order) list += (list.empty() ? "" : ", ") + std::to_string(axis);
        throw ShapeError("permute: order (" + list + ") for x " + to_string(shape) + ": " + what);
    };
    if (static_cast<int>(order.size()) != shape.rank())
        fail("it names " + std::to_string(order.size()) + " axes where x has " + std::to_string(shape.rank()));
    AxisOrder axes{};
    unsigned seen = 0;
    for (std::size_t k = 0; k < order.size(); ++k) {
        const int axis = normalize_axis("permute", order.begin()[k], shape.rank());
        if (seen & (1u << axis)) fail("axis " + std::to_string(axis) + " is named twice");
        seen |= 1u << axis;
        axes[k] = static_cast<std::int8_t>(axis);
    }
    return permute_axes("permute", x, axes);
}

template Var<float> permute_axes(const char*, Var<float>, const AxisOrder&);
template Var<double> permute_axes(const char*, Var<double>, const AxisOrder&);
template Var<float> permute(Var<float>, std::initializer_list<int>);
template Var<double> permute(Var<double>, std::initializer_list<int>);

}  // namespace pollen
