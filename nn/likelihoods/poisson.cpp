#include <pollen/nn/likelihoods/poisson.hpp>

#include <pollen/autograd/math.hpp>
#include <pollen/nn/distributions/poisson.hpp>
#include <pollen/nn/likelihoods/detail/targets.hpp>

namespace pollen {

namespace {

template <Real T>
const T* counts(const Shape& outputs, const Dataset<T>& batch) {
    check_outputs("Poisson", outputs);
    check_target_shape("Poisson", outputs, outputs, batch.targets);
    using kernels::Batch;
    check_targets("Poisson", batch.targets, "whole numbers from 0 up are needed",
                  [](const auto& y) { return y >= Batch<T>(T(0)) && xsimd::floor(y) == y && y - y == Batch<T>(T(0)); });
    return batch.targets.data();
}

}  // namespace

template <Real T>
Var<T> Poisson<T>::log_prob(Pass<T>&, Var<T> outputs, const Dataset<T>& batch) const {
    const Shape shape = outputs.shape();
    return distributions::PoissonLog<T>::lpdf_unchecked({ArgRef<T>(counts(shape, batch), shape), outputs});
}

template <Real T>
void Poisson<T>::check_data(const Shape& outputs, const Dataset<T>& data) const {
    counts(outputs, data);
}

template <Real T>
double Poisson<T>::score(const Tensor<T>& outputs, const Dataset<T>& batch) const {
    return sum_of_means(outputs.shape(), outputs.data(), counts(outputs.shape(), batch), [](double x, double y) {
        if (y == 0) return 2 * math::exp(x);
        const double d = x - math::log(y);
        return 2 * y * (math::expm1(d) - d);
    });
}

template <Real T>
double Poisson<T>::finish(double total, std::int64_t items) const {
    return total / static_cast<double>(items);
}

template class Poisson<float>;
template class Poisson<double>;

}  // namespace pollen
