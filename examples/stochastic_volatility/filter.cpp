#include "filter.hpp"

#include <pollen/autograd/ops.hpp>

using namespace pollen;

// With g_i = dL/dy_i + phi_{i+1} g_{i+1}:   dL/dx_i = g_i,   dL/dphi_i = g_i y_{i-1}, summed if phi is one number
Var<double> filter(Var<double> x, Var<double> phi) {
    const std::int64_t n = x.size(), each = phi.size() == 1 ? 0 : 1;
    Tensor<double> held = x.state().empty(x.shape());
    double* y = held.fresh_data();
    double last = 0;
    for (std::int64_t i = 0; i < n; ++i) y[i] = last = phi.value().data()[i * each] * last + x.value().data()[i];
    return record("filter", {x, phi}, std::move(held), [n, each](Backward<double>& node) {
        const double* const p = node.input(1).data();
        double* dx = node.accumulate(0);
        double* dphi = node.accumulate(1);
        double g = 0;
        for (std::int64_t i = n - 1; i >= 0; --i) {
            g = node.grad()[i] + (i + 1 < n ? p[(i + 1) * each] * g : 0);
            if (dx) dx[i] += g;
            if (dphi && i > 0) dphi[i * each] += g * node.value().data()[i - 1];
        }
    });
}
