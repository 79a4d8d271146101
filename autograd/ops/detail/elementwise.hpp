#pragma once

#include <pollen/autograd/kernels/broadcast.hpp>
#include <pollen/autograd/ops.hpp>

// The patterns that most ops are made of. An op gives its formula and its derivative as callables on SIMD batches;
// memory, threads, broadcasting and accumulation are done here, once.
namespace pollen {

using kernels::Batch;
using kernels::Splat;
using kernels::Stream;

// The node of an op with one input: evaluate(in, tape, y) writes the value, now and in every replay.
template <Real T, class E, class B>
Var<T> apply(const char* name, Var<T> x, const Shape& shape, const E& evaluate, B&& backward) {
    TapeState<T>& tape = x.state();
    Tensor<T> y = tape.empty(shape);
    evaluate(tape.node(x.index()).value, tape, y.fresh_data());
    return tape.record(
        name, std::span<const Var<T>>(&x, 1), std::move(y),
        [evaluate](Forward<T>& node) { evaluate(node.input(0), node.state(), node.value()); },
        std::forward<B>(backward));
}

// y = f(x);  dL/dx += d(g, x, y) with g = dL/dy
template <Real T, class F, class D>
Var<T> unary(const char* name, Var<T> x, F f, D d) {
    return apply(
        name, x, x.shape(),
        [f](const Tensor<T>& in, TapeState<T>&, T* y) { kernels::map(in.size(), y, f, Stream<T>{in.data()}); },
        [d](Backward<T>& node) {
            const Tensor<T>& out = node.value();
            kernels::map_into(node.slot(0), out.size(), d, Stream<T>{node.grad()}, Stream<T>{node.input(0).data()},
                              Stream<T>{out.data()});
        });
}

// z = f(x, y) with broadcasting;  dL/dx += dx(x, y, g, z),  dL/dy += dy(x, y, g, z)  with g = dL/dz, summed over the
// axes along which the operand was repeated
template <Real T, class F, class DX, class DY>
Var<T> binary(const char* name, Var<T> x, Var<T> y, F f, DX dx, DY dy) {
    const Tensor<T>&a = x.value(), &b = y.value();
    if (a.shape() == b.shape()) {
        const auto evaluate = [f](const Tensor<T>& u, const Tensor<T>& v, T* z) {
            kernels::map(u.size(), z, f, Stream<T>{u.data()}, Stream<T>{v.data()});
        };
        Tensor<T> z = x.state().empty(a.shape());
        evaluate(a, b, z.fresh_data());
        return record(
            name, {x, y}, std::move(z),
            [evaluate](Forward<T>& node) { evaluate(node.input(0), node.input(1), node.value()); },
            [dx, dy](Backward<T>& node) {
                const Stream<T> u{node.input(0).data()}, v{node.input(1).data()}, g{node.grad()},
                    w{node.value().data()};
                const std::int64_t n = node.value().size();
                kernels::map_into(node.slot(0), n, dx, u, v, g, w);
                kernels::map_into(node.slot(1), n, dy, u, v, g, w);
            });
    }
    const auto evaluate = [f](const Tensor<T>& u, const Tensor<T>& v, const Shape& shape, T* z) {
        const kernels::BroadcastPlan plan(u.shape(), v.shape(), shape);
        kernels::map_broadcast(plan, z, f, u.data(), v.data());
    };
    const Shape out = broadcast(name, a.shape(), b.shape());
    Tensor<T> z = x.state().empty(out);
    evaluate(a, b, out, z.fresh_data());
    return record(
        name, {x, y}, std::move(z),
        [evaluate](Forward<T>& node) { evaluate(node.input(0), node.input(1), node.shape(), node.value()); },
        [dx, dy](Backward<T>& node) {
            const Tensor<T>&u = node.input(0), &v = node.input(1), &w = node.value();
            const kernels::BroadcastPlan plan(u.shape(), v.shape(), w.shape());
            kernels::map_broadcast_into(node.slot(0), u.shape(), plan, w.shape(), node.pool(), dx, u.data(), v.data(),
                                        node.grad(), w.data());
            kernels::map_broadcast_into(node.slot(1), v.shape(), plan, w.shape(), node.pool(), dy, u.data(), v.data(),
                                        node.grad(), w.data());
        });
}

}  // namespace pollen

// For a function template with one Var, or two, as arguments: its float and double versions.
#define POLLEN_INSTANTIATE_UNARY(op)    \
    template Var<float> op(Var<float>); \
    template Var<double> op(Var<double>);
#define POLLEN_INSTANTIATE_BINARY(op)               \
    template Var<float> op(Var<float>, Var<float>); \
    template Var<double> op(Var<double>, Var<double>);
