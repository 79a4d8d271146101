#include <pollen/autograd/ops/detail/axis_view.hpp>
#include <pollen/autograd/ops/detail/join.hpp>

namespace pollen {

// y = the parts laid end to end along an axis        dL/dxk += its part of dL/dy
template <Real T>
Var<T> concat(std::span<const Var<T>> parts, int axis) {
    require_parts("concat", parts.size());
    const Shape& first = parts[0].shape();
    const int along = normalize_axis("concat", axis, first.rank());
    std::int64_t size = 0;
    for (std::size_t k = 0; k < parts.size(); ++k) {
        const Shape& shape = parts[k].shape();
        if (shape.rank() != first.rank() || with_size(shape, along, first[along]) != first)
            throw ShapeError("concat: part " + std::to_string(k) + " has shape " + to_string(shape) + ", part 0 has " +
                             to_string(first) + "; all sizes but those of axis " + std::to_string(along) +
                             " must be equal");
        if (__builtin_add_overflow(size, shape[along], &size))
            throw ShapeError("concat: the sizes of axis " + std::to_string(along) + " of parts 0 to " +
                             std::to_string(k) + " add up to more than 2^63 - 1");
    }
    return join("concat", parts, with_size(first, along, size), AxisView(first, along).outer);
}

template <Real T>
Var<T> concat(std::initializer_list<Var<T>> parts, int axis) {
    return concat(std::span<const Var<T>>(parts.begin(), parts.size()), axis);
}

template Var<float> concat(std::span<const Var<float>>, int);
template Var<double> concat(std::span<const Var<double>>, int);
template Var<float> concat(std::initializer_list<Var<float>>, int);
template Var<double> concat(std::initializer_list<Var<double>>, int);

}  // namespace pollen
