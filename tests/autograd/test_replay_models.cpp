#include "replay_check.hpp"

#include <pollen/nn/distributions/own_density.hpp>
#include <pollen/nn/likelihoods.hpp>
#include <pollen/nn/pruning/sparse.hpp>

#include <cmath>

using namespace pollen;
using namespace pollen::test;

// The ops of nn/ that are not in op_cases.hpp.
BOOST_AUTO_TEST_SUITE(replay_models)

namespace {

using pollen::test::replay::check;
using Case = OpCase<double>;
using Vars = std::span<const Var<double>>;

// f(pass, x[0]) of a layer or a likelihood whose parameters are the other x.
template <class F>
Var<double> with_parameters(const HasParameters<double>& owner, Vars x, const F& f) {
    const Parameters<double> parameters(owner);
    Tape<double> unused;
    Pass<double> pass(unused, parameters);
    std::size_t k = 1;
    for (const auto& entry : parameters.entries()) pass.set(*entry.parameter, x[k++]);
    return f(pass, x[0]);
}

std::vector<Shape> shapes_of(const Shape& x, const HasParameters<double>& owner) {
    std::vector<Shape> shapes{x};
    const Parameters<double> parameters(owner);
    for (const auto& entry : parameters.entries()) shapes.push_back(entry.parameter->shape);
    return shapes;
}

Case layer_case(const Module<double>& layer, const Shape& x) {
    return {"layer", shapes_of(x, layer), [&layer](Vars at) {
                return with_parameters(layer, at, [&](auto& pass, auto input) { return layer(pass, input); });
            }};
}

// The targets are gone before the replay. They have no owner, as in a batch that points at its data set.
Case likelihood_case(const Likelihood<double>& likelihood, const Shape& outputs, const Shape& targets) {
    return {"likelihood", shapes_of(outputs, likelihood), [&likelihood, targets](Vars at) {
                Tensor<double> data = Tensor<double>::full(targets, 1);
                const Dataset<double> batch{.inputs = {}, .targets = Tensor<double>::borrow(data.data(), targets)};
                const Var<double> y = with_parameters(
                    likelihood, at, [&](auto& pass, auto x) { return likelihood.log_prob(pass, x, batch); });
                for (double& x : data.mutable_values()) x = 0;
                return y;
            }};
}

struct PlainNormalLaw {
    static constexpr const char* name = "plain_normal_lpdf";
    static constexpr std::array parameters{distributions::Parameter{"mean"},
                                           distributions::Parameter{"sd", distributions::Bound::positive}};
    template <class T>
    static T log_prob(T x, T mean, T sd, T* d) {
        const T z = (x - mean) / sd;
        d[0] = -z / sd;
        d[1] = z / sd;
        d[2] = (z * z - 1) / sd;
        return T(-0.5) * z * z - std::log(sd);
    }
};
using PlainNormal = distributions::OwnDensity<double, PlainNormalLaw>;

}  // namespace

BOOST_AUTO_TEST_CASE(draws_again) {
    using distributions::Beta;
    using distributions::StudentT;
    const Shape row{3}, draws{4, 3};
    const Tensor<double> constant{0.4, 1.5, 30};
    check({"beta", {row, {4, 1}}, [&](Vars x) { return Beta<double>(x[0], x[1]).rsample(draws, key); }});
    check({"beta of a constant", {row}, [&](Vars x) { return Beta<double>(x[0], constant).rsample(draws, key); }});
    check({"beta of a constant", {row}, [&](Vars x) { return Beta<double>(2, x[0]).rsample(draws, key); }});
    check({"symmetric beta", {row}, [&](Vars x) { return exp(x[0]) * Beta<double>(x[0], x[0]).rsample(draws, key); }});
    check({"beta without gradients", {row}, [&](Vars x) {
               return x[0] * Beta<double>(exp(x[0]).detach(), 2).rsample(draws, key);
           }});
    check({"student_t", {row, {4, 1}, {}}, [&](Vars x) {
               return StudentT<double>(x[0], x[1], x[2]).rsample(draws, key);
           }});
    check({"student_t of known nu", {row, {}}, [&](Vars x) {
               return StudentT<double>(3, x[0], x[1]).rsample(draws, key);
           }});
    check({"student_t of known scale", {row}, [&](Vars x) {
               return StudentT<double>(x[0], constant, 2).rsample(draws, key);
           }});
}

