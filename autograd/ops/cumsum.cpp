#include <pollen/autograd/ops/detail/axis_view.hpp>
#include <pollen/autograd/ops/detail/elementwise.hpp>

#include <algorithm>

namespace pollen {

namespace {

// Columns that are summed side by side.
constexpr std::int64_t cumsum_block = 256;

enum class From { front, back };

// to[k] = or += from[0] + ... + from[k] along the axis, or from[k] + ... + from[n - 1]. Numbers are added one after the
// other, as in NumPy.
template <class T>
void running_sums(const T* from, const AxisView& view, From start, T* to, bool add) {
    const std::int64_t n = view.size, b = view.inner;
    if (view.outer * n * b == 0) return;
    const std::int64_t blocks = (b + cumsum_block - 1) / cumsum_block, step = start == From::back ? -b : b;
    const std::int64_t grain = kernels::grain_for(n * std::min(b, cumsum_block));
    parallel_for(view.outer * blocks, grain, [&](std::int64_t begin, std::int64_t end) {
        T sums[cumsum_block];
        for (std::int64_t task = begin; task < end; ++task) {
            const std::int64_t first = task % blocks * cumsum_block, columns = std::min(cumsum_block, b - first);
            std::int64_t at = task / blocks * n * b + first + (start == From::back ? (n - 1) * b : 0);
            if (columns == 1) {
                T sum = 0;
                for (std::int64_t k = 0; k < n; ++k, at += step) {
                    sum += from[at];
                    to[at] = add ? to[at] + sum : sum;
                }
                continue;
            }
            std::fill_n(sums, columns, T(0));
            for (std::int64_t k = 0; k < n; ++k, at += step) {
                for (std::int64_t j = 0; j < columns; ++j) {
                    sums[j] += from[at + j];
                    to[at + j] = add ? to[at + j] + sums[j] : sums[j];
                }
            }
        }
    });
}

}  // namespace

// y_k = x_0 + ... + x_k        dL/dx_k += dL/dy_k + ... + dL/dy_{n-1}
template <Real T>
Var<T> cumsum(Var<T> x, int axis) {
    const int k = normalize_axis("cumsum", axis, x.rank());
    return record(
        "cumsum", {x}, x.shape(),
        [k](Forward<T>& node) {
            running_sums(node.input(0).data(), AxisView(node.shape(), k), From::front, node.value(), false);
        },
        [k](Backward<T>& b) {
            if (const GradientSlot<T> slot = b.slot(0))
                running_sums(b.grad(), AxisView(b.value().shape(), k), From::back, slot.data, !slot.fresh);
        });
}

template Var<float> cumsum(Var<float>, int);
template Var<double> cumsum(Var<double>, int);

}  // namespace pollen
