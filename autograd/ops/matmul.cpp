#include <pollen/autograd/kernels/gemm.hpp>
#include <pollen/autograd/ops.hpp>
#include <pollen/autograd/ops/detail/matrix_stacks.hpp>

#include <string>

namespace pollen {

namespace {

// One product: op(X) n x k by op(Y) k x m, op being the transpose where asked for.
struct Product {
    std::int64_t n, k, m;
    bool transpose_x, transpose_y;
    double flops() const { return 2.0 * static_cast<double>(n) * static_cast<double>(k) * static_cast<double>(m); }
};

// Z = op(X) op(Y)
template <Real T>
void multiply(const Product& p, const T* x, const T* y, T* z) {
    kernels::gemm(p.transpose_x, p.transpose_y, p.n, p.m, p.k, T(1), x, y, T(0), z);
}

// dX = G op(Y)', or its transpose op(Y) G'
template <Real T>
void multiply_dx(const Product& p, const T* g, const T* y, T beta, T* dx) {
    if (p.transpose_x)
        kernels::gemm(p.transpose_y, true, p.k, p.n, p.m, T(1), y, g, beta, dx);
    else
        kernels::gemm(false, !p.transpose_y, p.n, p.k, p.m, T(1), g, y, beta, dx);
}

// dY = op(X)' G, or its transpose G' op(X)
template <Real T>
void multiply_dy(const Product& p, const T* g, const T* x, T beta, T* dy) {
    if (p.transpose_y)
        kernels::gemm(true, p.transpose_x, p.m, p.k, p.n, T(1), g, x, beta, dy);
    else
        kernels::gemm(!p.transpose_x, false, p.k, p.m, p.n, T(1), x, g, beta, dy);
}

std::string name(const char* operand, const Shape& shape, bool transposed) {
    return (transposed ? std::string("the transpose of ") : std::string()) + operand + " " + to_string(shape);
}

Product check(const Shape& x, const Shape& y, const MatmulOptions& options) {
    const auto side = [](const char* operand, const Shape& shape, bool transposed) {
        if (shape.rank() == 0)
            throw ShapeError(std::string("matmul: ") + operand + " is a scalar; it needs at least one axis");
        if (shape.rank() == 1 && transposed)
            throw ShapeError(std::string("matmul: ") + operand + " " + to_string(shape) +
                             " is a vector; only a matrix can be transposed");
    };
    side("x", x, options.transpose_x);
    side("y", y, options.transpose_y);
    const std::int64_t last_x = x[x.rank() - 1], before_x = x.rank() > 1 ? x[x.rank() - 2] : 1;
    const std::int64_t last_y = y.rank() > 1 ? y[y.rank() - 1] : 1, before_y = y[std::max(0, y.rank() - 2)];
    const Product p{options.transpose_x ? last_x : before_x, options.transpose_x ? before_x : last_x,
                    options.transpose_y ? before_y : last_y, options.transpose_x, options.transpose_y};
    if (p.k != (options.transpose_y ? last_y : before_y))
        throw ShapeError("matmul: inner sizes differ: " + name("x", x, options.transpose_x) + " by " +
                         name("y", y, options.transpose_y) + "; y needs " + std::to_string(p.k) +
                         (y.rank() == 1         ? " elements"
                          : options.transpose_y ? " columns"
                                                : " rows"));
    return p;
}

Shape stack_of(const Shape& x, const Shape& y) {
    const Shape a = leading(x), b = leading(y);
    for (int back = 1; back <= std::min(a.rank(), b.rank()); ++back) {
        const std::int64_t m = a[a.rank() - back], n = b[b.rank() - back];
        if (m != n && m != 1 && n != 1)
            throw ShapeError("matmul: stacks of matrices do not broadcast: x " + to_string(x) + " by y " +
                             to_string(y) + "; sizes before the last two must be equal or 1");
    }
    return broadcast("matmul", a, b);
}

// Every product of a stack.
template <Real T>
void forward_stack(Forward<T>& node, const Product& p) {
    const Tensor<T>&x = node.input(0), &y = node.input(1);
    T* z = node.value();
    const kernels::BroadcastPlan plan(leading(x.shape()), leading(y.shape()), stack_of(x.shape(), y.shape()));
    for_each_matrix(plan, Owner::out, p.flops(), [&](std::int64_t iz, std::int64_t ix, std::int64_t iy, bool) {
        multiply(p, x.data() + ix * p.n * p.k, y.data() + iy * p.k * p.m, z + iz * p.n * p.m);
    });
}

// Their derivatives; a fresh gradient is written, any other added to.
template <Real T>
void backward_stack(Backward<T>& b, const Product& p) {
    const Tensor<T>&x = b.input(0), &y = b.input(1);
    const T* g = b.grad();
    const kernels::BroadcastPlan plan(leading(x.shape()), leading(y.shape()), stack_of(x.shape(), y.shape()));
    const std::int64_t size_x = p.n * p.k, size_y = p.k * p.m, size_z = p.n * p.m;
    if (const GradientSlot<T> dx = b.slot(0)) {
        if (plan.size == 0 && dx.fresh) std::fill_n(dx.data, x.size(), T(0));
        for_each_matrix(plan, Owner::a, p.flops(), [&](std::int64_t iz, std::int64_t ix, std::int64_t iy, bool first) {
            const T beta = first && dx.fresh ? T(0) : T(1);
            multiply_dx(p, g + iz * size_z, y.data() + iy * size_y, beta, dx.data + ix * size_x);
        });
    }
    if (const GradientSlot<T> dy = b.slot(1)) {
        if (plan.size == 0 && dy.fresh) std::fill_n(dy.data, y.size(), T(0));
        for_each_matrix(plan, Owner::b, p.flops(), [&](std::int64_t iz, std::int64_t ix, std::int64_t iy, bool first) {
            const T beta = first && dy.fresh ? T(0) : T(1);
            multiply_dy(p, g + iz * size_z, x.data() + ix * size_x, beta, dy.data + iy * size_y);
        });
    }
}

}  // namespace

// Z = X Y        dL/dX += dL/dZ Y'        dL/dY += X' dL/dZ
//
// for every matrix of a stack; where an operand was repeated, the sum over its uses.
template <Real T>
Var<T> matmul(Var<T> x, Var<T> y, MatmulOptions options) {
    const Tensor<T>&a = x.value(), &b = y.value();
    Product p = check(a.shape(), b.shape(), options);
    const Shape stack = stack_of(a.shape(), b.shape());
    Shape shape = stack;
    if (a.rank() > 1) shape = with_axes(shape, {p.n});
    if (b.rank() > 1) shape = with_axes(shape, {p.m});

    // One matrix on the right for all: the stack on the left is one tall matrix.
    const bool tall = !options.transpose_x && p.k * p.m == b.size() && stack.size() * p.n * p.k == a.size();
    if (tall || stack.rank() == 0) {
        if (tall) p.n *= stack.size();
        const auto forward = [p](Forward<T>& node) {
            multiply(p, node.input(0).data(), node.input(1).data(), node.value());
        };
        return record("matmul", {x, y}, shape, forward, [p](Backward<T>& node) {
            if (const GradientSlot<T> dx = node.slot(0))
                multiply_dx(p, node.grad(), node.input(1).data(), dx.fresh ? T(0) : T(1), dx.data);
            if (const GradientSlot<T> dy = node.slot(1))
                multiply_dy(p, node.grad(), node.input(0).data(), dy.fresh ? T(0) : T(1), dy.data);
        });
    }
    return record(
        "matmul", {x, y}, shape, [p](Forward<T>& node) { forward_stack(node, p); },
        [p](Backward<T>& node) { backward_stack(node, p); });
}

template Var<float> matmul(Var<float>, Var<float>, MatmulOptions);
template Var<double> matmul(Var<double>, Var<double>, MatmulOptions);

}  // namespace pollen
