#pragma once

#include <pollen/autograd/ops.hpp>
#include <pollen/autograd/random.hpp>
#include <pollen/nn/distributions.hpp>
#include <pollen/nn/priors.hpp>
#include <pollen/nn/variational/detail/draw_weights.hpp>
#include <pollen/nn/variational/low_rank_log_q.hpp>

#include <functional>
#include <span>
#include <vector>

// Every op in a small case, for tests of something that all ops have to do.
namespace pollen::test {

template <Real T>
struct OpCase {
    const char* name;
    std::vector<Shape> inputs;
    std::function<Var<T>(std::span<const Var<T>>)> f;
    double low = 0.1, high = 0.9;  // of the inputs' numbers
};

// L' L + I for a matrix L: positive definite.
template <Real T>
Var<T> definite(const Var<T>& l) {
    return matmul(l, l, {.transpose_x = true}) + Tensor<T>::eye(l.shape()[0]);
}

inline const RandomKey key{11, 3};
inline const Prior weight_prior = LaplacePrior{.scale = 0.5};
inline const Indices labels{2, 0, 1, 2}, index{1, 0, 1};
template <Real T>
inline const Tensor<T> condition{{1, 0, 1}, {0, 1, 1}};

// Every op of ops.hpp, and if it has several ways to compute, each of them; and densities.
template <Real T>
std::vector<OpCase<T>> op_cases() {
    using Vars = std::span<const Var<T>>;
    using distributions::Gamma;
    using distributions::Normal;
    const Shape one{}, row{3}, matrix{2, 3}, square_matrix{3, 3}, images{2, 4, 6, 6}, kernels{4, 2, 3, 3}, wide{4, 40};
    const auto mixture = [](Vars x) { return softmax(x[0], 0) * x[1]; };
    return {
        {"add", {matrix, matrix}, [](Vars x) { return x[0] + x[1]; }},
        {"add", {matrix, row}, [](Vars x) { return x[0] + x[1]; }},
        {"add", {matrix}, [](Vars x) { return x[0] + 2; }},
        {"sub", {row, matrix}, [](Vars x) { return x[0] - x[1]; }},
        {"sub", {matrix}, [](Vars x) { return 2 - x[0]; }},
        {"mul", {one, matrix}, [](Vars x) { return x[0] * x[1]; }},
        {"mul", {matrix}, [](Vars x) { return x[0] * x[0]; }},
        {"mul", {matrix}, [](Vars x) { return 3 * x[0]; }},
        {"div", {matrix, {2, 1}}, [](Vars x) { return x[0] / x[1]; }},
        {"div", {matrix}, [](Vars x) { return 2 / x[0]; }},
        {"neg", {matrix}, [](Vars x) { return -x[0]; }},
        {"pow", {matrix, row}, [](Vars x) { return pow(x[0], x[1]); }},
        {"pow", {matrix}, [](Vars x) { return pow(x[0], 2) + pow(x[0], 0); }},
        {"pow", {matrix}, [](Vars x) { return pow(x[0], T(1.5)); }},
        {"exp", {matrix}, [](Vars x) { return exp(x[0]); }},
        {"log", {matrix}, [](Vars x) { return log(x[0]); }},
        {"log1p", {matrix}, [](Vars x) { return log1p(x[0]); }},
        {"expm1", {matrix}, [](Vars x) { return expm1(x[0]); }},
        {"sqrt", {matrix}, [](Vars x) { return sqrt(x[0]); }},
        {"square", {matrix}, [](Vars x) { return square(x[0]); }},
        {"abs", {matrix}, [](Vars x) { return abs(x[0]); }, -1, 1},
        {"sin", {matrix}, [](Vars x) { return sin(x[0]); }},
        {"cos", {matrix}, [](Vars x) { return cos(x[0]); }},
        {"tanh", {{70000}}, [](Vars x) { return tanh(x[0]); }, -1, 1},  // more than one thread
        {"erf", {matrix}, [](Vars x) { return erf(x[0]); }, -1, 1},
        {"lgamma", {matrix}, [](Vars x) { return lgamma(x[0]); }},
        {"digamma", {matrix}, [](Vars x) { return digamma(x[0]); }},
        {"sigmoid", {matrix}, [](Vars x) { return sigmoid(x[0]); }, -3, 3},
        {"log_sigmoid", {matrix}, [](Vars x) { return log_sigmoid(x[0]); }, -3, 3},
        {"softplus", {matrix}, [](Vars x) { return softplus(x[0]); }, -3, 3},
        {"relu", {matrix}, [](Vars x) { return relu(x[0]); }, -1, 1},
        {"leaky_relu", {matrix}, [](Vars x) { return leaky_relu(x[0]); }, -1, 1},
        {"elu", {matrix}, [](Vars x) { return elu(x[0]); }, -1, 1},
        {"gelu", {matrix}, [](Vars x) { return gelu(x[0]); }, -1, 1},
        {"swish", {matrix}, [](Vars x) { return swish(x[0]); }, -1, 1},
        {"maximum", {matrix, row}, [](Vars x) { return maximum(x[0], x[1]); }},
        {"minimum", {matrix, row}, [](Vars x) { return minimum(x[0], x[1]); }},
        {"clamp", {matrix}, [](Vars x) { return clamp(x[0], T(0.3), T(0.6)); }},
        {"where", {matrix, row}, [](Vars x) { return where(condition<T>, x[0], x[1]); }},
        {"dropout", {wide}, [](Vars x) { return dropout(x[0], T(0.4), key); }},
        {"sum", {matrix}, [](Vars x) { return sum(x[0]) + sum(x[0], 1, true); }},
        {"sum", {matrix}, [](Vars x) { return sum(sum(x[0], 0)); }},
        {"mean", {matrix}, [](Vars x) { return mean(x[0]) + mean(x[0], 1, true); }},
        {"var", {matrix}, [](Vars x) { return var(x[0], {}, false, 1) + var(x[0], 1, true); }},
        {"max", {matrix}, [](Vars x) { return max(x[0]) + max(x[0], 1); }},
        {"min", {matrix}, [](Vars x) { return min(x[0]) + min(x[0], 1); }},
        {"logsumexp", {matrix}, [](Vars x) { return logsumexp(x[0]) + logsumexp(x[0], 0); }},
        {"cumsum", {matrix}, [](Vars x) { return cumsum(x[0], 0) + cumsum(x[0], 1); }},
        {"matmul", {matrix, {3, 4}}, [](Vars x) { return matmul(x[0], x[1]); }},
        {"matmul", {{5, 2, 3}, {3, 4}}, [](Vars x) { return matmul(x[0], x[1]); }},
        {"matmul", {{5, 2, 3}, {5, 3, 4}}, [](Vars x) { return matmul(x[0], x[1]); }},
        {"affine", {{4, 3}, {2, 3}, {2}}, [](Vars x) { return affine(x[0], x[1], x[2]); }},
        {"affine_relu", {{4, 3}, {2, 3}, {2}}, [](Vars x) { return affine_relu(x[0], x[1], x[2]); }},
        {"dot", {row, row}, [](Vars x) { return dot(x[0], x[1]); }},
        {"outer", {row, {4}}, [](Vars x) { return outer(x[0], x[1]); }},
        {"softmax", {wide}, [](Vars x) { return softmax(x[0]); }},
        {"softmax", {wide, wide}, mixture},
        {"log_softmax", {wide}, [](Vars x) { return log_softmax(x[0]) + log_softmax(x[0], 0); }},
        {"cross_entropy", {{4, 3}}, [](Vars x) { return cross_entropy(x[0], labels); }},
        {"cross_entropy", {{4, 3}}, [](Vars x) { return cross_entropy(x[0], labels, Reduction::none); }},
        {"reshape",
         {matrix},
         [](Vars x) {
             return square(reshape(square(x[0]), {3, 2}));
         }},
        {"permute",
         {{2, 3, 4}},
         [](Vars x) {
             return permute(x[0], {2, 0, 1});
         }},
        {"transpose", {matrix}, [](Vars x) { return transpose(x[0]); }},
        {"squeeze", {{2, 1, 3}}, [](Vars x) { return squeeze(exp(x[0])); }},
        {"unsqueeze", {matrix}, [](Vars x) { return unsqueeze(exp(x[0]), 1); }},
        {"broadcast_to",
         {row},
         [](Vars x) {
             return broadcast_to(x[0], {4, 3});
         }},
        {"concat",
         {matrix, {4, 3}},
         [](Vars x) {
             return concat({x[0], x[1]});
         }},
        {"stack",
         {matrix, matrix},
         [](Vars x) {
             return stack({x[0], x[1]}, 1);
         }},
        {"slice", {{6, 3}}, [](Vars x) { return square(slice(exp(x[0]), 0, 1, 3)) + slice(x[0], 0, 0, 6, 3); }},
        {"gather",
         {matrix},
         [](Vars x) {
             return gather(x[0], 1, Indices{{1, 0}, {2, 2}});
         }},
        {"index_select", {matrix}, [](Vars x) { return index_select(x[0], 0, index); }},
        {"pad",
         {matrix},
         [](Vars x) {
             return pad(x[0], {{1, 2}, {0, 1}}, 0.5);
         }},
        {"conv2d",
         {images, kernels},
         [](Vars x) {
             return conv2d(x[0], x[1], {.padding = {1, 1}, .groups = 2});
         }},
        {"conv2d", {images, {3, 4, 3, 3}, {3}}, [](Vars x) { return conv2d(x[0], x[1], x[2]); }},
        {"conv2d_relu", {images, {3, 4, 3, 3}, {3}}, [](Vars x) { return conv2d_relu(x[0], x[1], x[2]); }, -1, 1},
        {"conv2d_relu_max_pool2d",
         {images, {3, 4, 3, 3}, {3}},
         [](Vars x) { return conv2d_relu_max_pool2d(x[0], x[1], x[2]); },
         -1,
         1},
        // In groups of one channel, and in float by Winograd's algorithm.
        {"conv2d_relu_max_pool2d",
         {images, {4, 1, 3, 3}, {4}},
         [](Vars x) {
             return conv2d_relu_max_pool2d(x[0], x[1], x[2], {.padding = {1, 1}, .groups = 4});
         },
         -1,
         1},
        {"conv2d_relu_max_pool2d",
         {{2, 16, 10, 10}, {16, 16, 3, 3}, {16}},
         [](Vars x) { return conv2d_relu_max_pool2d(x[0], x[1], x[2]); },
         -1,
         1},
        {"filter_response_norm",
         {images, {4, 1, 1}, {4, 1, 1}, {4, 1, 1}},
         [](Vars x) { return filter_response_norm(x[0], x[1], x[2], x[3], 1e-6); },
         -1,
         1},
        {"filter_response_norm_swish",
         {images, {4, 1, 1}, {4, 1, 1}, {4, 1, 1}},
         [](Vars x) { return filter_response_norm_swish(x[0], x[1], x[2], x[3], 1e-6); },
         -1,
         1},
        {"conv_transpose2d", {images, kernels}, [](Vars x) { return conv_transpose2d(x[0], x[1]); }},
        {"max_pool2d", {images}, [](Vars x) { return max_pool2d(x[0]); }},
        {"avg_pool2d",
         {images},
         [](Vars x) {
             return avg_pool2d(x[0], {.size = {3, 3}});
         }},
        {"gru", {{2, 4, 9}, {9, 3}, {3}}, [](Vars x) { return gru(x[0], x[1], x[2]); }, -1, 1},
        {"lstm", {{2, 4, 12}, {12, 3}}, [](Vars x) { return lstm(x[0], x[1]); }, -1, 1},
        {"cholesky", {square_matrix}, [](Vars x) { return cholesky(definite(x[0])); }},
        {"triangular_solve", {square_matrix, {3, 2}}, [](Vars x) { return triangular_solve(x[0], x[1]); }},
        {"cholesky_logdet", {square_matrix}, [](Vars x) { return cholesky_logdet(cholesky(definite(x[0]))); }},
        {"detach", {matrix}, [](Vars x) { return x[0] * exp(exp(x[0]).detach()); }},
        {"normal_lpdf", {matrix, row, one}, [](Vars x) { return normal_lpdf(x[0], x[1], x[2]); }},
        {"normal_lpdf", {one, one}, [](Vars x) { return normal_lpdf(condition<T>, x[0], x[1]); }},
        {"gamma_lpdf", {matrix, row}, [](Vars x) { return gamma_lpdf(x[0], x[1], 2); }},
        {"log_prob_terms", {matrix, row}, [](Vars x) { return Normal<T>(x[1], 2).log_prob_terms(x[0]); }},
        {"normal rsample",
         {row, row},
         [](Vars x) {
             return Normal(x[0], x[1]).rsample({4, 3}, key);
         }},
        {"gamma rsample",
         {row, row},
         [](Vars x) {
             return Gamma(x[0], x[1]).rsample({4, 3}, key);
         }},
        {"kl", {row, row}, [](Vars x) { return kl(Normal<T>(x[0], x[1]), Normal<T>(0, 1)); }},
        {"categorical_logit_lpmf", {{4, 3}}, [](Vars x) { return categorical_logit_lpmf(labels, x[0]); }},
        {"bernoulli_logit_glm_lpmf",
         {one, row},
         [](Vars x) {
             return bernoulli_logit_glm_lpmf(Indices{0, 1}, condition<T>, x[0], x[1]);
         }},
        {"multi_normal_cholesky_lpdf",
         {row},
         [](Vars x) { return multi_normal_cholesky_lpdf(condition<T>, x[0], Tensor<T>::eye(3)); }},
        {"multi_normal_cholesky_lpdf",
         {matrix, row, square_matrix},
         [](Vars x) { return multi_normal_cholesky_lpdf(x[0], x[1], x[2]); }},
        {"mixture_lpdf", {matrix, row}, [](Vars x) { return mixture_log_prob<T>(x[1], x[0]); }},
        {"log_prior", {matrix}, [](Vars x) { return log_prior(weight_prior, x[0]); }},
        {"low_rank_log_q",
         {row, matrix},
         [](Vars x) {
             Tensor<T> noise{T(0.3), T(-1.2), T(0.7), T(1.9), T(-0.4)};
             return low_rank_log_q(x[0], x[1], x[0].state().leaf("noise", std::move(noise), false), true);
         }},
        {"draw_weights",
         {matrix, matrix},
         [](Vars x) {
             const WeightDraw<T> draw = draw_weights(x[0], x[1], &weight_prior, key, true);
             return sum(draw.weights) + draw.log_q_log_p;
         }},
        {"expected_log_q_log_p", {matrix, matrix}, [](Vars x) { return expected_log_q_log_p(x[0], x[1], 0.7, true); }},
    };
}

}  // namespace pollen::test
