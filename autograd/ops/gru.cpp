#include <pollen/autograd/kernels/exp.hpp>
#include <pollen/autograd/kernels/reduce.hpp>
#include <pollen/autograd/ops/detail/recurrence.hpp>

namespace pollen {

namespace {

// What is kept of each step, a row for each: r, z, n and q.
constexpr std::int64_t gru_kept = 4;

template <Real T>
void gru_forward(Forward<T>& node, const Recurrence<T>& s, T* kept) {
    using kernels::Batch;
    const T *x = node.input(0).data(), *bias = node.input(2).data();
    T* y = node.value();
    const Tensor<T> zeros = Tensor<T>::zeros(Shape{s.hidden});
    Tensor<T> products = node.scratch(Shape{s.items, s.width});
    s.forward(node.input(1).data(), y, products.fresh_data(), [&](std::int64_t item, std::int64_t step, const T* p) {
        const std::int64_t h = s.hidden;
        const T *gates = x + s.row(item, step) * s.width, *before = s.before(y, zeros.data(), item, step);
        T *state = y + s.row(item, step) * h, *keep = kept ? kept + s.kept_row(item, step) * gru_kept * h : nullptr;
        each_row_part<T>(h, [&](const RowPart<T>& part) {
            const Batch<T> r = kernels::sigmoid<T>(part(gates) + part(p));
            const Batch<T> z = kernels::sigmoid<T>(part(gates + h) + part(p + h));
            const Batch<T> q = part(p + 2 * h) + part(bias);
            const Batch<T> n = kernels::tanh<T>(kernels::multiply_add(r, q, part(gates + 2 * h)));
            part.store(state, kernels::multiply_add(z, Batch<T>(part(before) - n), n));
            if (!keep) return;
            part.store(keep, r);
            part.store(keep + h, z);
            part.store(keep + 2 * h, n);
            part.store(keep + 3 * h, q);
        });
    });
}

template <Real T>
void gru_backward(Backward<T>& b, const Recurrence<T>& s, const T* kept) {
    using kernels::Batch;
    const std::int64_t h = s.hidden, rows = s.items * s.steps;
    const T *y = b.value().data(), *dy = b.grad();
    const GradientSlot<T> dx = b.slot(0);
    const Tensor<T> zeros = Tensor<T>::zeros(Shape{h});
    Tensor<T> states = b.scratch(Shape{rows, h}), dh = b.scratch(Shape{s.items, h}),
              dp = b.scratch(Shape{rows, s.width});
    T* states_before = states.fresh_data();
    const auto row = [&](std::int64_t item, std::int64_t step, T* dstate, T* dproduct) {
        const std::int64_t at = s.row(item, step), kept_at = s.kept_row(item, step);
        const T *keep = kept + kept_at * gru_kept * h, *before = s.before(y, zeros.data(), item, step);
        T *dgates = dx ? dx.data + at * s.width : nullptr, *copy = states_before + kept_at * h;
        each_row_part<T>(h, [&](const RowPart<T>& part) {
            const Batch<T> one(T(1)), r = part(keep), z = part(keep + h), n = part(keep + 2 * h),
                                      q = part(keep + 3 * h);
            const Batch<T> past = part(before), g = part(dstate) + part(dy + at * h);
            const Batch<T> dn = g * (one - z) * (one - n * n);
            const Batch<T> dr = dn * q * r * (one - r), dz = g * (past - n) * z * (one - z);
            part.store(copy, past);
            part.store(dstate, g * z);
            part.store(dproduct, dr);
            part.store(dproduct + h, dz);
            part.store(dproduct + 2 * h, dn * r);
            if (!dgates) return;
            part.give(dgates, dx.fresh, dr);
            part.give(dgates + h, dx.fresh, dz);
            part.give(dgates + 2 * h, dx.fresh, dn);
        });
    };
    s.backward(b.input(1).data(), dh.fresh_data(), dp.fresh_data(), row);
    if (const GradientSlot<T> dw = b.slot(1)) s.backward_w(dp.data(), states.data(), dw);
    if (const GradientSlot<T> dbias = b.slot(2)) {
        Tensor<T> sums = b.scratch(Shape{s.width});
        kernels::sum_to(dp.data(), Shape{rows, s.width}, {sums.fresh_data(), true}, Shape{1, s.width});
        const kernels::Stream<T> of_q{sums.data() + 2 * h};
        kernels::map_into(dbias, h, kernels::Keep{}, of_q);
    }
}

}  // namespace

// For each step t, with h_0 = 0, gates x = (x_r, x_z, x_n) and w = (w_r, w_z, w_n):
//
//     r = sigmoid(x_r + w_r h_{t-1})        q = w_n h_{t-1} + bias
//     z = sigmoid(x_z + w_z h_{t-1})        n = tanh(x_n + r q)        h_t = (1 - z) n + z h_{t-1}
//
// Let g = dL/dh_t, from y and from the step after.
//
//     dL/dx_n = g (1 - z) (1 - n^2)        dL/dq = dL/dx_n r
//     dL/dx_r = dL/dx_n q r (1 - r)        dL/dx_z = g (h_{t-1} - n) z (1 - z)
//     dL/dw += (dL/dx_r, dL/dx_z, dL/dq) h_{t-1}'        dL/dbias += dL/dq
//     dL/dh_{t-1} = g z + w' (dL/dx_r, dL/dx_z, dL/dq)
template <Real T>
Var<T> gru(Var<T> x, Var<T> w, Var<T> bias) {
    const Recurrence<T> s = recurrence<T>("gru", 3, x.shape(), w.shape());
    if (bias.shape() != Shape{s.hidden})
        throw ShapeError("gru: bias has shape " + to_string(bias.shape()) + " for w " + to_string(w.shape()) + "; (" +
                         std::to_string(s.hidden) + ") is needed");
    const bool keeps = x.needs_grad() || w.needs_grad() || bias.needs_grad();
    Tensor<T> kept = x.state().empty(keeps ? Shape{s.steps, s.items, gru_kept * s.hidden} : Shape{0});
    T* numbers = keeps ? kept.fresh_data() : nullptr;
    return record(
        "gru", {x, w, bias}, Shape{s.items, s.steps, s.hidden},
        [s, kept, numbers](Forward<T>& node) { gru_forward(node, s, numbers); },
        [s, kept, numbers](Backward<T>& b) { gru_backward(b, s, numbers); });
}

template Var<float> gru(Var<float>, Var<float>, Var<float>);
template Var<double> gru(Var<double>, Var<double>, Var<double>);

}  // namespace pollen
