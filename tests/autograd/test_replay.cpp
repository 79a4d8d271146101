#include "../support.hpp"

#include <pollen/nn/distributions.hpp>

#include <cstring>
#include <functional>
#include <set>

// Record a tape, write other numbers into its variables, replay it: the bits are those of a tape that is recorded
// there.
using namespace pollen;
using namespace pollen::test;
using distributions::Gamma;
using distributions::Normal;

BOOST_AUTO_TEST_SUITE(replay)

namespace {

using Vars = std::span<const Var<double>>;

struct Case {
    const char* name;
    std::vector<Shape> inputs;
    std::function<Var<double>(Vars)> f;
    double low = 0.1, high = 0.9;  // of the inputs' numbers
};

bool same_bits(const Tensor<double>& a, const Tensor<double>& b) {
    return a.shape() == b.shape() &&
           std::memcmp(a.data(), b.data(), static_cast<std::size_t>(a.size()) * sizeof(double)) == 0;
}

// L' L + I for a matrix L: positive definite.
Var<double> definite(const Var<double>& l) {
    return matmul(l, l, {.transpose_x = true}) + Tensor<double>::eye(l.shape()[0]);
}

const RandomKey key{11, 3};
const Tensor<double> condition{{1, 0, 1}, {0, 1, 1}};
const Indices labels{2, 0, 1, 2}, index{1, 0, 1};

// Every op of ops.hpp, and if it has several ways to compute, each of them; and densities.
std::vector<Case> all_ops() {
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
        {"pow", {matrix}, [](Vars x) { return pow(x[0], 2) + pow(x[0], 0) + pow(x[0], 1.5); }},
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
        {"clamp", {matrix}, [](Vars x) { return clamp(x[0], 0.3, 0.6); }},
        {"where", {matrix, row}, [](Vars x) { return where(condition, x[0], x[1]); }},
        {"dropout", {wide}, [](Vars x) { return dropout(x[0], 0.4, key); }},
        {"sum", {matrix}, [](Vars x) { return sum(x[0]) + sum(sum(x[0], 0)) + sum(x[0], 1, true); }},
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
        {"conv_transpose2d", {images, kernels}, [](Vars x) { return conv_transpose2d(x[0], x[1]); }},
        {"max_pool2d", {images}, [](Vars x) { return max_pool2d(x[0]); }},
        {"avg_pool2d",
         {images},
         [](Vars x) {
             return avg_pool2d(x[0], {.size = {3, 3}});
         }},
        {"cholesky", {square_matrix}, [](Vars x) { return cholesky(definite(x[0])); }},
        {"triangular_solve", {square_matrix, {3, 2}}, [](Vars x) { return triangular_solve(x[0], x[1]); }},
        {"cholesky_logdet", {square_matrix}, [](Vars x) { return cholesky_logdet(cholesky(definite(x[0]))); }},
        {"detach", {matrix}, [](Vars x) { return x[0] * exp(exp(x[0]).detach()); }},
        {"normal_lpdf", {matrix, row, one}, [](Vars x) { return normal_lpdf(x[0], x[1], x[2]); }},
        {"normal_lpdf", {one, one}, [](Vars x) { return normal_lpdf(condition, x[0], x[1]); }},
        {"gamma_lpdf", {matrix, row}, [](Vars x) { return gamma_lpdf(x[0], x[1], 2); }},
        {"log_prob_terms", {matrix, row}, [](Vars x) { return Normal<double>(x[1], 2).log_prob_terms(x[0]); }},
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
        {"kl", {row, row}, [](Vars x) { return kl(Normal<double>(x[0], x[1]), Normal<double>(0, 1)); }},
        {"categorical_logit_lpmf", {{4, 3}}, [](Vars x) { return categorical_logit_lpmf(labels, x[0]); }},
        {"bernoulli_logit_glm_lpmf",
         {one, row},
         [](Vars x) {
             return bernoulli_logit_glm_lpmf(Indices{0, 1}, condition, x[0], x[1]);
         }},
        {"multi_normal_cholesky_lpdf",
         {row},
         [](Vars x) { return multi_normal_cholesky_lpdf(condition, x[0], Tensor<double>::eye(3)); }},
    };
}

// Those without a forward: tapes that hold them cannot be replayed.
const std::set<std::string> without_forward{"gamma rsample", "bernoulli_logit_glm_lpmf", "multi_normal_cholesky_lpdf"};

std::vector<Tensor<double>> point(const Case& c, std::uint64_t seed) {
    std::vector<Tensor<double>> numbers;
    for (const Shape& shape : c.inputs) numbers.push_back(uniforms(shape, c.low, c.high, seed++));
    return numbers;
}

std::vector<Var<double>> variables(Tape<double>& tape, const std::vector<Tensor<double>>& numbers) {
    std::vector<Var<double>> x;
    for (const Tensor<double>& n : numbers) x.push_back(tape.borrow_variable(n));
    return x;
}

void write(std::vector<Tensor<double>>& to, const std::vector<Tensor<double>>& from) {
    for (std::size_t k = 0; k < to.size(); ++k) std::copy(from[k].begin(), from[k].end(), to[k].mutable_data());
}

