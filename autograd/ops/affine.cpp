#include <pollen/autograd/kernels/gemm.hpp>
#include <pollen/autograd/kernels/reduce.hpp>
#include <pollen/autograd/ops.hpp>
#include <pollen/autograd/ops/detail/gradient_above_0.hpp>

#include <string>

namespace pollen {

namespace {

void check(const Shape& x, const Shape& w, const Shape& b) {
    if (x.rank() == 0) throw ShapeError("affine: x is a scalar; it needs at least one axis");
    if (w.rank() != 2)
        throw ShapeError("affine: w has shape " + to_string(w) + "; a matrix (outputs, inputs) is needed");
    if (x[x.rank() - 1] != w[1])
        throw ShapeError("affine: x " + to_string(x) + " has " + std::to_string(x[x.rank() - 1]) + " inputs, w " +
                         to_string(w) + " takes " + std::to_string(w[1]));
    if (b != Shape{w[0]})
        throw ShapeError("affine: b has shape " + to_string(b) + " for w " + to_string(w) +
                         "; one number for each output, (" + std::to_string(w[0]) + "), is needed");
}

// Y = X W' + 1 b'        dL/dX += dL/dY W        dL/dW += dL/dY' X        dL/db += the sum of dL/dY over its rows
//
// With `relu` the value is max(Y, 0), and dL/dY is dL/d(value) where the value is above 0.
template <Real T>
Var<T> affine_node(const char* name, Var<T> x, Var<T> w, Var<T> b, bool relu) {
    const Shape &from = x.shape(), &weight = w.shape();
    check(from, weight, b.shape());
    const std::int64_t outputs = weight[0], inputs = weight[1];
    std::int64_t sizes[max_rank], rows = 1;
    for (int axis = 0; axis + 1 < from.rank(); ++axis) rows *= sizes[axis] = from[axis];
    sizes[from.rank() - 1] = outputs;
    const Shape shape(std::span<const std::int64_t>(sizes, static_cast<std::size_t>(from.rank())));
    const auto forward = [rows, outputs, inputs, relu](Forward<T>& node) {
        kernels::gemm_affine(rows, outputs, inputs, node.input(0).data(), node.input(1).data(), node.input(2).data(),
                             relu, node.value());
    };
    return record(name, {x, w, b}, shape, forward, [rows, outputs, inputs, relu](Backward<T>& node) {
        Tensor<T> room;
        const T* g = relu ? gradient_above_0(node, room) : node.grad();
        const auto beta = [](const GradientSlot<T>& slot) { return slot.fresh ? T(0) : T(1); };
        if (const GradientSlot<T> dx = node.slot(0))
            kernels::gemm(false, false, rows, inputs, outputs, T(1), g, node.input(1).data(), beta(dx), dx.data);
        if (const GradientSlot<T> dw = node.slot(1))
            kernels::gemm(true, false, outputs, inputs, rows, T(1), g, node.input(0).data(), beta(dw), dw.data);
        if (const GradientSlot<T> db = node.slot(2)) kernels::sum_to(g, Shape{rows, outputs}, db, Shape{1, outputs});
    });
}

}  // namespace

template <Real T>
Var<T> affine(Var<T> x, Var<T> w, Var<T> b) {
    return affine_node("affine", x, w, b, false);
}

template <Real T>
Var<T> affine_relu(Var<T> x, Var<T> w, Var<T> b) {
    return affine_node("affine_relu", x, w, b, true);
}

template Var<float> affine(Var<float>, Var<float>, Var<float>);
template Var<double> affine(Var<double>, Var<double>, Var<double>);
template Var<float> affine_relu(Var<float>, Var<float>, Var<float>);
template Var<double> affine_relu(Var<double>, Var<double>, Var<double>);

}  // namespace pollen
