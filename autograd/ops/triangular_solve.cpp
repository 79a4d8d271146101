#include <pollen/autograd/kernels/gemm.hpp>
#include <pollen/autograd/kernels/triangular.hpp>
#include <pollen/autograd/ops.hpp>
#include <pollen/autograd/ops/detail/matrix_stacks.hpp>

#include <string>

namespace pollen {

namespace {

struct System {
    std::int64_t n, columns;
    TriangularSolveOptions options;

    double flops() const { return static_cast<double>(n) * static_cast<double>(n) * static_cast<double>(columns); }

    // X = A^-1 X, or A'^-1 X where exactly one of options.transpose and `transposed` is set.
    template <Real T>
    void solve(const T* a, T* x, bool transposed) const {
        kernels::triangular_solve(options.lower ? kernels::Triangle::lower : kernels::Triangle::upper,
                                  options.transpose != transposed, options.unit_diagonal, n, columns, a, n, x, columns);
    }
};

System check(const Shape& a, const Shape& b, const TriangularSolveOptions& options) {
    if (a.rank() < 2 || a[a.rank() - 1] != a[a.rank() - 2])
        throw ShapeError("triangular_solve: a " + to_string(a) + "; the last two sizes must be equal");
    const std::int64_t n = a[a.rank() - 1];
    if (b.rank() == 0 || b[std::max(0, b.rank() - 2)] != n)
        throw ShapeError("triangular_solve: sizes differ: a " + to_string(a) + " and b " + to_string(b) + "; b needs " +
                         std::to_string(n) + (b.rank() <= 1 ? " elements" : " rows"));
    return {n, b.rank() == 1 ? 1 : b[b.rank() - 1], options};
}

Shape stack_of(const Shape& a, const Shape& b) {
    const Shape p = leading(a), q = leading(b);
    for (int back = 1; back <= std::min(p.rank(), q.rank()); ++back) {
        const std::int64_t m = p[p.rank() - back], n = q[q.rank() - back];
        if (m != n && m != 1 && n != 1)
            throw ShapeError("triangular_solve: stacks of matrices do not broadcast: a " + to_string(a) + " and b " +
                             to_string(b) + "; sizes before the last two must be equal or 1");
    }
    return broadcast("triangular_solve", p, q);
}

kernels::BroadcastPlan plan_of(const Shape& a, const Shape& b) {
    return kernels::BroadcastPlan(leading(a), leading(b), stack_of(a, b));
}

// x = A^-1 x for every right-hand side of a stack.
template <Real T>
void solve_all(const System& system, const kernels::BroadcastPlan& plan, const T* a, T* x, bool transposed) {
    for_each_matrix(plan, Owner::out, system.flops(), [&](std::int64_t i, std::int64_t ia, std::int64_t, bool) {
        system.solve(a + ia * system.n * system.n, x + i * system.n * system.columns, transposed);
    });
}

// dA = -H y', or its transpose -y H', in the triangle that was read
template <Real T>
void collect_da(const System& system, const kernels::BroadcastPlan& plan, const T* h, const T* y,
                const GradientSlot<T>& slot, std::int64_t size, T* room) {
    const std::int64_t n = system.n, m = system.columns;
    if (plan.size == 0) std::fill_n(room, size, T(0));
    for_each_matrix(plan, Owner::a, 2 * system.flops(), [&](std::int64_t i, std::int64_t ia, std::int64_t, bool first) {
        const T *left = h + i * n * m, *right = y + i * n * m;
        if (system.options.transpose) std::swap(left, right);
        kernels::gemm(false, true, n, n, m, T(-1), left, right, first ? T(0) : T(1), room + ia * n * n);
    });
    for (std::int64_t row = 0; row < size / std::max<std::int64_t>(1, n); ++row) {
        const std::int64_t i = row % n, diagonal = system.options.unit_diagonal ? 0 : 1;
        const std::int64_t begin = system.options.lower ? 0 : i + 1 - diagonal,
                           end = system.options.lower ? i + diagonal : n;
        const T* from = room + row * n;
        T* to = slot.data + row * n;
        if (slot.fresh) {
            std::fill_n(to, begin, T(0));
            std::copy(from + begin, from + end, to + begin);
            std::fill_n(to + end, n - end, T(0));
        } else {
            for (std::int64_t j = begin; j < end; ++j) to[j] += from[j];
        }
    }
}

}  // namespace

// A y = b        dL/db += H        dL/dA += -H y', as far as A was read        H = A'^-1 dL/dy
template <Real T>
Var<T> triangular_solve(Var<T> a, Var<T> b, TriangularSolveOptions options) {
    const Shape &matrix = a.shape(), &right = b.shape();
    const System system = check(matrix, right, options);
    const Shape stack = stack_of(matrix, right);
    const Shape shape = right.rank() == 1 ? with_axes(stack, {system.n}) : with_axes(stack, {system.n, system.columns});
    const auto forward = [system](Forward<T>& node) {
        const Tensor<T>&u = node.input(0), &v = node.input(1);
        kernels::repeat_into(GradientSlot<T>{node.value(), true}, node.shape(), v.data(), v.shape());
        solve_all(system, plan_of(u.shape(), v.shape()), u.data(), node.value(), false);
    };
    return record("triangular_solve", {a, b}, shape, forward, [system](Backward<T>& node) {
        const Tensor<T>&u = node.input(0), &v = node.input(1), &w = node.value();
        const kernels::BroadcastPlan plan = plan_of(u.shape(), v.shape());
        Tensor<T> h = node.scratch(w.shape());
        std::copy_n(node.grad(), w.size(), h.fresh_data());
        solve_all(system, plan, u.data(), h.fresh_data(), true);
        if (const GradientSlot<T> da = node.slot(0)) {
            Tensor<T> room = node.scratch(u.shape());
            collect_da(system, plan, h.data(), w.data(), da, u.size(), room.fresh_data());
        }
        kernels::sum_to(h.data(), w.shape(), node.slot(1), v.shape());
    });
}

template Var<float> triangular_solve(Var<float>, Var<float>, TriangularSolveOptions);
template Var<double> triangular_solve(Var<double>, Var<double>, TriangularSolveOptions);

}  // namespace pollen
