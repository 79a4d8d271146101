#include <pollen/autograd/kernels/map.hpp>
#include <pollen/autograd/ops.hpp>
#include <pollen/autograd/ops/detail/axis_view.hpp>

#include <algorithm>
#include <string>

namespace pollen {

namespace {

constexpr std::int64_t gather_block = 1024;

// The place of an element in row-major order, written as indices: (1, 2).
std::string place(std::int64_t at, const Shape& shape) {
    std::string text;
    for (int axis = shape.rank() - 1; axis >= 0; --axis) {
        text = std::to_string(at % shape[axis]) + (text.empty() ? "" : ", ") + text;
        at /= shape[axis];
    }
    return "(" + text + ")";
}

void check(const Shape& x, int axis, const Indices& index) {
    if (index.rank() != x.rank() || with_size(index.shape(), axis, x[axis]) != x)
        throw ShapeError("gather: index " + to_string(index.shape()) + " does not fit x " + to_string(x) +
                         "; all sizes but those of axis " + std::to_string(axis) + " must be equal");
    for (std::int64_t k = 0; k < index.size(); ++k) {
        if (index.data()[k] < 0 || index.data()[k] >= x[axis])
            throw ShapeError("gather: index " + std::to_string(index.data()[k]) + " at " + place(k, index.shape()) +
                             " is out of range; axis " + std::to_string(axis) + " of x " + to_string(x) + " has size " +
                             std::to_string(x[axis]));
    }
}

// Calls body(in x, in the result) with the places of the elements that belong together. x is seen as (outer, n, inner),
// the result and the index as (outer, count, inner). A task owns some columns and goes through them in order.
template <class Body>
void for_pairs(const AxisView& x, const Indices& index, std::int64_t count, const Body& body) {
    if (index.size() == 0) return;
    const std::int64_t blocks = (x.inner + gather_block - 1) / gather_block;
    const std::int64_t work = count * std::min(x.inner, gather_block);
    parallel_for(x.outer * blocks, kernels::grain_for(work), [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t task = begin; task < end; ++task) {
            const std::int64_t i = task / blocks, first = task % blocks * gather_block;
            const std::int64_t last = std::min(x.inner, first + gather_block);
            for (std::int64_t k = 0; k < count; ++k) {
                for (std::int64_t j = first; j < last; ++j) {
                    const std::int64_t at = (i * count + k) * x.inner + j;
                    body((i * x.size + index.data()[at]) * x.inner + j, at);
                }
            }
        }
    });
}

}  // namespace

// y[.., k, ..] = x[.., index[.., k, ..], ..]        dL/dx at that place += dL/dy[.., k, ..]        keeps index
template <Real T>
Var<T> gather(Var<T> x, int axis, const Indices& index) {
    const Shape& shape = x.shape();
    const int along = normalize_axis("gather", axis, shape.rank());
    check(shape, along, index);
    auto forward = [along, index = x.state().hold(index)](Forward<T>& node) {
        const T* in = node.input(0).data();
        T* out = node.value();
        for_pairs(AxisView(node.input(0).shape(), along), index, index.shape()[along],
                  [&](std::int64_t from, std::int64_t to) { out[to] = in[from]; });
    };
    return record("gather", {x}, index.shape(), std::move(forward), [along, index](Backward<T>& b) {
        const T* g = b.grad();
        if (T* dx = b.accumulate(0))
            for_pairs(AxisView(b.input(0).shape(), along), index, index.shape()[along],
                      [&](std::int64_t to, std::int64_t from) { dx[to] += g[from]; });
    });
}

template Var<float> gather(Var<float>, int, const Indices&);
template Var<double> gather(Var<double>, int, const Indices&);

}  // namespace pollen
