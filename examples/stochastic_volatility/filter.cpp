#include "filter.hpp"

#include <pollen/autograd/ops.hpp>

using namespace pollen;

namespace {

enum class Run { forwards, backwards };

// y_i = phi y_{i-1} + x_i; backwards the same from the last to the first.
void filter_numbers(const double* x, double phi, std::int64_t n, Run run, double* y) {
    double last = 0;
    for (std::int64_t k = 0; k < n; ++k) {
        const std::int64_t i = run == Run::forwards ? k : n - 1 - k;
        y[i] = last = phi * last + x[i];
    }
}

}  // namespace

// With g_i = dL/dy_i + phi g_{i+1}:   dL/dx_i = g_i,   dL/dphi = sum_i g_i y_{i-1}
Var<double> filter(Var<double> x, Var<double> phi) {
    const std::int64_t n = x.size();
    Tensor<double> y = x.state().empty(x.shape());
    filter_numbers(x.value().data(), phi.item(), n, Run::forwards, y.fresh_data());
    return record("filter", {x, phi}, std::move(y), [n](Backward<double>& node) {
        Tensor<double> held = node.scratch(node.value().shape());
        double* g = held.fresh_data();
        filter_numbers(node.grad(), node.input(1).item(), n, Run::backwards, g);
        double* dx = node.accumulate(0);
        double* dphi = node.accumulate(1);
        for (std::int64_t i = 0; dx && i < n; ++i) dx[i] += g[i];
        for (std::int64_t i = 1; dphi && i < n; ++i) *dphi += g[i] * node.value().data()[i - 1];
    });
}
