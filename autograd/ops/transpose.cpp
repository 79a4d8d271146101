#include <pollen/autograd/ops/detail/permute.hpp>

#include <utility>

namespace pollen {

// y[..., j, ..., i, ...] = x[..., i, ..., j, ...]        dL/dx += dL/dy with the same two axes swapped
template <Real T>
Var<T> transpose(Var<T> x, int axis0, int axis1) {
    const int rank = x.rank();
    const int first = normalize_axis("transpose", axis0, rank), second = normalize_axis("transpose", axis1, rank);
    AxisOrder order{};
    for (int k = 0; k < rank; ++k) order[static_cast<std::size_t>(k)] = static_cast<std::int8_t>(k);
    std::swap(order[static_cast<std::size_t>(first)], order[static_cast<std::size_t>(second)]);
    return permute_axes("transpose", x, order);
}

template Var<float> transpose(Var<float>, int, int);
template Var<double> transpose(Var<double>, int, int);

}  // namespace pollen
