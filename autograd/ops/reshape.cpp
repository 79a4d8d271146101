#include <pollen/autograd/ops/detail/share.hpp>

namespace pollen {

// y = x in another shape        dL/dx += dL/dy
template <Real T>
Var<T> reshape(Var<T> x, std::initializer_list<std::int64_t> sizes) {
    return share("reshape", x, resolve_reshape("reshape", x.shape(), std::span(sizes.begin(), sizes.size())));
}

template <Real T>
Var<T> reshape(Var<T> x, const Shape& shape) {
    return share("reshape", x, resolve_reshape("reshape", x.shape(), shape.sizes()));
}

template Var<float> reshape(Var<float>, std::initializer_list<std::int64_t>);
template Var<double> reshape(Var<double>, std::initializer_list<std::int64_t>);
template Var<float> reshape(Var<float>, const Shape&);
template Var<double> reshape(Var<double>, const Shape&);

}  // namespace pollen