void check(const Case& c) {
    BOOST_TEST_CONTEXT(c.name) {
        std::vector<Tensor<double>> numbers = point(c, 1);
        const std::vector<Tensor<double>> there = point(c, 100);
        Tape<double> tape(Recording::replay), fresh;
        const std::vector<Var<double>> x = variables(tape, numbers), z = variables(fresh, there);
        const Var<double> y = c.f(x), expected = c.f(z);
        const Tensor<double> seed = normals(y.shape(), 7), before = y.value(), copy(before.shape(), before.values());
        tape.backward(y, seed);  // a way back before the replay leaves no trace
        tape.zero_grad();
        write(numbers, there);
        if (without_forward.contains(c.name)) {
            BOOST_TEST(error_of<TapeError>([&] { tape.replay(); }).find("has no forward") != std::string::npos);
            return;
        }
        tape.replay();
        tape.backward(y, seed);
        fresh.backward(expected, seed);
        BOOST_TEST(same_bits(y.value(), expected.value()), "values differ");
        for (std::size_t k = 0; k < x.size(); ++k)
            BOOST_TEST(same_bits(x[k].grad(), z[k].grad()), "gradients of input " << k << " differ");
        BOOST_TEST(same_bits(before, copy), "a value that was taken away must not change");
    }
}

}  // namespace

BOOST_AUTO_TEST_CASE(every_op) {
    for (const Case& c : all_ops()) check(c);
}

BOOST_AUTO_TEST_CASE(a_model_again_and_again) {
    Tensor<double> mu = Tensor<double>::scalar(0.2), sd = Tensor<double>::scalar(0.5), w = normals({3}, 2);
    const auto model = [&](Tape<double>& tape, std::vector<Var<double>>& x) {
        x = {tape.borrow_variable(mu), tape.borrow_variable(sd), tape.borrow_variable(w)};
        const Var<double> prior = normal_lpdf(x[0], 0, 1) + gamma_lpdf(x[1], 2, 2);
        const Var<double> fit = matmul(condition, x[2]) * tanh(x[0]);
        return prior + normal_lpdf(Tensor<double>{0.3, -0.2}, fit, x[1]);
    };
    Tape<double> tape(Recording::replay);
    std::vector<Var<double>> x;
    const Var<double> y = model(tape, x);
    const std::size_t nodes = tape.size();
    for (const double step : {0.1, -0.4, 0.7}) {
        mu.mutable_at() += step;
        sd.mutable_at() *= 1.3;
        w.mutable_at(1) -= step;
        tape.zero_grad();
        tape.replay();
        tape.backward(y);
        Tape<double> fresh;
        std::vector<Var<double>> z;
        const Var<double> expected = model(fresh, z);
        fresh.backward(expected);
        BOOST_TEST(same_bits(y.value(), expected.value()));
        for (std::size_t k = 0; k < 3; ++k) BOOST_TEST(same_bits(x[k].grad(), z[k].grad()));
    }
    BOOST_TEST(tape.size() == nodes);
}

BOOST_AUTO_TEST_CASE(constants_are_kept_and_not_computed_again) {
    Tensor<double> at{1, 2};
    int calls = 0;
    const auto twice = [&](Var<double> x) {
        return record(
            "twice", {x}, x.shape(),
            [&calls](Forward<double>& node) {
                ++calls;
                for (int i = 0; i < 2; ++i) node.value()[i] = 2 * node.input(0).data()[i];
            },
            [](Backward<double>& node) {
                for (int i = 0; i < 2; ++i) node.accumulate(0)[i] += 2 * node.grad()[i];
            });
    };
    Tape<double> tape(Recording::replay);
    const auto x = tape.borrow_variable(at);
    const auto y = [&] {
        Tensor<double> data{3, 4};  // gone before the replay
        return twice(twice(tape.constant(data)) * x) + data;
    }();
    BOOST_TEST(calls == 2);
    at.mutable_at(0) = 10;
    tape.replay();
    BOOST_TEST(calls == 3);
    BOOST_TEST((y.value() == Tensor<double>{123, 36}));
}

BOOST_AUTO_TEST_CASE(nodes_after_a_mark_are_forgotten) {
    Tensor<double> at{1, 2};
    Tape<double> tape(Recording::replay);
    const auto x = tape.borrow_variable(at);
    const auto y = exp(x);
    const auto mark = tape.mark();
    (void)record("odd", {y}, Tensor<double>{1, 2}, [](Backward<double>&) {});
    BOOST_TEST(error_of<TapeError>([&] { tape.replay(); }) ==
               "replay: node 2 (odd, shape (2)) has no forward; clear the tape and record it again, or give the op a "
               "forward");
    tape.rewind(mark);
    at.mutable_at(0) = 0;
    tape.replay();
    BOOST_TEST(y.value()(0) == 1);
}

BOOST_AUTO_TEST_CASE(errors_at_the_new_numbers_go_through) {
    Tensor<double> sd = Tensor<double>::scalar(1);
    Tape<double> tape(Recording::replay);
    const auto y = normal_lpdf(Tensor<double>{1, 2}, 0, tape.borrow_variable(sd));
    sd.mutable_at() = -1;
    BOOST_TEST(error_of<DomainError>([&] { tape.replay(); }) == "Normal: sd is -1; it must be positive");
    sd.mutable_at() = 1;
    tape.replay();
    BOOST_TEST(y.item() == value<double>([](auto x) { return normal_lpdf(Tensor<double>{1, 2}, 0, x); }, sd).item());
}

BOOST_AUTO_TEST_CASE(other_tapes_keep_no_forwards) {
    Tape<double> tape;
    (void)exp(tape.variable({1, 2}));
    BOOST_TEST(error_of<TapeError>([&] { tape.replay(); }) ==
               "replay: the tape keeps no forwards; make it with Recording::replay");
}

BOOST_AUTO_TEST_SUITE_END()
