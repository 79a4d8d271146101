#pragma once

#include <pollen/autograd/random.hpp>
#include <pollen/autograd/tape.hpp>

#include <array>
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <type_traits>
#include <vector>

// Every op of the library: what it computes, one line each. ops/<name>.cpp has the derivative next to the formula.
//
// Ops of two tensors broadcast as in NumPy. Ops take their tape from their inputs; plain numbers and tensors next to a
// Var are constants. NaN and infinity go through as in NumPy.
namespace pollen {

// A plain number beside a Var<T>, converted to T.
template <class T>
using Number = std::type_identity_t<T>;

// One line an op, whatever its length says to the formatter.
// clang-format off

// ---- arithmetic: x + y, x - y, x * y, x / y, -x ----------------------------------------------------------------------

template <Real T> Var<T> add(Var<T> x, Var<T> y);
template <Real T> Var<T> sub(Var<T> x, Var<T> y);
template <Real T> Var<T> mul(Var<T> x, Var<T> y);
template <Real T> Var<T> div(Var<T> x, Var<T> y);
template <Real T> Var<T> add(Var<T> x, Number<T> c);  // x + c
template <Real T> Var<T> mul(Var<T> x, Number<T> c);  // c x
template <Real T> Var<T> sub(Number<T> c, Var<T> x);  // c - x
template <Real T> Var<T> div(Number<T> c, Var<T> x);  // c / x
template <Real T> Var<T> neg(Var<T> x);
template <Real T> Var<T> pow(Var<T> x, Var<T> y);     // x^y
template <Real T> Var<T> pow(Var<T> x, Number<T> c);  // x^c

// ---- elementwise functions -------------------------------------------------------------------------------------------

template <Real T> Var<T> exp(Var<T> x);
template <Real T> Var<T> log(Var<T> x);
template <Real T> Var<T> log1p(Var<T> x);  // log(1 + x)
template <Real T> Var<T> expm1(Var<T> x);  // exp(x) - 1
template <Real T> Var<T> sqrt(Var<T> x);
template <Real T> Var<T> square(Var<T> x);
template <Real T> Var<T> abs(Var<T> x);  // derivative sign(x), 0 at 0
template <Real T> Var<T> sin(Var<T> x);
template <Real T> Var<T> cos(Var<T> x);
template <Real T> Var<T> tanh(Var<T> x);
template <Real T> Var<T> erf(Var<T> x);
template <Real T> Var<T> lgamma(Var<T> x);   // log |Gamma(x)|
template <Real T> Var<T> digamma(Var<T> x);  // the derivative of lgamma

template <Real T> Var<T> sigmoid(Var<T> x);      // 1 / (1 + exp(-x))
template <Real T> Var<T> log_sigmoid(Var<T> x);  // -log(1 + exp(-x)), exact at both ends
template <Real T> Var<T> softplus(Var<T> x);     // log(1 + exp(x)), exact at both ends
template <Real T> Var<T> relu(Var<T> x);         // max(x, 0), derivative 0 at 0
template <Real T> Var<T> leaky_relu(Var<T> x, Number<T> slope = T(0.01));  // x where x > 0, else slope x
template <Real T> Var<T> elu(Var<T> x, Number<T> alpha = T(1));            // x where x > 0, else alpha (exp(x) - 1)
template <Real T> Var<T> gelu(Var<T> x);                                   // x Phi(x), Phi the normal cdf
template <Real T> Var<T> swish(Var<T> x);                                  // x sigmoid(x)

template <Real T> Var<T> maximum(Var<T> x, Var<T> y);  // elementwise; where equal, each gets half the gradient
template <Real T> Var<T> minimum(Var<T> x, Var<T> y);
template <Real T> Var<T> clamp(Var<T> x, Number<T> low, Number<T> high);
template <Real T> Var<T> where(const Tensor<T>& condition, Var<T> x, Var<T> y);  // x where condition is not 0, else y

// x / (1 - rate) where the uniform number of the same place under `key`, counted from `first` on, is at least `rate`,
// else 0
template <Real T> Var<T> dropout(Var<T> x, Number<T> rate, const RandomKey& key, std::uint64_t first = 0);

// ---- reductions: over all axes, one axis or several; keepdims leaves them with size 1 ---------------------------------

template <Real T> Var<T> sum(Var<T> x, Axes axes = {}, bool keepdims = false);
template <Real T> Var<T> mean(Var<T> x, Axes axes = {}, bool keepdims = false);
// sum (x - mean)^2 / (n - correction): 0 for the population's variance, 1 for the sample's
template <Real T> Var<T> var(Var<T> x, Axes axes = {}, bool keepdims = false, int correction = 0);
template <Real T> Var<T> max(Var<T> x, Axes axes = {}, bool keepdims = false);  // ties share the gradient
template <Real T> Var<T> min(Var<T> x, Axes axes = {}, bool keepdims = false);
template <Real T> Var<T> logsumexp(Var<T> x, Axes axes = {}, bool keepdims = false);  // log sum exp(x), no overflow
template <Real T> Var<T> cumsum(Var<T> x, int axis);                                  // y_i = x_0 + ... + x_i

// ---- products --------------------------------------------------------------------------------------------------------

struct MatmulOptions {
    bool transpose_x = false;
    bool transpose_y = false;
};
// x y for (..., n, k) by (..., k, m); leading axes broadcast; a vector counts as a row on the left, a column on the
// right. matmul(x, w, {.transpose_y = true}) is x w'.
template <Real T> Var<T> matmul(Var<T> x, Var<T> y, MatmulOptions options = {});
// x w' + b, a dense layer as one node: x (..., inputs), w (outputs, inputs), b (outputs)
template <Real T> Var<T> affine(Var<T> x, Var<T> w, Var<T> b);
// max(x w' + b, 0), a dense layer and its rectifier as one node: relu(affine(x, w, b)) with the same bits
template <Real T> Var<T> affine_relu(Var<T> x, Var<T> w, Var<T> b);
template <Real T> Var<T> dot(Var<T> x, Var<T> y);    // sum x_i y_i of two vectors
template <Real T> Var<T> outer(Var<T> x, Var<T> y);  // x_i y_j of two vectors

// ---- classification --------------------------------------------------------------------------------------------------

enum class Reduction { none, sum, mean };

template <Real T> Var<T> softmax(Var<T> x, int axis = -1);      // exp(x) / sum exp(x)
template <Real T> Var<T> log_softmax(Var<T> x, int axis = -1);  // x - log sum exp(x)
// -log softmax(logits)[label] of each row of logits (n, classes), fused: no probability is ever rounded to zero
template <Real T>
Var<T> cross_entropy(Var<T> logits, const Indices& labels, Reduction reduction = Reduction::mean);

// ---- shapes ----------------------------------------------------------------------------------------------------------

template <Real T> Var<T> reshape(Var<T> x, std::initializer_list<std::int64_t> sizes);  // one size may be -1
template <Real T> Var<T> reshape(Var<T> x, const Shape& shape);
template <Real T> Var<T> permute(Var<T> x, std::initializer_list<int> order);  // axis k of the result is axis order[k]
template <Real T> Var<T> transpose(Var<T> x, int axis0 = -2, int axis1 = -1);
template <Real T> Var<T> squeeze(Var<T> x, Axes axes = {});  // drops axes of size 1: all of them, or the ones named
template <Real T> Var<T> unsqueeze(Var<T> x, int axis);      // a new axis of size 1 before `axis`
template <Real T> Var<T> broadcast_to(Var<T> x, const Shape& shape);
template <Real T> Var<T> concat(std::span<const Var<T>> parts, int axis = 0);
template <Real T> Var<T> concat(std::initializer_list<Var<T>> parts, int axis = 0);
template <Real T> Var<T> stack(std::span<const Var<T>> parts, int axis = 0);  // along a new axis
template <Real T> Var<T> stack(std::initializer_list<Var<T>> parts, int axis = 0);
// Entries begin, begin + step, ... before end of one axis; negative begin and end count from the back.
template <Real T>
Var<T> slice(Var<T> x, int axis, std::int64_t begin, std::int64_t end, std::int64_t step = 1);
// y[i][j] = x[i][index[i][j]] for axis 1, and so on: NumPy's take_along_axis
template <Real T> Var<T> gather(Var<T> x, int axis, const Indices& index);
template <Real T> Var<T> index_select(Var<T> x, int axis, const Indices& index);  // whole slices, chosen by a list
// (before, after) for each axis, filled with `value`
template <Real T>
Var<T> pad(Var<T> x, std::initializer_list<std::array<std::int64_t, 2>> widths, Number<T> value = T(0));

// ---- images: (batch, channels, height, width) ------------------------------------------------------------------------

using Pair = std::array<std::int64_t, 2>;  // along the height and along the width

struct Conv2dOptions {
    Pair stride = {1, 1};
    Pair padding = {0, 0};
    Pair dilation = {1, 1};
    std::int64_t groups = 1;
};
// y[n, o, i, j] = sum_{c, u, v} x[n, c, i stride + u dilation - padding, ...] w[o, c, u, v]; w is (out, in / groups, u, v)
template <Real T> Var<T> conv2d(Var<T> x, Var<T> w, Conv2dOptions options = {});
template <Real T> Var<T> conv2d(Var<T> x, Var<T> w, Var<T> bias, Conv2dOptions options = {});  // + bias[o]
template <Real T> Var<T> conv2d_relu(Var<T> x, Var<T> w, Var<T> bias, Conv2dOptions options = {});  // max(conv2d, 0)
// max_pool2d of that, with windows of 2 x 2 that do not overlap
template <Real T> Var<T> conv2d_relu_max_pool2d(Var<T> x, Var<T> w, Var<T> bias, Conv2dOptions options = {});

struct ConvTranspose2dOptions {
    Pair stride = {1, 1};
    Pair padding = {0, 0};
    Pair output_padding = {0, 0};
    Pair dilation = {1, 1};
    std::int64_t groups = 1;
};
// The map whose matrix is the transpose of conv2d's; w is (in, out / groups, u, v).
template <Real T> Var<T> conv_transpose2d(Var<T> x, Var<T> w, ConvTranspose2dOptions options = {});

struct Pool2dOptions {
    Pair size = {2, 2};
    Pair stride = {0, 0};  // 0: the same as size
    Pair padding = {0, 0};
};
template <Real T> Var<T> max_pool2d(Var<T> x, Pool2dOptions options = {});  // ties: the first one gets the gradient
template <Real T> Var<T> avg_pool2d(Var<T> x, Pool2dOptions options = {});  // padding counts as zeros

// max(scale x / sqrt(mean(x^2) + epsilon) + shift, threshold), the mean over the pixels of a channel of an image; scale,
// shift and threshold are (channels, 1, 1) (Singh and Krishnan 2020)
template <Real T> Var<T> filter_response_norm(Var<T> x, Var<T> scale, Var<T> shift, Var<T> threshold, double epsilon);
// swish of that, as one node
template <Real T> Var<T> filter_response_norm_swish(Var<T> x, Var<T> scale, Var<T> shift, Var<T> threshold, double epsilon);

// ---- sequences: (items, steps, ...) ----------------------------------------------------------------------------------

// The hidden states (items, steps, hidden) of a recurrent layer that starts at 0: x (items, steps, 3 hidden) or
// (items, steps, 4 hidden) is what the inputs add to the gates, with their bias; w (3 hidden, hidden) or
// (4 hidden, hidden) multiplies the state of the step before. ops/gru.cpp and ops/lstm.cpp have the formulas.
template <Real T> Var<T> gru(Var<T> x, Var<T> w, Var<T> bias);  // bias (hidden), of the product for the new state
template <Real T> Var<T> lstm(Var<T> x, Var<T> w);

// ---- linear algebra: (..., n, n) -------------------------------------------------------------------------------------

// The lower triangular L with L L' = a. Only the lower triangle of a is read; its gradient is symmetric.
template <Real T> Var<T> cholesky(Var<T> a);

struct TriangularSolveOptions {
    bool lower = true;
    bool transpose = false;
    bool unit_diagonal = false;
};
// y with a y = b, or a' y = b; b is (..., n, m), or a vector (n). Only the named triangle of a is read.
template <Real T> Var<T> triangular_solve(Var<T> a, Var<T> b, TriangularSolveOptions options = {});
template <Real T> Var<T> cholesky_logdet(Var<T> l);  // log det(L L') = 2 sum log L_ii

// ---- operators -------------------------------------------------------------------------------------------------------

template <class S>
concept PlainNumber = std::integral<S> || std::floating_point<S>;

template <Real T> Var<T> operator+(Var<T> x, Var<T> y) { return add(x, y); }
template <Real T> Var<T> operator-(Var<T> x, Var<T> y) { return sub(x, y); }
template <Real T> Var<T> operator*(Var<T> x, Var<T> y) { return mul(x, y); }
template <Real T> Var<T> operator/(Var<T> x, Var<T> y) { return div(x, y); }
template <Real T> Var<T> operator-(Var<T> x) { return neg(x); }

template <Real T, PlainNumber S> Var<T> operator+(Var<T> x, S c) { return add(x, static_cast<T>(c)); }
template <Real T, PlainNumber S> Var<T> operator+(S c, Var<T> x) { return add(x, static_cast<T>(c)); }
template <Real T, PlainNumber S> Var<T> operator-(Var<T> x, S c) { return add(x, -static_cast<T>(c)); }
template <Real T, PlainNumber S> Var<T> operator-(S c, Var<T> x) { return sub(static_cast<T>(c), x); }
template <Real T, PlainNumber S> Var<T> operator*(Var<T> x, S c) { return mul(x, static_cast<T>(c)); }
template <Real T, PlainNumber S> Var<T> operator*(S c, Var<T> x) { return mul(x, static_cast<T>(c)); }
template <Real T, PlainNumber S> Var<T> operator/(Var<T> x, S c) { return mul(x, T(1) / static_cast<T>(c)); }
template <Real T, PlainNumber S> Var<T> operator/(S c, Var<T> x) { return div(static_cast<T>(c), x); }

// Data, which the node holds by a counted reference: nothing is copied, and c may go out of scope.
template <Real T> Var<T> constant_like(Var<T> x, const Tensor<T>& c) { return x.state().leaf("constant", Tensor<T>(c), false); }
template <Real T> Var<T> operator+(Var<T> x, const Tensor<T>& c) { return add(x, constant_like(x, c)); }
template <Real T> Var<T> operator+(const Tensor<T>& c, Var<T> x) { return add(constant_like(x, c), x); }
template <Real T> Var<T> operator-(Var<T> x, const Tensor<T>& c) { return sub(x, constant_like(x, c)); }
template <Real T> Var<T> operator-(const Tensor<T>& c, Var<T> x) { return sub(constant_like(x, c), x); }
template <Real T> Var<T> operator*(Var<T> x, const Tensor<T>& c) { return mul(x, constant_like(x, c)); }
template <Real T> Var<T> operator*(const Tensor<T>& c, Var<T> x) { return mul(constant_like(x, c), x); }
template <Real T> Var<T> operator/(Var<T> x, const Tensor<T>& c) { return div(x, constant_like(x, c)); }
template <Real T> Var<T> operator/(const Tensor<T>& c, Var<T> x) { return div(constant_like(x, c), x); }

// ---- data in place of a Var -----------------------------------------------------------------------------------------

template <Real T> Var<T> matmul(const Tensor<T>& x, Var<T> y, MatmulOptions options = {}) { return matmul(constant_like(y, x), y, options); }
template <Real T> Var<T> matmul(Var<T> x, const Tensor<T>& y, MatmulOptions options = {}) { return matmul(x, constant_like(x, y), options); }
template <Real T> Var<T> affine(const Tensor<T>& x, Var<T> w, Var<T> b) { return affine(constant_like(w, x), w, b); }
template <Real T> Var<T> affine_relu(const Tensor<T>& x, Var<T> w, Var<T> b) { return affine_relu(constant_like(w, x), w, b); }
template <Real T> Var<T> dot(const Tensor<T>& x, Var<T> y) { return dot(constant_like(y, x), y); }
template <Real T> Var<T> dot(Var<T> x, const Tensor<T>& y) { return dot(x, constant_like(x, y)); }
template <Real T> Var<T> outer(const Tensor<T>& x, Var<T> y) { return outer(constant_like(y, x), y); }
template <Real T> Var<T> outer(Var<T> x, const Tensor<T>& y) { return outer(x, constant_like(x, y)); }
template <Real T> Var<T> pow(const Tensor<T>& x, Var<T> y) { return pow(constant_like(y, x), y); }
template <Real T> Var<T> pow(Var<T> x, const Tensor<T>& y) { return pow(x, constant_like(x, y)); }
template <Real T> Var<T> maximum(const Tensor<T>& x, Var<T> y) { return maximum(constant_like(y, x), y); }
template <Real T> Var<T> maximum(Var<T> x, const Tensor<T>& y) { return maximum(x, constant_like(x, y)); }
template <Real T> Var<T> minimum(const Tensor<T>& x, Var<T> y) { return minimum(constant_like(y, x), y); }
template <Real T> Var<T> minimum(Var<T> x, const Tensor<T>& y) { return minimum(x, constant_like(x, y)); }
template <Real T> Var<T> where(const Tensor<T>& condition, const Tensor<T>& x, Var<T> y) { return where(condition, constant_like(y, x), y); }
template <Real T> Var<T> where(const Tensor<T>& condition, Var<T> x, const Tensor<T>& y) { return where(condition, x, constant_like(x, y)); }
template <Real T> Var<T> conv2d(const Tensor<T>& x, Var<T> w, Conv2dOptions options = {}) { return conv2d(constant_like(w, x), w, options); }
template <Real T> Var<T> conv2d(const Tensor<T>& x, Var<T> w, Var<T> bias, Conv2dOptions options = {}) { return conv2d(constant_like(w, x), w, bias, options); }
template <Real T> Var<T> conv2d_relu(const Tensor<T>& x, Var<T> w, Var<T> bias, Conv2dOptions options = {}) { return conv2d_relu(constant_like(w, x), w, bias, options); }
template <Real T> Var<T> conv2d_relu_max_pool2d(const Tensor<T>& x, Var<T> w, Var<T> bias, Conv2dOptions options = {}) { return conv2d_relu_max_pool2d(constant_like(w, x), w, bias, options); }
template <Real T> Var<T> triangular_solve(const Tensor<T>& a, Var<T> b, TriangularSolveOptions options = {}) { return triangular_solve(constant_like(b, a), b, options); }
template <Real T> Var<T> triangular_solve(Var<T> a, const Tensor<T>& b, TriangularSolveOptions options = {}) { return triangular_solve(a, constant_like(a, b), options); }
// Slices of data chosen by data: no node, a tensor.
template <Real T> Tensor<T> index_select(const Tensor<T>& x, int axis, const Indices& index);

template <Real T, class Y> Var<T>& operator+=(Var<T>& x, const Y& y) { return x = x + y; }
template <Real T, class Y> Var<T>& operator-=(Var<T>& x, const Y& y) { return x = x - y; }
template <Real T, class Y> Var<T>& operator*=(Var<T>& x, const Y& y) { return x = x * y; }
template <Real T, class Y> Var<T>& operator/=(Var<T>& x, const Y& y) { return x = x / y; }

// float and double do not mix: a tape has one number type. These exist to say so in words.
template <Real A, Real B> requires(!std::same_as<A, B>)
struct MixedTypes {
    static_assert(std::same_as<A, B>,
                  "pollen: float and double do not mix in one expression; cast one tensor before it enters the tape");
};
template <Real A, Real B> requires(!std::same_as<A, B>) MixedTypes<A, B> operator+(Var<A>, Var<B>) { return {}; }
template <Real A, Real B> requires(!std::same_as<A, B>) MixedTypes<A, B> operator-(Var<A>, Var<B>) { return {}; }
template <Real A, Real B> requires(!std::same_as<A, B>) MixedTypes<A, B> operator*(Var<A>, Var<B>) { return {}; }
template <Real A, Real B> requires(!std::same_as<A, B>) MixedTypes<A, B> operator/(Var<A>, Var<B>) { return {}; }
// clang-format on

}  // namespace pollen
