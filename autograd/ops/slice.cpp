#include <pollen/autograd/kernels/reduce.hpp>
#include <pollen/autograd/kernels/strided.hpp>
#include <pollen/autograd/ops/detail/axis_view.hpp>
#include <pollen/autograd/ops/detail/share.hpp>

#include <algorithm>
#include <string>

namespace pollen {

// y_k = x_{begin + k step} along one axis        dL/dx_{begin + k step} += dL/dy_k
//
// As in NumPy, a begin or an end beyond the axis means its end.
template <Real T>
Var<T> slice(Var<T> x, int axis, std::int64_t begin, std::int64_t end, std::int64_t step) {
    const Shape& shape = x.shape();
    const int along = normalize_axis("slice", axis, shape.rank());
    if (step < 1) throw ValueError("slice: step is " + std::to_string(step) + "; it must be 1 or more");
    const AxisView view(shape, along);
    const auto clip = [&](std::int64_t i) { return std::clamp<std::int64_t>(i < 0 ? i + view.size : i, 0, view.size); };
    const std::int64_t first = clip(begin), range = std::max<std::int64_t>(0, clip(end) - first);
    const std::int64_t count = range / step + (range % step != 0);
    const std::int64_t offset = first * view.inner;
    const std::int64_t stride = count > 1 ? step : 1;

    const Shape to = with_size(shape, along, count);
    if (view.outer == 1 && stride == 1)  // one piece of x, which need not be copied
        return share("slice", x, to, offset, [offset](Backward<T>& b) {
            T* dx = b.accumulate(0);
            kernels::map_into(GradientSlot<T>{dx + offset, false}, b.value().size(), kernels::Keep{},
                              kernels::Stream<T>{b.grad()});
        });
    kernels::StridedPlan plan;
    plan.push(view.outer, view.size * view.inner, count * view.inner);
    plan.push(count, stride * view.inner, view.inner);
    plan.push(view.inner, 1, 1);
    const auto forward = [plan, offset](Forward<T>& node) {
        kernels::copy_strided(plan, node.input(0).data() + offset, node.value());
    };
    return record("slice", {x}, to, forward, [along, offset, stride](Backward<T>& b) {
        const AxisView from(b.value().shape(), along), into(b.input(0).shape(), along);
        kernels::StridedPlan back;
        back.push(from.outer, from.size * from.inner, into.size * into.inner);
        back.push(from.size, from.inner, stride * from.inner);
        back.push(from.inner, 1, 1);
        kernels::copy_strided_into_part(b.slot(0), b.input(0).size(), offset, back, b.grad());
    });
}

template Var<float> slice(Var<float>, int, std::int64_t, std::int64_t, std::int64_t);
template Var<double> slice(Var<double>, int, std::int64_t, std::int64_t, std::int64_t);

}  // namespace pollen
