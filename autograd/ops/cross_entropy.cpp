#include <pollen/autograd/detail/scratch.hpp>
#include <pollen/autograd/math.hpp>
#include <pollen/autograd/ops/detail/softmax_rows.hpp>

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
    return x[label] == m ? math::log1p(others) : math::log(sum) + (m - x[label]);
}

// The losses of all rows, and what their gradients are made of, unless `slopes` is null.
template <class T>
void row_losses(const Tensor<T>& x, const Indices& labels, T* slopes, T* losses) {
    struct Room;
    const std::int64_t rows = x.shape()[0], n = x.shape()[1];
    for_rows(rows, n, [&](std::int64_t row) {
        T* p = slopes ? slopes + row * n : kernels::scratch<T, Room>(n);
        losses[row] = row_loss(n, x.data() + row * n, labels.data()[row], p, slopes != nullptr);
    });
}

}  // namespace

// y_i = -log softmax(x_i)[label_i]        dL/dx_ij += dL/dy_i (softmax(x_i)_j - [j = label_i])        keeps the bracket
template <Real T>
Var<T> cross_entropy(Var<T> logits, const Indices& labels, Reduction reduction) {
    TapeState<T>& tape = logits.state();
    const Shape shape = logits.shape();
    check(shape, labels);
    Tensor<T> slope = logits.needs_grad() ? tape.empty(shape) : Tensor<T>();
    auto losses_of = [labels = tape.hold(labels), slopes = slope.fresh_data()](const Tensor<T>& x, T* losses) {
        row_losses(x, labels, slopes, losses);
    };
    if (reduction == Reduction::none) {
        auto forward = [losses_of = std::move(losses_of)](Forward<T>& node) { losses_of(node.input(0), node.value()); };
        return record("cross_entropy", {logits}, Shape{shape[0]}, std::move(forward),
                      [slope = std::move(slope)](Backward<T>& b) {
                          kernels::map_reduced_into(
                              b.slot(0), kernels::ReducedPlan(slope.shape(), 2u), [](auto p, auto g) { return g * p; },
                              kernels::Full<T>{slope.data()}, kernels::Reduced<T>{b.grad()});
                      });
    }
    const std::int64_t rows = shape[0];
    const T count = reduction == Reduction::mean ? static_cast<T>(rows) : T(1);
    auto forward = [rows, count, losses_of = std::move(losses_of)](Forward<T>& node) {
        Tensor<T> loss = node.scratch(Shape{rows});
        losses_of(node.input(0), loss.fresh_data());
        *node.value() = kernels::reduce_all<kernels::Sum, T>(rows, kernels::Keep{}, Stream<T>{loss.data()}) / count;
    };
    return record("cross_entropy", {logits}, Shape{}, std::move(forward),
                  [count, slope = std::move(slope)](Backward<T>& b) {
                      kernels::map_into(
                          b.slot(0), slope.size(), [](auto p, auto g) { return g * p; }, Stream<T>{slope.data()},
                          Splat<T>{b.grad()[0] / count});
                  });
}

template Var<float> cross_entropy(Var<float>, const Indices&, Reduction);
template Var<double> cross_entropy(Var<double>, const Indices&, Reduction);

}  // namespace pollen
