#include <pollen/nn/layers/attention.hpp>

#include <pollen/autograd/support/checks.hpp>

#include <cmath>
#include <limits>

namespace pollen {

namespace {

// 0 where row i may see column j, j <= i, and minus infinity elsewhere.
template <Real T>
Tensor<T> causal_mask(std::int64_t steps) {
    Tensor<T> mask = Tensor<T>::empty(Shape{steps, steps});
    T* to = mask.fresh_data();
    for (std::int64_t i = 0; i < steps; ++i)
        for (std::int64_t j = 0; j < steps; ++j) *to++ = j <= i ? T(0) : -std::numeric_limits<T>::infinity();
    return mask;
}

}  // namespace

template <Real T>
MultiHeadAttention<T>::MultiHeadAttention(std::int64_t features, std::int64_t heads, AttentionOptions options)
    : features_(features), heads_(heads), options_(options) {
    check_sizes("MultiHeadAttention", {{"features", features}, {"heads", heads}});
    if (features % heads != 0)
        throw ValueError("MultiHeadAttention: " + std::to_string(heads) + " heads do not divide " +
                         std::to_string(features) + " features");
    if (!(options.dropout >= 0 && options.dropout < 1))
        throw ValueError("MultiHeadAttention: dropout is " + to_text(options.dropout) +
                         "; it must be at least 0 and less than 1");
    input_weight = {.shape = {3 * features, features}, .init = options.init, .fans = {features, 3 * features}};
    input_bias = {.shape = {3 * features}};
    output_weight = {.shape = {features, features}, .init = options.init, .fans = {features, features}};
    output_bias = {.shape = {features}};
}

template <Real T>
Var<T> MultiHeadAttention<T>::linear(Pass<T>& pass, Var<T> x, const Parameter<T>& weight,
                                     const Parameter<T>& bias) const {
    if (options_.bias) return affine(x, pass(weight), pass(bias));
    return matmul(x, pass(weight), {.transpose_y = true});
}

template <Real T>
Var<T> MultiHeadAttention<T>::forward(Pass<T>& pass, Var<T> x) const {
    const Shape shape = x.shape();
    if (shape.rank() != 3 || shape[2] != features_)
        throw ShapeError("MultiHeadAttention: x " + to_string(shape) + "; sequences (n, steps, " +
                         std::to_string(features_) + ") are needed");
    const std::int64_t n = shape[0], steps = shape[1], size = features_ / heads_;
    if (steps == 0)
        throw ShapeError("MultiHeadAttention: x " + to_string(shape) + " has no steps; at least 1 is needed");
    const Var<T> all = reshape(linear(pass, x, input_weight, input_bias), {n, steps, 3, heads_, size});
    const Var<T> by_head = permute(all, {2, 0, 3, 1, 4});
    const auto part = [&](std::int64_t k) { return reshape(slice(by_head, 0, k, k + 1), {n, heads_, steps, size}); };
    const Var<T> query = part(0) * (1 / std::sqrt(static_cast<double>(size))), key = part(1), value = part(2);
    Var<T> scores = matmul(query, key, {.transpose_y = true});
    if (options_.causal) scores = scores + causal_mask<T>(steps);
    Var<T> weights = softmax(scores);
    if (options_.dropout > 0 && pass.random()) {
        const LayerNoise noise = pass.noise(weights.size());
        weights = dropout(weights, static_cast<T>(options_.dropout), noise.key, noise.first);
    }
    const Var<T> heads = permute(matmul(weights, value), {0, 2, 1, 3});
    return linear(pass, reshape(heads, shape), output_weight, output_bias);
}

template <Real T>
std::string MultiHeadAttention<T>::describe() const {
    std::string text = call("MultiHeadAttention", features_, heads_);
    if (options_.causal) text += ", causal";
    if (options_.dropout > 0) text += ", dropout " + to_text(options_.dropout);
    return text + (options_.bias ? "" : ", without bias");
}

template class MultiHeadAttention<float>;
template class MultiHeadAttention<double>;

}  // namespace pollen
