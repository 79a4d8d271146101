#include "../../support.hpp"

#include <pollen/nn/layers.hpp>
#include <pollen/nn/prediction/predictive.hpp>

#include <algorithm>

// Predictions averaged over ensembles, samples of random layers, and draws of theta.
using namespace pollen;
using namespace pollen::test;

BOOST_AUTO_TEST_SUITE(predict_each)

namespace {

template <class T>
Predictive<T> together(const std::vector<Tensor<T>>& draws) {
    Predictive<T> predictive;
    for (const Tensor<T>& logits : draws) predictive.add(logits);
    return predictive;
}

// y = x w with one random weight, the same for all rows: what a Bayesian layer does. Its broken twin takes the noise
// that dropout takes.
class RandomScale : public Layer<RandomScale, double> {
  public:
    explicit RandomScale(bool broken = false) : broken_(broken) {}
    Var<double> forward(Pass<double>& pass, Var<double> x) const override {
        if (!pass.random()) return x;
        const LayerNoise layer = pass.noise(x.size());
        return x * (broken_ ? normal_at<double>(layer.key, layer.first) : normal_at<double>(pass.weight_noise(), 0));
    }
    std::string describe() const override { return "RandomScale"; }

  private:
    bool broken_;
};

Sequential<double> classifier(std::uint64_t seed) {
    Sequential net(Dense<double>(3, 8), Tanh<double>(), Dropout<double>(0.5), Dense<double>(8, 4));
    initialise<double>(net, seed);
    return net;
}

}  // namespace

BOOST_AUTO_TEST_CASE(ensembles) {
    const Tensor<double> x = normals({30, 3}, 5);
    Ensemble<double> ensemble;
    ensemble.add(classifier(1)).add(classifier(2)).add(Sequential(Dense<double>(3, 4)));
    initialise<double>(ensemble[2], 3);
    const Predictive<double> predictive = predict_ensemble(ensemble, x, {.batch = 7});
    BOOST_TEST(predictive.draws() == 3);
    const Predictive<double> expected = together<double>(
        {predict<double>(ensemble[0], x), predict<double>(ensemble[1], x), predict<double>(ensemble[2], x)});
    BOOST_TEST(predictive.probabilities() == expected.probabilities());
    BOOST_TEST(predictive.mutual_information() == expected.mutual_information());

    // A value: copies do not share parameters. Names begin with the member's number.
    Ensemble<double> copy = ensemble;
    initialise<double>(copy, 9);
    BOOST_TEST(predict_ensemble(ensemble, x, {.batch = 7}).probabilities() == predictive.probabilities());
    BOOST_TEST(predict_ensemble(copy, x).probabilities() != predictive.probabilities());
    const Parameters<double> parameters(ensemble);
    BOOST_TEST(parameters.entries()[4].name == "1.0.weight");

    Ensemble<double> twins(classifier(4), 3);
    BOOST_TEST(twins.size() == 3);
    BOOST_TEST(error_of<ShapeError>([&] { twins[3]; }) == "Ensemble: there is no member 3; it has 3, counted from 0");
    BOOST_TEST(allclose(predict_ensemble(twins, x).mutual_information(), Tensor<double>::zeros({30}), 0.0, 1e-15));
    initialise<double>(twins, 4);
    BOOST_TEST(predict_ensemble(twins, x).mutual_information()(0) > 1e-6);
}

BOOST_AUTO_TEST_CASE(samples_of_dropout) {
    const Tensor<double> x = normals({30, 3}, 5);
    const Sequential<double> net = classifier(1);
    const Predictive<double> predictive = predict_samples(net, x, {.samples = 4, .seed = 3, .first = 2, .batch = 10});
    std::vector<Tensor<double>> draws;
    for (std::uint64_t k = 2; k < 6; ++k)
        draws.push_back(predict<double>(net, x, {.batch = 10, .mode = Mode::sample, .seed = 3, .draw = k}));
    BOOST_TEST(predictive.draws() == 4);
    BOOST_TEST(predictive.probabilities() == together(draws).probabilities());
    BOOST_TEST(predictive.mutual_information()(0) > 1e-6);
    BOOST_TEST(predict_samples(net, x, {.seed = 1}).probabilities() != predict_samples(net, x).probabilities());

    // A network without randomness is the same in each sample.
    Sequential plain(Dense<double>(3, 4));
    initialise<double>(plain, 1);
    BOOST_TEST(predict_samples(plain, x).probabilities() ==
               together<double>({predict<double>(plain, x)}).probabilities());
}

