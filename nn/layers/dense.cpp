#include <pollen/nn/layers/dense.hpp>

#include <pollen/autograd/support/checks.hpp>

namespace pollen {

template <Real T>
Dense<T>::Dense(std::int64_t inputs, std::int64_t outputs, DenseOptions options) : has_bias_(options.bias) {
    check_sizes("Dense", {{"inputs", inputs}, {"outputs", outputs}});
    weight = {.shape = {outputs, inputs}, .init = options.init, .fans = {inputs, outputs}};
    bias = {.shape = {outputs}};
}

template <Real T>
void Dense<T>::check(const Shape& x) const {
    if (x.rank() > 2 && x[0] * weight.shape[1] == x.size() && x[x.rank() - 1] != weight.shape[1])
        throw ShapeError(describe() + ": x has shape " + to_string(x) + "; a Flatten() before it makes it fit");
}

template <Real T>
Var<T> Dense<T>::forward(Pass<T>& pass, Var<T> x) const {
    check(x.shape());
    if (has_bias_) return affine(x, pass(weight), pass(bias));
    return matmul(x, pass(weight), {.transpose_y = true});
}

template <Real T>
Fused<T> Dense<T>::forward_fused(Pass<T>& pass, Var<T> x, std::span<const Part<T>> next) const {
    if (!has_bias_ || next.empty() || next[0]->follower() != Follower::relu) return {forward(pass, x)};
    check(x.shape());
    return {affine_relu(x, pass(weight), pass(bias)), 1};
}

template <Real T>
std::string Dense<T>::describe() const {
    return call("Dense", weight.shape[1], weight.shape[0]) + (has_bias_ ? "" : " without bias");
}

template class Dense<float>;
template class Dense<double>;

}  // namespace pollen
