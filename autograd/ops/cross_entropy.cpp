#include <pollen/autograd/detail/scratch.hpp>
#include <pollen/autograd/ops/detail/softmax_rows.hpp>

#include <cmath>
#include <string>

namespace pollen {

namespace {

void check(const Shape& logits, const Indices& labels) {
    if (logits.rank() != 2)
        throw ShapeError("cross_entropy: logits have shape " + to_string(logits) + "; (rows, classes) is needed");
    if (labels.shape() != Shape{logits[0]})
        throw ShapeError("cross_entropy: labels have shape " + to_string(labels.shape()) + " for logits " +
                         to_string(logits) + "; one label for each row, (" + std::to_string(logits[0]) +
                         "), is needed");
    if (logits[0] > 0 && logits[1] == 0)
        throw ShapeError("cross_entropy: logits " + to_string(logits) + " have no classes");
    for (std::int64_t row = 0; row < logits[0]; ++row) {
        const std::int64_t label = labels.data()[row];
        if (label < 0 || label >= logits[1])
            throw ShapeError("cross_entropy: label " + std::to_string(label) + " at row " + std::to_string(row) +
                             " is out of range; logits " + to_string(logits) + " have classes 0 to " +
                             std::to_string(logits[1] - 1));
    }
}

// The loss of one row, and in p what its gradient is made of, softmax(x) minus 1 at the label.
//
//     loss = log sum_j exp(x_j - m) + (m - x_label)        dloss/dx_j = p_j - [j = label],  p = softmax(x)
//
// The label's own term stays out of the sum at first. So a small loss, log(1 + small), and its gradient, 1 - p_label,
// keep all their digits.
template <class T>
T row_loss(std::int64_t n, const T* x, std::int64_t label, T* p, bool gradient) {
    const T m = row_max(n, x);
    kernels::map_serial(n, p, ExpAbove{}, Stream<T>{x}, Splat<T>{m});
    const T own = p[label];
    p[label] = 0;
    const T others = row_sum(n, p), sum = others + own;
    if (gradient) {
        kernels::map_serial(
            n, p, [](auto e, auto s) { return e / s; }, Stream<T>{p}, Splat<T>{sum});
        p[label] = -others / sum;
    }
    return x[label] == m ? std::log1p(others) : std::log(sum) + (m - x[label]);
}

}  // namespace

// y_i = -log softmax(x_i)[label_i]        dL/dx_ij += dL/dy_i (softmax(x_i)_j - [j = label_i])        keeps the bracket
template <Real T>
Var<T> cross_entropy(Var<T> logits, const Indices& labels, Reduction reduction) {
    struct Room;
    const Tensor<T>& x = logits.value();
    check(x.shape(), labels);
    const std::int64_t rows = x.shape()[0], n = x.shape()[1];
    const bool gradient = logits.needs_grad();
    Tensor<T> slope = gradient ? logits.state().empty(x.shape()) : Tensor<T>();
    Tensor<T> loss = logits.state().empty(Shape{rows});
    T *slopes = slope.fresh_data(), *losses = loss.fresh_data();
    for_rows(rows, n, [&](std::int64_t row) {
        T* p = gradient ? slopes + row * n : kernels::scratch<T, Room>(n);
        losses[row] = row_loss(n, x.data() + row * n, labels.data()[row], p, gradient);
    });
    if (reduction == Reduction::none)
        return record("cross_entropy", {logits}, std::move(loss), [slope = std::move(slope)](Backward<T>& b) {
            kernels::map_reduced_into(
                b.slot(0), kernels::ReducedPlan(slope.shape(), 2u), [](auto p, auto g) { return g * p; },
                kernels::Full<T>{slope.data()}, kernels::Reduced<T>{b.grad()});
        });
    const T count = reduction == Reduction::mean ? static_cast<T>(rows) : T(1);
    Tensor<T> y = logits.state().empty(Shape{});
    y.fresh_data()[0] = kernels::reduce_all<kernels::Sum, T>(rows, kernels::Keep{}, Stream<T>{losses}) / count;
    return record("cross_entropy", {logits}, std::move(y), [count, slope = std::move(slope)](Backward<T>& b) {
        kernels::map_into(
            b.slot(0), slope.size(), [](auto p, auto g) { return g * p; }, Stream<T>{slope.data()},
            Splat<T>{b.grad()[0] / count});
    });
}

template Var<float> cross_entropy(Var<float>, const Indices&, Reduction);
template Var<double> cross_entropy(Var<double>, const Indices&, Reduction);

}  // namespace pollen
