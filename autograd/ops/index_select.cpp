#include <pollen/autograd/kernels/map.hpp>
#include <pollen/autograd/ops.hpp>
#include <pollen/autograd/ops/detail/axis_view.hpp>

#include <algorithm>
#include <string>

namespace pollen {

namespace {

constexpr std::int64_t select_block = 1024;

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

// to_{index_k} += from_k along the axis. An entry may be chosen more than once: a task owns some columns and goes
// through the list in order.
template <class T>
void add_rows(const T* from, const Indices& index, const AxisView& to, T* data) {
    const std::int64_t count = index.size(), n = to.inner, blocks = (n + select_block - 1) / select_block;
    const std::int64_t grain = kernels::grain_for(count * std::min(n, select_block));
    parallel_for(to.outer * blocks, grain, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t task = begin; task < end; ++task) {
            const std::int64_t i = task / blocks, first = task % blocks * select_block;
            const std::int64_t last = std::min(n, first + select_block);
            for (std::int64_t k = 0; k < count; ++k) {
                const T* row = from + (i * count + k) * n;
                T* target = data + (i * to.size + index.data()[k]) * n;
                for (std::int64_t j = first; j < last; ++j) target[j] += row[j];
            }
        }
    });
}

// y_k = x_{index_k}
template <Real T>
void select(const Tensor<T>& x, int axis, const Indices& index, T* y) {
    const AxisView view(x.shape(), axis);
    const std::int64_t count = index.size(), n = view.inner;
    const T* in = x.data();
    parallel_for(view.outer * count, kernels::grain_for(n), [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t row = begin; row < end; ++row)
            std::copy_n(in + (row / count * view.size + index.data()[row % count]) * n, n, y + row * n);
    });
}

}  // namespace

// y_k = x_{index_k} along one axis        dL/dx_j += sum of dL/dy_k over all k with index_k = j        keeps index
template <Real T>
Var<T> index_select(Var<T> x, int axis, const Indices& index) {
    const Shape& shape = x.shape();
    const int along = normalize_axis("index_select", axis, shape.rank());
    check(shape, along, index);
    return record(
        "index_select", {x}, with_size(shape, along, index.size()),
        [along, index = x.state().hold(index)](Forward<T>& node) { select(node.input(0), along, index, node.value()); },
        [along, index](Backward<T>& b) {
            if (T* dx = b.accumulate(0)) add_rows(b.grad(), index, AxisView(b.input(0).shape(), along), dx);
        });
}

template <Real T>
Tensor<T> index_select(const Tensor<T>& x, int axis, const Indices& index) {
    const int along = normalize_axis("index_select", axis, x.rank());
    check(x.shape(), along, index);
    Tensor<T> y = Tensor<T>::empty(with_size(x.shape(), along, index.size()));
    select(x, along, index, y.fresh_data());
    return y;
}

template Var<float> index_select(Var<float>, int, const Indices&);
template Var<double> index_select(Var<double>, int, const Indices&);
template Tensor<float> index_select(const Tensor<float>&, int, const Indices&);
template Tensor<double> index_select(const Tensor<double>&, int, const Indices&);

}  // namespace pollen
