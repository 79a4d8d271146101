#include "../autograd/op_cases.hpp"
#include "fingerprint.hpp"

// Every op once, and those that sum in shapes that take all their ways: fewer numbers than lanes, lanes that are not
// full, several chunks, several threads.
namespace pollen::test {

namespace {

template <Real T>
using Vars = std::span<const Var<T>>;

template <Real T>
void add_elementwise(Fingerprints& to) {
    const std::pair<const char*, Var<T> (*)(const Var<T>&)> functions[] = {
        {"exp", [](const Var<T>& x) { return exp(x); }},
        {"expm1", [](const Var<T>& x) { return expm1(x); }},
        {"sin", [](const Var<T>& x) { return sin(x * T(1e4)); }},
        {"cos", [](const Var<T>& x) { return cos(x * T(1e4)); }},
        {"tanh", [](const Var<T>& x) { return tanh(x); }},
        {"erf", [](const Var<T>& x) { return erf(x); }},
        {"lgamma", [](const Var<T>& x) { return lgamma(x); }},
        {"digamma", [](const Var<T>& x) { return digamma(x); }},
        {"sigmoid", [](const Var<T>& x) { return sigmoid(x); }},
        {"log_sigmoid", [](const Var<T>& x) { return log_sigmoid(x); }},
        {"softplus", [](const Var<T>& x) { return softplus(x); }},
        {"gelu", [](const Var<T>& x) { return gelu(x); }},
        {"swish", [](const Var<T>& x) { return swish(x); }},
        {"elu", [](const Var<T>& x) { return elu(x); }},
        {"relu", [](const Var<T>& x) { return relu(x); }},
        {"log", [](const Var<T>& x) { return log(abs(x)); }},
        {"log1p", [](const Var<T>& x) { return log1p(abs(x)); }},
        {"sqrt", [](const Var<T>& x) { return sqrt(abs(x)); }},
        {"pow", [](const Var<T>& x) { return pow(abs(x), T(1.7)); }},
        {"div", [](const Var<T>& x) { return T(1) / x; }},
        {"dropout",
         [](const Var<T>& x) {
             return dropout(x, T(0.3), RandomKey{5, 1});
         }},
        {"neg", [](const Var<T>& x) { return -relu(x); }},
    };
    for (const auto& [name, f] : functions)
        for (const double range : {1e-3, 3.0, 40.0})
            for (const std::int64_t n : {5, 1003})
                add_function<T>(to, name, {{n}}, -range, range, [&f](Vars<T> x) { return f(x[0]); });
}

template <Real T>
void add_reductions(Fingerprints& to) {
    for (const std::int64_t n : {1,  2,  3,  4,  5,  7,  8,   9,   12,  15,   16,   17,   24,    31,
                                 32, 33, 47, 63, 64, 65, 100, 129, 257, 1000, 1025, 4099, 16384, 40001}) {
        const auto all = [&](const char* name, const auto& f) {
            add_function<T>(to, name, {{n}}, -1, 1, [&f](Vars<T> x) { return f(x[0]); });
        };
        const auto axes = [&](const char* name, const auto& f) {
            add_function<T>(to, name, {{3, n}}, -1, 1, [&f](Vars<T> x) { return f(x[0], 1); });
            add_function<T>(to, name, {{n, 3}}, -1, 1, [&f](Vars<T> x) { return f(x[0], 0); });
            add_function<T>(to, name, {{n, 19}}, -1, 1, [&f](Vars<T> x) { return f(x[0], 0); });
            if (n < 300) add_function<T>(to, name, {{2, n, 7}}, -1, 1, [&f](Vars<T> x) { return f(x[0], 1); });
        };
        all("sum", [](const Var<T>& x) { return sum(x); });
        all("mean", [](const Var<T>& x) { return mean(x); });
        all("max", [](const Var<T>& x) { return max(x); });
        all("logsumexp", [](const Var<T>& x) { return logsumexp(x); });
        all("cumsum", [](const Var<T>& x) { return cumsum(x, 0); });
        axes("sum", [](const Var<T>& x, int axis) { return sum(x, axis); });
        axes("var", [](const Var<T>& x, int axis) { return var(x, axis); });
        axes("min", [](const Var<T>& x, int axis) { return min(x, axis); });
        axes("logsumexp", [](const Var<T>& x, int axis) { return logsumexp(x, axis); });
        axes("softmax", [](const Var<T>& x, int axis) { return softmax(x, axis); });
        axes("log_softmax", [](const Var<T>& x, int axis) { return log_softmax(x, axis); });
        add_function<T>(to, "dot", {{n}, {n}}, -1, 1, [](Vars<T> x) { return dot(x[0], x[1]); });
        add_function<T>(to, "mul", {{n}, {}}, -1, 1, [](Vars<T> x) { return x[0] * x[1]; });
        add_function<T>(to, "mul", {{5, n}, {n}}, -1, 1, [](Vars<T> x) { return x[0] * x[1]; });
        add_function<T>(to, "mul", {{n, 5}, {n, 1}}, -1, 1, [](Vars<T> x) { return x[0] * x[1]; });
        add_function<T>(to, "div", {{n}, {1}}, 0.5, 1, [](Vars<T> x) { return x[0] / x[1]; });
    }
}

template <Real T>
void add_products(Fingerprints& to) {
    const std::int64_t sizes[] = {1, 3, 17, 50, 130, 300};
    for (const std::int64_t m : sizes)
        for (const std::int64_t n : sizes)
            for (const std::int64_t k : {1, 5, 16, 130, 520}) {
                add_function<T>(to, "matmul", {{m, k}, {k, n}}, -1, 1, [](Vars<T> x) { return matmul(x[0], x[1]); });
                add_function<T>(to, "affine", {{m, k}, {n, k}, {n}}, -1, 1,
                                [](Vars<T> x) { return affine(x[0], x[1], x[2]); });
                add_function<T>(to, "affine_relu", {{m, k}, {n, k}, {n}}, -1, 1,
                                [](Vars<T> x) { return affine_relu(x[0], x[1], x[2]); });
            }
    for (const std::int64_t n : {1, 2, 5, 17, 70, 150}) {
        const auto factor = [](const Var<T>& x) { return cholesky(definite(x)); };
        add_function<T>(to, "cholesky", {{n, n}}, -1, 1, [&](Vars<T> x) { return factor(x[0]); });
        add_function<T>(to, "cholesky_logdet", {{n, n}}, -1, 1,
                        [&](Vars<T> x) { return cholesky_logdet(factor(x[0])); });
        add_function<T>(to, "triangular_solve", {{n, n}, {n, 4}}, -1, 1, [&](Vars<T> x) {
            const Var<T> l = factor(x[0]);
            return triangular_solve(l, x[1]);
        });
        add_function<T>(to, "outer", {{n}, {33}}, -1, 1, [](Vars<T> x) { return outer(x[0], x[1]); });
    }
}

template <Real T>
void add_convolutions(Fingerprints& to) {
    const auto add = [&](const Shape& x, const Shape& w, const Conv2dOptions& options) {
        add_function<T>(to, "conv2d", {x, w, {w[0]}}, -1, 1,
                        [&](Vars<T> v) { return conv2d(v[0], v[1], v[2], options); });
        add_function<T>(to, "conv2d_relu", {x, w, {w[0]}}, -1, 1,
                        [&](Vars<T> v) { return conv2d_relu(v[0], v[1], v[2], options); });
        add_function<T>(to, "conv2d_relu_max_pool2d", {x, w, {w[0]}}, -1, 1,
                        [&](Vars<T> v) { return conv2d_relu_max_pool2d(v[0], v[1], v[2], options); });
    };
    add({3, 1, 28, 28}, {32, 1, 5, 5}, {});
    add({5, 32, 12, 12}, {64, 32, 5, 5}, {});
    add({2, 3, 32, 32}, {16, 3, 3, 3}, {.padding = {1, 1}});
    add({2, 64, 8, 8}, {48, 64, 3, 3}, {.padding = {1, 1}});
    add({3, 16, 9, 9}, {20, 16, 3, 3}, {.stride = {2, 2}, .padding = {1, 1}});
    add({2, 12, 7, 5}, {24, 4, 3, 3}, {.groups = 3});
    add({2, 16, 10, 10}, {16, 1, 3, 3}, {.padding = {1, 1}, .groups = 16});
    add({2, 12, 13, 21}, {24, 1, 3, 3}, {.stride = {2, 2}, .padding = {1, 1}, .groups = 12});
    add({3, 6, 40, 37}, {6, 1, 5, 3}, {.padding = {2, 1}, .groups = 6});
    add({2, 32, 6, 6}, {32, 16, 3, 3}, {.padding = {1, 1}, .groups = 2});
    add({2, 5, 11, 13}, {7, 5, 3, 2}, {.dilation = {2, 3}});
    add({1, 7, 4, 4}, {9, 7, 1, 1}, {});
    add({1, 300, 3, 3}, {5, 300, 3, 3}, {.padding = {1, 1}});
    // Winograd's algorithm in float: also above, for 5 x 5 and 3 x 3. Here channels do not fill a block and tiles stick
    // out, and there are several waves of dW.
    add({3, 17, 11, 13}, {35, 17, 3, 3}, {.padding = {1, 1}});
    add({2, 18, 13, 15}, {20, 18, 5, 5}, {.padding = {2, 2}});
    add({20, 32, 32, 32}, {32, 32, 3, 3}, {.padding = {1, 1}});
    add({9, 16, 32, 32}, {16, 16, 5, 5}, {.padding = {2, 2}});
    add_function<T>(to, "conv_transpose2d", {{3, 6, 9, 9}, {6, 10, 4, 4}}, -1, 1,
                    [](Vars<T> v) { return conv_transpose2d(v[0], v[1]); });
    add_function<T>(to, "max_pool2d", {{3, 6, 8, 8}}, -1, 1, [](Vars<T> v) { return max_pool2d(v[0]); });
    add_function<T>(to, "avg_pool2d", {{3, 6, 8, 8}}, -1, 1, [](Vars<T> v) { return avg_pool2d(v[0]); });
}

template <Real T>
void add_norms(Fingerprints& to) {
    for (const Shape& x : {Shape{3, 5, 1, 1}, Shape{2, 7, 4, 4}, Shape{2, 3, 5, 13}, Shape{20, 16, 32, 32}}) {
        const Shape each{x[1], 1, 1};
        add_function<T>(to, "filter_response_norm", {x, each, each, each}, -1, 1,
                        [](Vars<T> v) { return filter_response_norm(v[0], v[1], v[2], v[3], 1e-6); });
        add_function<T>(to, "filter_response_norm_swish", {x, each, each, each}, -1, 1,
                        [](Vars<T> v) { return filter_response_norm_swish(v[0], v[1], v[2], v[3], 1e-6); });
    }
}

template <Real T>
void add_random(Fingerprints& to) {
    Tensor<T> x = Tensor<T>::zeros({40013});
    Fingerprint normal, uniform;
    Random random(99);
    random.fill_normal(x.mutable_values());
    normal.add(x);
    random.fill_uniform(x.mutable_values());
    uniform.add(x);
    to.add("random normal", type_name<T>, normal);
    to.add("random uniform", type_name<T>, uniform);
}

template <Real T>
void add_all(Fingerprints& to) {
    for (const OpCase<T>& c : op_cases<T>()) add_function<T>(to, c.name, c.inputs, c.low, c.high, c.f);
    add_elementwise<T>(to);
    add_reductions<T>(to);
    add_products<T>(to);
    add_convolutions<T>(to);
    add_norms<T>(to);
    add_random<T>(to);
}

}  // namespace

void add_ops(Fingerprints& to) {
    add_all<float>(to);
    add_all<double>(to);
}

}  // namespace pollen::test
