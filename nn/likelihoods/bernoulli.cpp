#include <pollen/nn/likelihoods/bernoulli.hpp>

#include <pollen/nn/distributions/bernoulli.hpp>
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
                  [](const auto& y) { return y == kernels::Batch<T>(T(0)) || y == kernels::Batch<T>(T(1)); });
    return batch.targets.data();
}

}  // namespace

template <Real T>
Var<T> Bernoulli<T>::log_prob(Pass<T>&, Var<T> outputs, const Dataset<T>& batch) const {
    Tensor<T> room;
    const Shape shape = outputs.shape();
    const ArgRef<T> targets(zeros_and_ones(shape, batch, room), shape);
    return distributions::Bernoulli<T>::lpdf_unchecked({targets, outputs});
}

template <Real T>
void Bernoulli<T>::check_data(const Shape& outputs, const Dataset<T>& data) const {
    Tensor<T> room;
    zeros_and_ones(outputs, data, room);
}

template <Real T>
double Bernoulli<T>::score(const Tensor<T>& outputs, const Dataset<T>& batch) const {
    Tensor<T> room;
    const T* targets = zeros_and_ones(outputs.shape(), batch, room);
    return sum_of_means(outputs.shape(), outputs.data(), targets,
                        [](double x, double y) { return (x > 0) == (y > 0) ? 1.0 : 0.0; });
}

template <Real T>
double Bernoulli<T>::finish(double total, std::int64_t items) const {
    return total / static_cast<double>(items);
}

template class Bernoulli<float>;
template class Bernoulli<double>;

}  // namespace pollen