// Random weights do not know how the rows were cut into pieces, and each sample has its own.
BOOST_AUTO_TEST_CASE(samples_of_weights) {
    const Tensor<double> x = Tensor<double>::ones({10, 1});
    std::vector<double> weights;
    each_sample(RandomScale(), x, {.samples = 5, .seed = 3, .batch = 3}, [&](const Tensor<double>& y) {
        for (const double v : y) BOOST_TEST(v == y(0, 0));
        weights.push_back(y(0, 0));
    });
    BOOST_TEST(weights.size() == 5);
    std::sort(weights.begin(), weights.end());
    BOOST_TEST((std::adjacent_find(weights.begin(), weights.end()) == weights.end()));
    std::vector<double> whole;
    each_sample(RandomScale(), x, {.samples = 5, .seed = 3},
                [&](const Tensor<double>& y) { whole.push_back(y(9, 0)); });
    std::sort(whole.begin(), whole.end());
    BOOST_TEST(whole == weights);
    each_sample(RandomScale(true), x, {.samples = 1, .batch = 3},
                [&](const Tensor<double>& y) { BOOST_TEST(y(9, 0) != y(0, 0)); });
}

BOOST_AUTO_TEST_CASE(draws_of_theta) {
    const Tensor<double> x = normals({30, 3}, 5);
    const Sequential<double> net = classifier(1), other = classifier(2);
    const std::vector<Tensor<double>> thetas{Parameters<double>(net).flatten(), Parameters<double>(other).flatten()};
    const Predictive<double> predictive = predict_thetas(net, thetas, x);
    BOOST_TEST(predictive.draws() == 2);
    BOOST_TEST(predictive.probabilities() ==
               together<double>({predict<double>(net, x), predict<double>(other, x)}).probabilities());
    PredictiveNumbers<double> numbers_of;
    each_theta(net, thetas, x, {.batch = 4}, [&](const Tensor<double>& y) { numbers_of.add(y); });
    BOOST_TEST(to_string(numbers_of.mean().shape()) == "(30, 4)");
}

BOOST_AUTO_TEST_CASE(errors) {
    const Sequential<double> net = classifier(1);
    const Tensor<double> x = normals({2, 3});
    BOOST_TEST(error_of<ValueError>([&] { predict_samples(net, x, {.samples = 0}); }) ==
               "each_sample: 0 samples; at least 1 is needed");
    BOOST_TEST(error_of<ValueError>([&] { predict_ensemble(Ensemble<double>(), x); }) ==
               "each_member: the ensemble has no members");
    const std::vector<Tensor<double>> thetas{Tensor<double>()};
    BOOST_TEST(error_of<ShapeError>([&] { predict_thetas(net, thetas, x); }) ==
               "each_theta: theta 0 has shape (0); the network has 68 parameters");
    BOOST_TEST(error_of<ValueError>([&] { predict_thetas(net, {}, x); }) == "each_theta: there is no theta");
    BOOST_TEST(error_of<ValueError>([&] { each_sample(net, x, {}, nullptr); }) == "each_sample: the function is empty");
    BOOST_TEST(error_of<ValueError>([&] { each_member(Ensemble<double>(net, 1), x, {}, nullptr); }) ==
               "each_member: the function is empty");
    BOOST_TEST(error_of<ValueError>([&] { each_theta(net, thetas, x, {}, nullptr); }) ==
               "each_theta: the function is empty");
}

BOOST_AUTO_TEST_SUITE_END()
