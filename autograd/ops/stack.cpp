#include <pollen/autograd/ops/detail/axis_view.hpp>
#include <pollen/autograd/ops/detail/join.hpp>

namespace pollen {

// y = the parts side by side along a new axis        dL/dxk += its part of dL/dy
template <Real T>
Var<T> stack(std::span<const Var<T>> parts, int axis) {
    require_parts("stack", parts.size());
    const Shape& first = parts[0].shape();
    const int along = normalize_new_axis("stack", axis, first.rank());
    for (std::size_t k = 0; k < parts.size(); ++k) {
        if (parts[k].shape() != first)
            throw ShapeError("stack: part " + std::to_string(k) + " has shape " + to_string(parts[k].shape()) +
                             ", part 0 has " + to_string(first) + "; all shapes must be equal");
    }
    const Shape shape = with_axis(first, along, static_cast<std::int64_t>(parts.size()));
    return join("stack", parts, shape, AxisView(shape, along).outer);
}

template <Real T>
Var<T> stack(std::initializer_list<Var<T>> parts, int axis) {
    return stack(std::span<const Var<T>>(parts.begin(), parts.size()), axis);
}

template Var<float> stack(std::span<const Var<float>>, int);
template Var<double> stack(std::span<const Var<double>>, int);
template Var<float> stack(std::initializer_list<Var<float>>, int);
template Var<double> stack(std::initializer_list<Var<double>>, int);

}  // namespace pollen
