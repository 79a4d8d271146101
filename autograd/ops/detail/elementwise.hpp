#pragma once

#include <pollen/autograd/kernels/broadcast.hpp>
#include <pollen/autograd/ops.hpp>

// The two patterns that most ops are made of. An op gives its formula and its derivative as callables on SIMD batches;
// memory, threads, broadcasting and accumulation are done here, once.
namespace pollen {

using kernels::Batch;
using kernels::Splat;
using kernels::Stream;

// y = f(x);  dL/dx += d(g, x, y) with g = dL/dy
template <Real T, class F, class D>
Var<T> unary(const char* name, Var<T> x, F f, D d) {
    TapeState<T>& tape = x.state();
    const Tensor<T>& in = tape.node(x.index()).value;
    Tensor<T> y = tape.empty(in.shape());
    kernels::map(in.size(), y.fresh_data(), f, Stream<T>{in.data()});
    return tape.record(name, std::span<const Var<T>>(&x, 1), std::move(y), [d](Backward<T>& b) {
        const Tensor<T>& out = b.value();
        kernels::map_into(b.slot(0), out.size(), d, Stream<T>{b.grad()}, Stream<T>{b.input(0).data()},
                          Stream<T>{out.data()});
    });
}

// z = f(x, y) with broadcasting;  dL/dx += dx(x, y, g, z),  dL/dy += dy(x, y, g, z)  with g = dL/dz, summed over the
// axes along which the operand was repeated
template <Real T, class F, class DX, class DY>
Var<T> binary(const char* name, Var<T> x, Var<T> y, F f, DX dx, DY dy) {
    const Tensor<T>&a = x.value(), &b = y.value();
    if (a.shape() == b.shape()) {
        Tensor<T> z = x.state().empty(a.shape());
        kernels::map(a.size(), z.fresh_data(), f, Stream<T>{a.data()}, Stream<T>{b.data()});
        return record(name, {x, y}, std::move(z), [dx, dy](Backward<T>& node) {
            const Stream<T> u{node.input(0).data()}, v{node.input(1).data()}, g{node.grad()}, w{node.value().data()};
            const std::int64_t n = node.value().size();
            kernels::map_into(node.slot(0), n, dx, u, v, g, w);
            kernels::map_into(node.slot(1), n, dy, u, v, g, w);
        });
    }
    const Shape out = broadcast(name, a.shape(), b.shape());
    const kernels::BroadcastPlan plan(a.shape(), b.shape(), out);
    Tensor<T> z = x.state().empty(out);
    kernels::map_broadcast(plan, z.fresh_data(), f, a.data(), b.data());
    return record(name, {x, y}, std::move(z), [dx, dy](Backward<T>& node) {
        const Tensor<T>&u = node.input(0), &v = node.input(1), &w = node.value();
        const kernels::BroadcastPlan same_plan(u.shape(), v.shape(), w.shape());
        kernels::map_broadcast_into(node.slot(0), u.shape(), same_plan, w.shape(), node.pool(), dx, u.data(), v.data(),
                                    node.grad(), w.data());
        kernels::map_broadcast_into(node.slot(1), v.shape(), same_plan, w.shape(), node.pool(), dy, u.data(), v.data(),
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
