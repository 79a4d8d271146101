#include <pollen/nn/likelihoods/bernoulli.hpp>

#include <pollen/autograd/kernels/log.hpp>
#include <pollen/nn/likelihoods/detail/pointwise.hpp>
#include <pollen/nn/likelihoods/detail/targets.hpp>

namespace pollen {

namespace {

// The targets as numbers: the batch's own, or made of its labels in `room`.
template <Real T>
const T* zeros_and_ones(const Shape& outputs, const Dataset<T>& batch, Tensor<T>& room) {
    check_outputs("Bernoulli", outputs);
    if (is_missing(batch.targets) && !is_missing(batch.labels)) {
        if (!same_numbers(outputs, batch.labels.shape()))
            throw ShapeError("Bernoulli: outputs have shape " + to_string(outputs) + ", labels " +
                             to_string(batch.labels.shape()) + "; one output and one label for each item are needed");
        room = Tensor<T>::empty(outputs);
        for (std::int64_t i = 0; i < outputs.size(); ++i) {
            const std::int32_t label = batch.labels.data()[i];
            if (label != 0 && label != 1)
                throw ValueError("Bernoulli: the label of item " + std::to_string(i) + " is " + std::to_string(label) +
                                 "; 0 or 1 is needed");
            room.fresh_data()[i] = static_cast<T>(label);
        }
        return room.data();
    }
    check_target_shape("Bernoulli", outputs, outputs, batch.targets);
    check_targets("Bernoulli", batch.targets, "0 or 1 is needed",
                  [](const auto& y) { return y == Batch<T>(T(0)) || y == Batch<T>(T(1)); });
    return batch.targets.data();
}

}  // namespace

// With v = x where y is 1 and -x where it is 0:
//     log p = -log(1 + exp(-v)) = min(v, 0) - log(1 + exp(-|v|))        dlog p/dv = 1 / (1 + exp(v))
template <Real T>
Var<T> Bernoulli<T>::log_prob(Pass<T>&, Var<T> outputs, const Dataset<T>& batch) const {
    Tensor<T> room;
    const T* targets = zeros_and_ones(outputs.shape(), batch, room);
    const auto sign = [](const Batch<T>& y) { return y + y - Batch<T>(T(1)); };
    return pointwise(
        "bernoulli", outputs, targets,
        [sign](const Batch<T>& x, const Batch<T>& y) {
            const Batch<T> v = sign(y) * x, zero(T(0));
            return xsimd::select(v < zero, v, zero) - kernels::log1p_exp_minus_abs(v);
        },
        [sign](const Batch<T>& x, const Batch<T>& y) { return sign(y) * kernels::sigmoid<T>(-sign(y) * x); });
}

template <Real T>
double Bernoulli<T>::score(const Tensor<T>& outputs, const Dataset<T>& batch) const {
    Tensor<T> room;
    const T* targets = zeros_and_ones(outputs.shape(), batch, room);
    return sum_of_means(outputs.shape(), outputs.data(), targets,
                        [](double x, double y) { return (x > 0) == (y > 0) ? 1.0 : 0.0; });
}

template class Bernoulli<float>;
template class Bernoulli<double>;

}  // namespace pollen
