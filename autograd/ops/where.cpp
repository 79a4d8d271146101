#include <pollen/autograd/ops/detail/elementwise.hpp>

namespace pollen {

namespace {

// An operand of the output's size, or one number for all elements.
template <class T>
struct StreamOrSplat {
    const T* data;
    bool moves;
    Batch<T> load(std::int64_t i) const { return moves ? Stream<T>{data}.load(i) : Batch<T>(*data); }
    Batch<T> load_part(std::int64_t i, std::int64_t n) const {
        return moves ? Stream<T>{data}.load_part(i, n) : Batch<T>(*data);
    }
    Batch<T> load_one() const { return Batch<T>(*data); }
    StreamOrSplat from(std::int64_t i) const { return {moves ? data + i : data, moves}; }
};

// The operand as it is, or repeated into `room` where it is neither of the output's size nor one number.
template <class T>
StreamOrSplat<T> operand(const Tensor<T>& x, const Shape& out, Pool& pool, Tensor<T>& room) {
    if (x.size() == 1 || x.size() == out.size()) return {x.data(), x.size() != 1};
    room = Tensor<T>::empty(out, pool);
    kernels::repeat_into(GradientSlot<T>{room.fresh_data(), true}, out, x.data(), x.shape());
    return {room.data(), true};
}

// dL/d(input k) += f(g, condition), summed over the axes along which the input was repeated
template <class T, class F>
void pass(Backward<T>& b, int k, const StreamOrSplat<T>& condition, const F& f) {
    if (!b.wants(k)) return;
    const Shape &out = b.value().shape(), &to = b.input(k).shape();
    if (to.size() == out.size()) return kernels::map_into(b.slot(k), out.size(), f, Stream<T>{b.grad()}, condition);
    Tensor<T> all = b.scratch(out);
    kernels::map(out.size(), all.fresh_data(), f, Stream<T>{b.grad()}, condition);
    kernels::sum_to(all.data(), out, b.slot(k), to);
}

}  // namespace

// z = x where the condition is not 0, else y        dL/dx += dL/dz there        dL/dy += dL/dz elsewhere
template <Real T>
Var<T> where(const Tensor<T>& condition, Var<T> x, Var<T> y) {
    auto forward = [condition = x.state().hold(condition)](Forward<T>& node) {
        const Shape& shape = node.shape();
        Tensor<T> rooms[3];
        kernels::map(
            shape.size(), node.value(), [](auto c, auto u, auto v) { return xsimd::select(c == Batch<T>(T(0)), v, u); },
            operand(condition, shape, node.pool(), rooms[0]), operand(node.input(0), shape, node.pool(), rooms[1]),
            operand(node.input(1), shape, node.pool(), rooms[2]));
    };
    const Shape out = broadcast("where", condition.shape(), broadcast("where", x.shape(), y.shape()));
    return record("where", {x, y}, out, std::move(forward), [condition](Backward<T>& node) {
        Tensor<T> room;
        const StreamOrSplat<T> c = operand(condition, node.value().shape(), node.pool(), room);
        const Batch<T> zero(T(0));
        pass(node, 0, c, [zero](auto g, auto chosen) { return xsimd::select(chosen == zero, zero, g); });
        pass(node, 1, c, [zero](auto g, auto chosen) { return xsimd::select(chosen == zero, g, zero); });
    });
}

template Var<float> where(const Tensor<float>&, Var<float>, Var<float>);
template Var<double> where(const Tensor<double>&, Var<double>, Var<double>);

}  // namespace pollen