BOOST_AUTO_TEST_CASE(kl_of_classes) {
    using distributions::Categorical;
    const Shape logits{4, 3};
    const Tensor<double> constant = normals({4, 3});
    check({"kl", {logits, logits}, [](Vars x) { return kl(Categorical<double>(x[0]), Categorical<double>(x[1])); }});
    check({"kl", {logits}, [&](Vars x) { return kl(Categorical<double>(x[0]), Categorical<double>(constant)); }});
}

BOOST_AUTO_TEST_CASE(own_densities) {
    check({"terms", {{4, 1}, {3}, {}}, [](Vars x) { return PlainNormal(x[1], x[2]).log_prob_terms(x[0]); }});
    check({"sum", {{3}}, [](Vars x) {
               const Tensor<double> data = normals({4, 3}), sd{0.5, 1, 2};  // gone before the replay
               return PlainNormal::lpdf({data, x[0], sd});
           }});
    Tensor<double> sd{1, 2};
    Tape<double> tape(Recording::replay);
    (void)PlainNormal(0, tape.borrow_variable(sd)).log_prob(Tensor<double>{1, 2});
    sd.mutable_at(1) = -1;
    BOOST_TEST(error_of<DomainError>([&] { tape.replay(); }) ==
               "plain_normal_lpdf: sd is -1 at element 1; it must be positive");
}

BOOST_AUTO_TEST_CASE(sparse_layers) {
    Tensor<double> w = normals({5, 6}), kernels = normals({4, 2, 3, 3});
    for (Tensor<double>* weights : {&w, &kernels})
        for (std::int64_t i = 0; i < weights->size(); i += 2) weights->mutable_data()[i] = 0;
    check(layer_case(SparseDense<double>(w), {4, 6}));
    check(layer_case(SparseDense<double>(w, normals({5})), {2, 4, 6}));
    check(layer_case(SparseConv2d<double>(kernels), {2, 2, 6, 5}));
    check(layer_case(SparseConv2d<double>(kernels, normals({4}), {.padding = {1, 1}}), {2, 2, 6, 5}));
}

BOOST_AUTO_TEST_CASE(likelihoods) {
    check(likelihood_case(Gaussian<double>::known(0.5), {40, 3}, {40, 3}));
    check(likelihood_case(Gaussian<double>::learned(), {40, 3}, {40, 3}));
    check(likelihood_case(Gaussian<double>::predicted(), {2, 2}, {2, 1}));
    check(likelihood_case(Gaussian<double>::predicted(), {40, 6}, {40, 3}));
    check(likelihood_case(Bernoulli<double>(), {40}, {40}));
    check(likelihood_case(Poisson<double>(), {40}, {40}));
    check(likelihood_case(StudentT<double>::known(4, 0.5), {40}, {40}));
}

BOOST_AUTO_TEST_CASE(data_without_an_owner_are_copied) {
    check({"glm", {{}, {3}}, [](Vars x) {
               Tensor<double> data = normals({4, 3}), labels{1, 0, 0, 1};
               const Tensor<double> y = Tensor<double>::borrow(labels.data(), {4});
               const Tensor<double> rows = Tensor<double>::borrow(data.data(), {4, 3});
               const Var<double> sum = bernoulli_logit_glm_lpmf(y, rows, x[0], x[1]);
               for (double& number : data.mutable_values()) number = 0;
               for (double& label : labels.mutable_values()) label = 0;
               return sum;
           }});
}

BOOST_AUTO_TEST_SUITE_END()
