#pragma once

#include <pollen/autograd/kernels/gemm.hpp>
#include <pollen/autograd/kernels/map.hpp>
#include <pollen/autograd/ops.hpp>

#include <algorithm>
#include <string>

// What gru and lstm share: a loop over the steps of sequences. The states before a step go through one matrix product
// for all items; then the gates of each item are computed by themselves.
namespace pollen {

// A few numbers side by side, in a row of any length: the numbers from `at` on of whatever begins at p.
template <class T>
struct RowPart {
    std::int64_t at, count;
    kernels::Batch<T> operator()(const T* p) const {
        return count == kernels::lanes<T> ? kernels::Batch<T>::load_unaligned(p + at)
                                          : kernels::load_first_repeated(p + at, count);
    }
    void store(T* p, const kernels::Batch<T>& v) const {
        if (count == kernels::lanes<T>)
            v.store_unaligned(p + at);
        else
            kernels::store_first(p + at, v, count);
    }
    // To a gradient: written if nothing is there yet, else added.
    void give(T* p, bool fresh, const kernels::Batch<T>& v) const { store(p, fresh ? v : (*this)(p) + v); }
};

// f(part) for all parts of a row of n numbers.
template <class T, class F>
void each_row_part(std::int64_t n, const F& f) {
    for (std::int64_t at = 0; at < n; at += kernels::lanes<T>) f(RowPart<T>{at, std::min(n - at, kernels::lanes<T>)});
}

// x (items, steps, width) has the gates of each step, as far as the inputs say; y (items, steps, hidden) the states.
// What is kept for the way back lies step by step: rows 0, ..., items - 1 are those of step 0.
template <Real T>
struct Recurrence {
    std::int64_t items, steps, hidden, width;

    std::int64_t row(std::int64_t item, std::int64_t step) const { return item * steps + step; }
    std::int64_t kept_row(std::int64_t item, std::int64_t step) const { return step * items + item; }

    // y of the step before, zeros before the first one.
    const T* before(const T* y, const T* zeros, std::int64_t item, std::int64_t step) const {
        return step == 0 ? zeros : y + row(item, step - 1) * hidden;
    }

    // f(item, step, product) computes row (item, step) of y; product is w times the state before it.
    template <class F>
    void forward(const T* w, const T* y, T* products, const F& f) const {
        for (std::int64_t step = 0; step < steps; ++step) {
            if (step == 0)
                std::fill_n(products, items * width, T(0));
            else
                kernels::gemm(false, true, items, width, hidden, T(1), y + (step - 1) * hidden, steps * hidden, w,
                              hidden, T(0), products, width);
            each_item([&](std::int64_t item) { f(item, step, products + item * width); });
        }
    }

    // Steps in reverse: f(item, step, dh, dp) adds dL/dy to the row dh of dL/dh, which comes from the step after, and
    // computes the row dp of dL/d(product). It leaves in dh what goes to the state before without the product.
    template <class F>
    void backward(const T* w, T* dh, T* dp, const F& f) const {
        std::fill_n(dh, items * hidden, T(0));
        for (std::int64_t step = steps - 1; step >= 0; --step) {
            T* products = dp + step * items * width;
            each_item([&](std::int64_t item) { f(item, step, dh + item * hidden, products + item * width); });
            if (step > 0) kernels::gemm(false, false, items, hidden, width, T(1), products, w, T(1), dh);
        }
    }

    // dL/dw += dp' h, with the states h before the steps in the rows of dp. Those before the first step are zeros.
    void backward_w(const T* dp, const T* h, const GradientSlot<T>& dw) const {
        const std::int64_t rows = std::max<std::int64_t>(0, steps - 1) * items;
        kernels::gemm(true, false, width, hidden, rows, T(1), dp + items * width, h + items * hidden,
                      dw.fresh ? T(0) : T(1), dw.data);
    }

  private:
    template <class F>
    void each_item(const F& f) const {
        parallel_for(items, kernels::grain_for(width, kernels::map_grain / 4),
                     [&](std::int64_t begin, std::int64_t end) {
                         for (std::int64_t item = begin; item < end; ++item) f(item);
                     });
    }
};

// Checks the shapes of x and w for this number of gates.
template <Real T>
Recurrence<T> recurrence(const char* op, std::int64_t gates, const Shape& x, const Shape& w) {
    if (w.rank() != 2 || w[0] != gates * w[1])
        throw ShapeError(std::string(op) + ": w has shape " + to_string(w) + "; (" + std::to_string(gates) +
                         " hidden, hidden) is needed");
    if (x.rank() != 3 || x[2] != w[0])
        throw ShapeError(std::string(op) + ": x has shape " + to_string(x) + " for w " + to_string(w) +
                         "; (items, steps, " + std::to_string(w[0]) + ") is needed");
    return {x[0], x[1], w[1], w[0]};
}

}  // namespace pollen
