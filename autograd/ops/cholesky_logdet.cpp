#include <pollen/autograd/math.hpp>
#include <pollen/autograd/ops.hpp>
#include <pollen/autograd/ops/detail/matrix_stacks.hpp>

#include <string>

namespace pollen {

// y = 2 sum_i log L_ii        dL/dL_ii += 2 dL/dy / L_ii
template <Real T>
Var<T> cholesky_logdet(Var<T> l) {
    const Shape& shape = l.shape();
    if (shape.rank() < 2 || shape[shape.rank() - 1] != shape[shape.rank() - 2])
        throw ShapeError("cholesky_logdet: l " + to_string(shape) + "; the last two sizes must be equal");
    const std::int64_t n = shape[shape.rank() - 1];
    const auto forward = [n](Forward<T>& node) {
        const T* diagonal = node.input(0).data();
        for (std::int64_t k = 0; k < node.shape().size(); ++k) {
            T sum = 0;
            for (std::int64_t i = 0; i < n; ++i) sum += math::log(diagonal[(k * n + i) * n + i]);
            node.value()[k] = 2 * sum;
        }
    };
    return record("cholesky_logdet", {l}, leading(shape), forward, [n](Backward<T>& b) {
        T* dl = b.accumulate(0);
        if (!dl) return;
        const T *diagonal = b.input(0).data(), *g = b.grad();
        for (std::int64_t k = 0; k < b.value().size(); ++k)
            for (std::int64_t i = 0; i < n; ++i) dl[(k * n + i) * n + i] += 2 * g[k] / diagonal[(k * n + i) * n + i];
    });
}

template Var<float> cholesky_logdet(Var<float>);
template Var<double> cholesky_logdet(Var<double>);

}  // namespace pollen
