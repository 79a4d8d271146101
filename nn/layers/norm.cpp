#include <pollen/nn/layers/norm.hpp>

#include <pollen/autograd/support/checks.hpp>

namespace pollen {

template <Real T>
LayerNorm<T>::LayerNorm(std::int64_t size, double epsilon) : epsilon_(epsilon) {
    check_sizes("LayerNorm", {{"size", size}});
    scale = {.shape = {size}, .init = Init::constant(1)};
    shift = {.shape = {size}};
}

template <Real T>
Var<T> LayerNorm<T>::forward(Pass<T>& pass, Var<T> x) const {
    if (x.rank() == 0 || x.shape()[x.rank() - 1] != scale.shape[0])
        throw ShapeError("LayerNorm: x " + to_string(x.shape()) + "; its last axis must be " +
                         std::to_string(scale.shape[0]));
    const Var<T> centred = x - mean(x, -1, true);
    const Var<T> spread = pow(mean(square(centred), -1, true) + epsilon_, T(-0.5));
    return centred * spread * pass(scale) + pass(shift);
}

template <Real T>
std::string LayerNorm<T>::describe() const {
    return call("LayerNorm", scale.shape[0]);
}

template <Real T>
std::string LayerNorm<T>::details() const {
    return describe() + " with epsilon " + to_text(epsilon_);
}

template <Real T>
FilterResponseNorm<T>::FilterResponseNorm(std::int64_t channels, double epsilon) : epsilon_(epsilon) {
    check_sizes("FilterResponseNorm", {{"channels", channels}});
    scale = {.shape = {channels, 1, 1}, .init = Init::constant(1)};
    shift = {.shape = {channels, 1, 1}};
    threshold = {.shape = {channels, 1, 1}};
}

template <Real T>
void FilterResponseNorm<T>::check(const Shape& x) const {
    if (x.rank() != 4 || x[1] != scale.shape[0])
        throw ShapeError("FilterResponseNorm: x " + to_string(x) + "; images (n, " + std::to_string(scale.shape[0]) +
                         ", height, width) are needed");
}

template <Real T>
Var<T> FilterResponseNorm<T>::forward(Pass<T>& pass, Var<T> x) const {
    check(x.shape());
    return filter_response_norm(x, pass(scale), pass(shift), pass(threshold), epsilon_);
}

template <Real T>
Fused<T> FilterResponseNorm<T>::forward_fused(Pass<T>& pass, Var<T> x, std::span<const Part<T>> next) const {
    if (next.empty() || next[0]->follower() != Follower::swish) return {forward(pass, x)};
    check(x.shape());
    return {filter_response_norm_swish(x, pass(scale), pass(shift), pass(threshold), epsilon_), 1};
}

template <Real T>
std::string FilterResponseNorm<T>::describe() const {
    return call("FilterResponseNorm", scale.shape[0]);
}

template <Real T>
std::string FilterResponseNorm<T>::details() const {
    return describe() + " with epsilon " + to_text(epsilon_);
}

template class LayerNorm<float>;
template class LayerNorm<double>;
template class FilterResponseNorm<float>;
template class FilterResponseNorm<double>;

}  // namespace pollen
