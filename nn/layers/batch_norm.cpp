#include <pollen/nn/layers/batch_norm.hpp>

#include <pollen/autograd/support/checks.hpp>
#include <pollen/data/io/detail/hash_text.hpp>
#include <pollen/nn/module/walk.hpp>

#include <cmath>

namespace pollen {

namespace {

// (1 - momentum) old + momentum next
template <Real T>
Tensor<T> moved_towards(const Tensor<T>& old, const Tensor<T>& next, double momentum, double factor) {
    Tensor<T> result = Tensor<T>::empty(old.shape());
    T* to = result.fresh_data();
    for (std::int64_t k = 0; k < old.size(); ++k) {
        const double from = static_cast<double>(old.data()[k]), value = static_cast<double>(next.data()[k]) * factor;
        to[k] = static_cast<T>(from + momentum * (value - from));
    }
    return result;
}

}  // namespace

template <Real T>
BatchNorm<T>::BatchNorm(std::int64_t features, BatchNormOptions options) : options_(options) {
    check_sizes("BatchNorm", {{"features", features}});
    if (!(options.momentum >= 0 && options.momentum <= 1))
        throw ValueError("BatchNorm: momentum is " + to_text(options.momentum) + "; it must be from 0 to 1");
    if (!(options.epsilon > 0 && std::isfinite(options.epsilon)))
        throw ValueError("BatchNorm: epsilon is " + to_text(options.epsilon) + "; it must be positive and finite");
    scale = {.shape = {features}, .init = Init::constant(1)};
    shift = {.shape = {features}};
    running_mean = {.shape = {features}, .statistic = true};
    running_variance = {.shape = {features}, .init = Init::constant(1), .statistic = true};
}

template <Real T>
void BatchNorm<T>::check(const Shape& x) const {
    if (x.rank() < 2 || x[1] != scale.shape[0])
        throw ShapeError("BatchNorm: x " + to_string(x) + "; (n, " + std::to_string(scale.shape[0]) + ") or (n, " +
                         std::to_string(scale.shape[0]) + ", ...) is needed");
}

// centred / sqrt(variance + epsilon) scale + shift
template <Real T>
Var<T> BatchNorm<T>::scaled(Pass<T>& pass, Var<T> centred, Var<T> variance) const {
    const std::int64_t features = scale.shape[0];
    const Var<T> inverse_sd = pow(variance + options_.epsilon, T(-0.5));
    const Var<T> factor = inverse_sd * reshape(pass(scale), {features, 1});
    const Var<T> product = centred * factor;
    return product + reshape(pass(shift), {features, 1});
}

// x is (n, features, positions). Puts the next running statistics into the pass.
template <Real T>
Var<T> BatchNorm<T>::train(Pass<T>& pass, Var<T> x) const {
    const std::int64_t count = x.shape()[0] * x.shape()[2];
    if (count < 2)
        throw ValueError("BatchNorm: a batch has " + std::to_string(count) + (count == 1 ? " number" : " numbers") +
                         " for each feature; training needs at least 2");
    const Var<T> average = mean(x, {0, 2}, true), centred = x - average;
    const Var<T> variance = mean(square(centred), {0, 2}, true);
    const auto n = static_cast<double>(count);
    pass.set_statistic(running_mean,
                       moved_towards(pass.statistic(running_mean), average.value(), options_.momentum, 1));
    pass.set_statistic(running_variance, moved_towards(pass.statistic(running_variance), variance.value(),
                                                       options_.momentum, n / (n - 1)));
    return scaled(pass, centred, variance);
}

template <Real T>
Var<T> BatchNorm<T>::forward(Pass<T>& pass, Var<T> x) const {
    const Shape shape = x.shape();
    check(shape);
    const std::int64_t features = shape[1];
    std::int64_t positions = 1;
    for (int axis = 2; axis < shape.rank(); ++axis) positions *= shape[axis];
    const Var<T> columns = reshape(x, {shape[0], features, positions});
    if (pass.mode() == Mode::train && !frozen_) return reshape(train(pass, columns), shape);

    const auto statistic = [&](const Parameter<T>& p) {
        return reshape(frozen_ ? constant_like(x, p.value) : pass(p).detach(), {features, 1});
    };
    const Var<T> average = statistic(running_mean), variance = statistic(running_variance);
    for (std::int64_t k = 0; k < features; ++k) {
        const auto value = static_cast<double>(variance.value().data()[k]);
        if (!(value >= 0))
            throw ValueError("BatchNorm: the running variance of feature " + std::to_string(k) + " is " +
                             to_text(value) + "; it must not be negative. If theta was drawn from a law, freeze the " +
                             "layer before the law is made");
    }
    return reshape(scaled(pass, columns - average, variance), shape);
}

template <Real T>
void BatchNorm<T>::freeze() {
    if (!running_mean.has_value() || !running_variance.has_value())
        throw ValueError(
            "BatchNorm: there are no running statistics to freeze; call initialise(), load() or train() "
            "first");
    frozen_ = true;
}

template <Real T>
std::string BatchNorm<T>::describe() const {
    return call("BatchNorm", scale.shape[0]) + (frozen_ ? ", frozen" : "");
}

template <Real T>
std::string BatchNorm<T>::details() const {
    const std::string text = describe() + " with epsilon " + to_text(options_.epsilon);
    if (!frozen_) return text + " and momentum " + to_text(options_.momentum);
    return text + " at " + detail::hash_text(running_mean.value) + " and " + detail::hash_text(running_variance.value);
}

template <Real T>
void BatchNorm<T>::put_structure(TensorFile& file, const std::string& prefix) const {
    if (!frozen_) return;
    file.set(prefix + "running_mean", running_mean.value);
    file.set(prefix + "running_variance", running_variance.value);
}

template <Real T>
std::vector<std::string> BatchNorm<T>::get_structure(TensorFile& file, const std::string& prefix) {
    if (!frozen_) return {};
    running_mean.value = file.get<T>(prefix + "running_mean", running_mean.shape);
    running_variance.value = file.get<T>(prefix + "running_variance", running_variance.shape);
    return {prefix + "running_mean", prefix + "running_variance"};
}

template <Real T>
void freeze_batch_norm(Module<T>& net) {
    each_module(net, [](const std::string&, Module<T>& module) {
        if (auto* layer = dynamic_cast<BatchNorm<T>*>(&module)) layer->freeze();
        return true;
    });
}

template class BatchNorm<float>;
template class BatchNorm<double>;
template void freeze_batch_norm(Module<float>&);
template void freeze_batch_norm(Module<double>&);

}  // namespace pollen
