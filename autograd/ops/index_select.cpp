#include <pollen/autograd/kernels/map.hpp>
#include <pollen/autograd/ops.hpp>
#include <pollen/autograd/ops/axis_view.hpp>

#include <algorithm>
#include <string>

namespace pollen {

namespace {

constexpr std::int64_t column_block = 1024;

void check(const Shape& x, int axis, const Indices& index) {
    if (index.rank() != 1)
        throw ShapeError("index_select: index has shape " + to_string(index.shape()) + "; a list (n) is needed");
    for (std::int64_t k = 0; k < index.size(); ++k) {
        if (index.data()[k] < 0 || index.data()[k] >= x[axis])
            throw ShapeError("index_select: index " + std::to_string(index.data()[k]) + " at " + std::to_string(k) +
                             " is out of range; axis " + std::to_string(axis) + " of x " + to_string(x) + " has size " +
                             std::to_string(x[axis]));
    }
}

}  // namespace

// y_k = x_{index_k} along one axis        dL/dx_j += sum of dL/dy_k over all k with index_k = j        keeps index
template <Real T>
Var<T> index_select(Var<T> x, int axis, const Indices& index) {
    const Shape& shape = x.shape();
    const int along = normalize_axis("index_select", axis, shape.rank());
    check(shape, along, index);
    const AxisView view(shape, along);
    const std::int64_t count = index.size(), n = view.inner;
    Tensor<T> y = x.state().empty(with_size(shape, along, count));
    T* out = y.fresh_data();
    const T* in = x.value().data();
    parallel_for(n > 0 ? view.outer * count : 0,
                 std::max<std::int64_t>(1, kernels::map_grain / std::max<std::int64_t>(1, n)),
                 [&](std::int64_t begin, std::int64_t end) {
                     for (std::int64_t row = begin; row < end; ++row)
                         std::copy_n(in + (row / count * view.size + index.data()[row % count]) * n, n, out + row * n);
                 });
    return record("index_select", {x}, std::move(y), [along, index](Backward<T>& b) {
        T* dx = b.accumulate(0);
        if (!dx || b.value().size() == 0) return;
        // An entry may be chosen more than once: a task owns some columns and goes through the list in order.
        const AxisView to(b.input(0).shape(), along);
        const std::int64_t list = index.size(), width = to.inner, blocks = (width + column_block - 1) / column_block;
        const std::int64_t work = list * std::min(width, column_block);
        parallel_for(to.outer * blocks, std::max<std::int64_t>(1, kernels::map_grain / work),
                     [&](std::int64_t begin, std::int64_t end) {
                         for (std::int64_t task = begin; task < end; ++task) {
                             const std::int64_t i = task / blocks, first = task % blocks * column_block;
                             const std::int64_t last = std::min(width, first + column_block);
                             for (std::int64_t k = 0; k < list; ++k) {
                                 T* target = dx + (i * to.size + index.data()[k]) * width;
                                 const T* g = b.grad() + (i * list + k) * width;
                                 for (std::int64_t j = first; j < last; ++j) target[j] += g[j];
                             }
                         }
                     });
    });
}

template Var<float> index_select(Var<float>, int, const Indices&);
template Var<double> index_select(Var<double>, int, const Indices&);

}  // namespace pollen
