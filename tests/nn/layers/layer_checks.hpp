#pragma once

#include "../../support.hpp"

#include <pollen/nn/module/save.hpp>
#include <pollen/nn/module/walk.hpp>
#include <pollen/nn/variational/bayes.hpp>

#include <cstring>

// What every layer with parameters has to do: gradients, saving, and a Bayesian twin.
namespace pollen::test {

template <class T>
bool bits_are_equal(const Tensor<T>& a, const Tensor<T>& b) {
    return a.shape() == b.shape() &&
           std::memcmp(a.data(), b.data(), static_cast<std::size_t>(a.size()) * sizeof(T)) == 0;
}

// Normal numbers times `scale` for all parameters.
template <class T>
void fill_parameters(HasParameters<T>& tree, std::uint64_t seed = 5, double scale = 1) {
    initialise(tree, seed);
    Random random(seed);
    each_parameter(tree, [&](const std::string&, Parameter<T>& p) {
        for (T& x : p.value.mutable_values()) x = static_cast<T>(scale) * random.normal<T>();
    });
}

// The layer's gradients with respect to x and all learned parameters, against central differences.
inline void check_layer_gradients(const Module<double>& layer, const Tensor<double>& x, Mode mode = Mode::predict) {
    const Parameters<double> parameters(layer);
    std::vector<Tensor<double>> points{x};
    std::vector<const Parameter<double>*> learned;
    for (const auto& entry : parameters.entries()) {
        if (entry.parameter->statistic) continue;
        learned.push_back(entry.parameter);
        points.push_back(entry.parameter->value);
    }
    const GradcheckResult result = gradcheck(
        [&](std::span<const Var<double>> v) {
            Tape<double> other;
            Pass<double> pass(other, parameters, {.mode = mode});
            for (const auto& entry : parameters.entries())
                pass.set(*entry.parameter, constant_like(v[0], entry.parameter->value));
            for (std::size_t k = 0; k < learned.size(); ++k) pass.set(*learned[k], v[k + 1]);
            return layer(pass, v[0]);
        },
        points);
    BOOST_TEST(result.ok, layer.describe() << ": " << result.message);
}

// A file of the layer, read into another one, makes the same outputs.
template <class L, class T = typename L::Number>
void check_saved(const L& layer, L fresh, const Tensor<T>& x) {
    initialise<T>(fresh, 77);
    from_tensors<T>(to_tensors<T>(layer), fresh);
    BOOST_TEST(bits_are_equal(predict<T>(fresh, x), predict<T>(layer, x)), layer.describe() << " after loading");
}

// KL[q || N(0, 1)] of a mean-field posterior: sum (sigma^2 + mu^2 - 1) / 2 - log sigma.
template <class T>
double kl_from_standard_normal(const Bayes<T>& twin) {
    double kl = 0;
    for (const auto& weight : twin.weights()) {
        const Tensor<T> mean = weight.posterior->mean_value(), sd = weight.posterior->sd_value();
        for (std::int64_t i = 0; i < mean.size(); ++i) {
            const auto mu = static_cast<double>(mean.data()[i]), sigma = static_cast<double>(sd.data()[i]);
            kl += (sigma * sigma + mu * mu - 1) / 2 - std::log(sigma);
        }
    }
    return kl;
}

// The Bayesian twin of a layer, which has parameters with these names: point masses make the outputs of the layer; the
// KL is that of all weights; a draw makes the outputs of the layer with the drawn weights, and another draw others.
template <class L, class T = typename L::Number>
void check_twin(const L& layer, const Tensor<T>& x, const std::vector<std::string>& names) {
    BOOST_TEST_CONTEXT(layer.describe()) {
        const Tensor<T> y = predict<T>(layer, x);
        const Bayes<T> points = bayesian(layer, {.posterior = point_mass<T>()});
        BOOST_TEST(bits_are_equal(predict<T>(points, x), y), "point masses, plain prediction");
        BOOST_TEST(bits_are_equal(predict<T>(points, x, {.mode = Mode::sample}), y), "point masses, one draw");

        const Bayes<T> twin = bayesian(layer, {.posterior = mean_field<T>(0.1), .complexity = Complexity::closed});
        std::vector<std::string> found;
        for (const auto& weight : twin.weights()) found.push_back(weight.name);
        BOOST_TEST(found == names, boost::test_tools::per_element());
        BOOST_TEST(bits_are_equal(predict<T>(twin, x), y), "plain prediction is at the means");

        const Parameters<T> parameters(twin);
        Tape<T> tape;
        Pass<T> pass(tape, parameters, {.mode = Mode::train, .seed = 3, .complexity_value = true});
        const Tensor<T> drawn = twin(pass, tape.constant(x)).value();
        double complexity = 0;
        for (const Var<T>& c : pass.complexities())
            complexity += static_cast<double>(c.value().data()[0]) - static_cast<double>(c.value().data()[1]);
        BOOST_TEST(complexity == kl_from_standard_normal(twin),
                   boost::test_tools::tolerance(std::same_as<T, double> ? 1e-12 : 1e-5));

        L other = layer;
        const std::vector<Var<T>>& weights = *pass.drawn_by(&twin);
        auto weight = weights.begin();
        each_parameter(other, [&](const std::string&, Parameter<T>& p) { p.value = (weight++)->value(); });
        BOOST_TEST(bits_are_equal(predict<T>(other, x), drawn), "the layer with the drawn weights");
        BOOST_TEST(!bits_are_equal(drawn, y), "weights are drawn");
        const auto draw = [&](std::uint64_t k) { return predict<T>(twin, x, {.mode = Mode::sample, .draw = k}); };
        BOOST_TEST(!bits_are_equal(draw(0), draw(1)), "another draw");
    }
}

}  // namespace pollen::test
