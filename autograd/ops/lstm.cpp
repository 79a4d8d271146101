#include <pollen/autograd/kernels/exp.hpp>
#include <pollen/autograd/ops/detail/recurrence.hpp>

namespace pollen {

namespace {

// What is kept of each step, a row for each: i, f, g, o and the cells c.
constexpr std::int64_t lstm_kept = 5;

// Without a way back the cells alone are kept, those of one step.
template <Real T>
void lstm_forward(Forward<T>& node, const Recurrence<T>& s, T* kept) {
    using kernels::Batch;
    const T* x = node.input(0).data();
    T* y = node.value();
    const Tensor<T> zeros = Tensor<T>::zeros(Shape{s.hidden});
    Tensor<T> products = node.scratch(Shape{s.items, s.width});
    Tensor<T> cells = node.scratch(Shape{kept ? 0 : s.items, s.hidden});
    T* last_cells = cells.fresh_data();
    s.forward(node.input(1).data(), y, products.fresh_data(), [&](std::int64_t item, std::int64_t step, const T* p) {
        const std::int64_t h = s.hidden;
        const T* gates = x + s.row(item, step) * s.width;
        T* keep = kept ? kept + s.kept_row(item, step) * lstm_kept * h : nullptr;
        T *cell = keep ? keep + 4 * h : last_cells + item * h, *state = y + s.row(item, step) * h;
        const T* before = step == 0 ? zeros.data() : keep ? cell - s.items * lstm_kept * h : cell;
        each_row_part<T>(h, [&](const RowPart<T>& part) {
            const auto gate = [&](std::int64_t k) { return part(gates + k * h) + part(p + k * h); };
            const Batch<T> i = kernels::sigmoid<T>(gate(0)), f = kernels::sigmoid<T>(gate(1));
            const Batch<T> g = kernels::tanh<T>(gate(2)), o = kernels::sigmoid<T>(gate(3));
            const Batch<T> c = kernels::multiply_add(f, part(before), Batch<T>(i * g));
            part.store(cell, c);
            part.store(state, o * kernels::tanh<T>(c));
            if (!keep) return;
            part.store(keep, i);
            part.store(keep + h, f);
            part.store(keep + 2 * h, g);
            part.store(keep + 3 * h, o);
        });
    });
}

template <Real T>
void lstm_backward(Backward<T>& b, const Recurrence<T>& s, const T* kept) {
    using kernels::Batch;
    const std::int64_t h = s.hidden, rows = s.items * s.steps;
    const T *y = b.value().data(), *dy = b.grad();
    const GradientSlot<T> dx = b.slot(0);
    const Tensor<T> zeros = Tensor<T>::zeros(Shape{h});
    Tensor<T> states = b.scratch(Shape{rows, h}), dp = b.scratch(Shape{rows, s.width});
    Tensor<T> dh = b.scratch(Shape{s.items, h}), dc = b.scratch(Shape{s.items, h});
    T *states_before = states.fresh_data(), *dcells = dc.fresh_data();
    std::fill_n(dcells, s.items * h, T(0));
    const auto row = [&](std::int64_t item, std::int64_t step, T* dstate, T* dproduct) {
        const std::int64_t at = s.row(item, step), kept_at = s.kept_row(item, step);
        const T *keep = kept + kept_at * lstm_kept * h, *before = s.before(y, zeros.data(), item, step);
        const T* cell_before = step == 0 ? zeros.data() : keep + 4 * h - s.items * lstm_kept * h;
        T *dgates = dx ? dx.data + at * s.width : nullptr, *copy = states_before + kept_at * h;
        T* dcell = dcells + item * h;
        each_row_part<T>(h, [&](const RowPart<T>& part) {
            const Batch<T> one(T(1)), i = part(keep), f = part(keep + h), g = part(keep + 2 * h),
                                      o = part(keep + 3 * h);
            const Batch<T> t = kernels::tanh<T>(part(keep + 4 * h)), u = part(dstate) + part(dy + at * h);
            const Batch<T> v = kernels::multiply_add(Batch<T>(u * o), Batch<T>(one - t * t), part(dcell));
            const Batch<T> d[] = {v * g * i * (one - i), v * part(cell_before) * f * (one - f), v * i * (one - g * g),
                                  u * t * o * (one - o)};
            part.store(copy, part(before));
            part.store(dcell, v * f);
            part.store(dstate, Batch<T>(T(0)));
            for (std::int64_t k = 0; k < 4; ++k) {
                part.store(dproduct + k * h, d[k]);
                if (dgates) part.give(dgates + k * h, dx.fresh, d[k]);
            }
        });
    };
    s.backward(b.input(1).data(), dh.fresh_data(), dp.fresh_data(), row);
    if (const GradientSlot<T> dw = b.slot(1)) s.backward_w(dp.data(), states.data(), dw);
}

}  // namespace

// For each step t, with h_0 = c_0 = 0 and p = x + w h_{t-1}, in which the gates i, f, g and o follow each other:
//
//     i = sigmoid(p_i)    f = sigmoid(p_f)    g = tanh(p_g)    o = sigmoid(p_o)
//     c_t = f c_{t-1} + i g        h_t = o tanh(c_t)
//
// Let u = dL/dh_t, from y and from the step after, and v = dL/dc_t.
//
//     v = u o (1 - tanh(c_t)^2) + what comes from the step after        dL/dc_{t-1} = v f
//     dL/dp_i = v g i (1 - i)    dL/dp_f = v c_{t-1} f (1 - f)    dL/dp_g = v i (1 - g^2)
//     dL/dp_o = u tanh(c_t) o (1 - o)
//     dL/dx = dL/dp        dL/dw += dL/dp h_{t-1}'        dL/dh_{t-1} = w' dL/dp
template <Real T>
Var<T> lstm(Var<T> x, Var<T> w) {
    const Recurrence<T> s = recurrence<T>("lstm", 4, x.shape(), w.shape());
    const bool keeps = x.needs_grad() || w.needs_grad();
    Tensor<T> kept = x.state().empty(keeps ? Shape{s.steps, s.items, lstm_kept * s.hidden} : Shape{0});
    T* numbers = keeps ? kept.fresh_data() : nullptr;
    return record(
        "lstm", {x, w}, Shape{s.items, s.steps, s.hidden},
        [s, kept, numbers](Forward<T>& node) { lstm_forward(node, s, numbers); },
        [s, kept, numbers](Backward<T>& b) { lstm_backward(b, s, numbers); });
}

template Var<float> lstm(Var<float>, Var<float>);
template Var<double> lstm(Var<double>, Var<double>);

}  // namespace pollen
