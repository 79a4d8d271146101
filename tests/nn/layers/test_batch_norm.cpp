#include "layer_checks.hpp"
#include "torch_cases.hpp"

#include <pollen/nn/layers.hpp>
#include <pollen/nn/likelihoods/gaussian.hpp>
#include <pollen/nn/potentials/network_potential.hpp>
#include <pollen/nn/priors.hpp>
#include <pollen/nn/pruning/compress.hpp>
#include <pollen/nn/training/train.hpp>

#include <filesystem>

using namespace pollen;
using namespace pollen::test;

BOOST_AUTO_TEST_SUITE(batch_norm)

namespace {

// Values and gradients, and in training the next running statistics.
template <class T>
void check_statistics(const char* test, std::int64_t features, Mode mode) {
    BOOST_TEST_CONTEXT(test) {
        BatchNorm<T> layer(features);
        give_values<T>(layer, test);
        std::vector<typename Pass<T>::Statistic> next;
        compare_with_torch<T>(
            test, layer,
            [&](Pass<T>& pass, Var<T> x) {
                const Var<T> y = layer(pass, x);
                next = pass.statistics();
                return y;
            },
            mode);
        BOOST_REQUIRE(next.size() == (mode == Mode::train ? 2u : 0u));
        if (mode != Mode::train) return;
        BOOST_TEST(next[0].parameter == &layer.running_mean);
        BOOST_TEST(wrong_numbers(next[0].next, torch(test, "next.running_mean")) == 0);
        BOOST_TEST(next[1].parameter == &layer.running_variance);
        BOOST_TEST(wrong_numbers(next[1].next, torch(test, "next.running_variance")) == 0);
    }
}

void check_both(const char* test, std::int64_t features, Mode mode) {
    check_statistics<float>(test, features, mode);
    check_statistics<double>(test, features, mode);
}

// y = 2 x_0 - x_1 and a little noise.
Dataset<double> numbers() {
    Dataset<double> data{.inputs = normals({30, 2}, 2), .targets = normals({30, 1}, 3)};
    for (std::int64_t i = 0; i < 30; ++i)
        data.targets.mutable_data()[i] = 0.1 * data.targets.data()[i] + 2 * data.inputs(i, 0) - data.inputs(i, 1);
    return data;
}

Sequential<double> network() {
    return Sequential{Dense<double>(2, 4), BatchNorm<double>(4), Relu<double>(), Dense<double>(4, 1)};
}

const BatchNorm<double>& norm_of(const Sequential<double>& net) {
    return dynamic_cast<const BatchNorm<double>&>(net[1]);
}

Sequential<double> trained() {
    Sequential<double> net = network();
    auto likelihood = Gaussian<double>::known(0.1);
    train(net, likelihood, numbers(), {.epochs = 5, .batch = 10, .seed = 1, .show = Show::nothing});
    return net;
}

const std::string advice =
    " is a running statistic: in training, what the network makes of an item depends on the other items of its batch, "
    "and there is no likelihood of an item; call freeze_batch_norm(net) first, or use LayerNorm or FilterResponseNorm";

}  // namespace

BOOST_AUTO_TEST_CASE(as_in_pytorch) {
    check_both("batch_norm", 3, Mode::train);
    check_both("batch_norm_sequences", 2, Mode::train);
    check_both("batch_norm_images", 3, Mode::train);
    check_both("batch_norm_running", 3, Mode::predict);
    check_both("batch_norm_running", 3, Mode::sample);
    check_both("batch_norm_running_images", 3, Mode::predict);
}

BOOST_AUTO_TEST_CASE(gradients) {
    BatchNorm<double> layer(3);
    initialise<double>(layer, 1);
    layer.scale.value = normals({3}, 4);
    layer.shift.value = normals({3}, 5);
    check_layer_gradients(layer, normals({4, 3}), Mode::train);
    check_layer_gradients(layer, normals({2, 3, 2, 2}), Mode::train);
    layer.running_mean.value = normals({3}, 6);
    layer.running_variance.value = uniforms({3}, 0.5, 2, 7);
    check_layer_gradients(layer, normals({4, 3}));
    layer.freeze();
    check_layer_gradients(layer, normals({4, 3, 2}), Mode::train);
}

// Each step of train() moves them by a tenth of the way to the statistics of its batch, whatever prior and decay do to
// parameters. Here each batch has all items, and the layer gets the data.
BOOST_AUTO_TEST_CASE(training_moves_running_statistics) {
    Sequential<double> net{BatchNorm<double>(2), Dense<double>(2, 1)};
    set_prior(net[0], LaplacePrior{0.01});
    auto likelihood = Gaussian<double>::known(0.1);
    const Dataset<double> data = numbers();
    train(net, likelihood, data,
          {.epochs = 3,
           .batch = 30,
           .optimiser = AdamW{.rate = 0.1, .weight_decay = 0.5},
           .seed = 1,
           .prior = GaussianPrior{0.1},
           .show = Show::nothing});
    const auto& layer = dynamic_cast<const BatchNorm<double>&>(net[0]);
    for (std::int64_t k = 0; k < 2; ++k) {
        double sum = 0, squares = 0;
        for (std::int64_t i = 0; i < 30; ++i) sum += data.inputs(i, k);
        for (std::int64_t i = 0; i < 30; ++i) squares += std::pow(data.inputs(i, k) - sum / 30, 2);
        const double left = std::pow(0.9, 3);
        BOOST_TEST(layer.running_mean.value(k) == (1 - left) * sum / 30, boost::test_tools::tolerance(1e-12));
        BOOST_TEST(layer.running_variance.value(k) == left + (1 - left) * squares / 29,
                   boost::test_tools::tolerance(1e-12));
        BOOST_TEST(layer.scale.value(k) != 1);
    }
}

// A layer that is used twice in a pass moves them twice.
BOOST_AUTO_TEST_CASE(used_twice) {
    BatchNorm<double> layer(1, {.momentum = 0.5});
    initialise<double>(layer, 1);
    Tape<double> tape;
    const Parameters<double> parameters(layer);
    Pass<double> pass(tape, parameters, {.mode = Mode::train});
    const auto x = [&](double a, double b) { return tape.constant(Tensor<double>({2, 1}, {a, b})); };
    const auto first = x(1, 3), second = x(5, 9);
    layer(pass, first);
    layer(pass, second);
    BOOST_REQUIRE(pass.statistics().size() == 2u);
    BOOST_TEST(pass.statistic(layer.running_mean).item() == (0 / 2.0 + 2 / 2.0) / 2 + 7 / 2.0);
    BOOST_TEST(pass.statistic(layer.running_variance).item() == (1 / 2.0 + 2 / 2.0) / 2 + 8 / 2.0);
    tape.clear();
    pass.restart({.mode = Mode::train});
    BOOST_TEST(pass.statistics().empty());
}

// A run that is interrupted and resumed ends with the same statistics, and the best epoch has its own.
BOOST_AUTO_TEST_CASE(checkpoints) {
    const std::string file = (std::filesystem::temp_directory_path() / "pollen_batch_norm.safetensors").string();
    const Dataset<double> data = numbers();
    auto likelihood = Gaussian<double>::known(0.1);
    Sequential<double> whole = network(), parts = network();
    TrainOptions options{.epochs = 4, .batch = 8, .seed = 3, .show = Show::nothing};
    train(whole, likelihood, data, options, &data);
    options.checkpoint = file;
    options.on_epoch = [](const EpochRecord& record) { return record.epoch < 2; };
    train(parts, likelihood, data, options, &data);
    parts = network();
    options.on_epoch = {};
    options.resume = true;
    train(parts, likelihood, data, options, &data);
    std::filesystem::remove(file);
    BOOST_TEST(bits_are_equal(Parameters<double>(whole).flatten(), Parameters<double>(parts).flatten()));
    BOOST_TEST(norm_of(whole).running_variance.value(0) != 1);
}

BOOST_AUTO_TEST_CASE(frozen) {
    const Sequential<double> net = trained();
    Sequential<double> still = net;
    freeze_batch_norm(still);
    BOOST_TEST(norm_of(still).frozen());
    BOOST_TEST(!norm_of(net).frozen());
    const Tensor<double> x = numbers().inputs;
    BOOST_TEST(bits_are_equal(predict(still, x), predict(net, x)));
    BOOST_TEST(Parameters<double>(net).size() == 12 + 16 + 5);
    BOOST_TEST(Parameters<double>(still).size() == 12 + 8 + 5);
    BOOST_TEST(parameter_count<double>(net) == 12 + 8 + 5);
    BOOST_TEST(bits_are_equal(predict(*compress<double>(still), x), predict(net, x)));

    // Training does not change what is frozen, and uses it.
    auto likelihood = Gaussian<double>::known(0.1);
    Sequential<double> further = still;
    train(further, likelihood, numbers(), {.epochs = 1, .batch = 10, .show = Show::nothing});
    BOOST_TEST(bits_are_equal(norm_of(further).running_mean.value, norm_of(net).running_mean.value));
    BOOST_TEST(!bits_are_equal(norm_of(further).scale.value, norm_of(net).scale.value));
}

// Files are the same, frozen or not, and each kind of layer reads them.
BOOST_AUTO_TEST_CASE(saved) {
    const Sequential<double> net = trained();
    const Tensor<double> x = numbers().inputs, y = predict(net, x);
    Sequential<double> still = net, other = network(), other_still = network();
    freeze_batch_norm(still);
    initialise(other, 8);
    initialise(other_still, 9);
    freeze_batch_norm(other_still);
    const TensorFile file = to_tensors<double>(net), still_file = to_tensors<double>(still);
    BOOST_TEST(file.names() == still_file.names(), boost::test_tools::per_element());
    from_tensors(still_file, other);
    BOOST_TEST(bits_are_equal(predict(other, x), y));
    from_tensors(file, other_still);
    BOOST_TEST(bits_are_equal(predict(other_still, x), y));
    // The twin has the constants in its file.
    Sequential<double> third = network();
    initialise(third, 10);
    freeze_batch_norm(third);
    auto twin = bayesian(still), other_twin = bayesian(third);
    from_tensors(to_tensors<double>(twin), other_twin);
    BOOST_TEST(bits_are_equal(predict(other_twin, x), predict(twin, x)));
    BOOST_TEST(bits_are_equal(predict(*mean_network<double>(other_twin), x), y));
    TensorFile broken = still_file;
    broken.set("1.running_mean", Tensor<double>::zeros({3}));
    BOOST_TEST(error_of<FileError>([&] { from_tensors(broken, other_still); }) ==
               "tensors: tensor \"1.running_mean\" is F64 (3), but F64 (4) was asked for");
}

BOOST_AUTO_TEST_CASE(bayesian_twin_of_a_frozen_layer) {
    BatchNorm<float> layer(3);
    initialise(layer, 1);
    layer.running_mean.value = cast<float>(normals({3}, 6));
    layer.running_variance.value = cast<float>(uniforms({3}, 0.5, 2, 7));
    layer.freeze();
    check_twin(layer, cast<float>(normals({4, 3, 2})), {"scale", "shift"});
}

// What needs a likelihood of each item refuses the layer until it is frozen. Then U is a sum over items.
BOOST_AUTO_TEST_CASE(refused_unless_frozen) {
    Sequential<double> net = trained();
    const Dataset<double> data = numbers();
    auto likelihood = Gaussian<double>::known(0.1);
    BOOST_TEST(error_of<ValueError>([&] { NetworkPotential<double>(net, likelihood, data); }) ==
               "NetworkPotential: 1.running_mean" + advice);
    BOOST_TEST(error_of<ValueError>([&] { bayesian(net); }) == "Bayes: running_mean" + advice);
    Sequential<double> half{bayesian(Dense<double>(2, 4)), BatchNorm<double>(4), Dense<double>(4, 1)};
    BOOST_TEST(error_of<ValueError>([&] { train(half, likelihood, data); }) == "train: 1.running_mean" + advice);
    const Spread spread(Group::alone(), 30, 3);
    BOOST_TEST(error_of<ValueError>([&] { train(net, likelihood, data, {.spread = spread}); }) ==
               "train: 1.running_mean" + advice);

    freeze_batch_norm(net);
    NetworkPotential<double> all(net, likelihood, data), first(net, likelihood, data.view(0, 7)),
        rest(net, likelihood, data.view(7, 23));
    BOOST_TEST(all.size() == 12 + 8 + 5);
    const std::vector<double> theta = all.start();
    std::vector<double> gradient(theta.size());
    const auto u = [&](NetworkPotential<double>& potential) { return potential.evaluate(theta, gradient).likelihood; };
    const double a = u(first), b = u(rest);
    BOOST_TEST(u(all) == a + b, boost::test_tools::tolerance(1e-12));
    train(net, likelihood, data, {.epochs = 1, .spread = spread, .show = Show::nothing});
    Sequential<double> twin = bayesian(net);
    train(twin, likelihood, data, {.epochs = 1, .show = Show::nothing});
    BOOST_TEST(std::isfinite(evaluate(twin, likelihood, data).loss));
    // Chains of one network do not go on with another one.
    Sequential<double> other = net;
    dynamic_cast<BatchNorm<double>&>(other[1]).running_mean.value.mutable_at(0) += 1;
    BOOST_TEST((NetworkPotential<double>(other, likelihood, data).facts() != all.facts()));
}

BOOST_AUTO_TEST_CASE(no_items_and_one_of_each) {
    BatchNorm<double> layer(3), one(1);
    initialise<double>(layer, 1);
    initialise<double>(one, 1);
    BOOST_TEST(to_string(predict<double>(layer, Tensor<double>::zeros({0, 3})).shape()) == "(0, 3)");
    BOOST_TEST(to_string(predict<double>(layer, Tensor<double>::zeros({2, 3, 0})).shape()) == "(2, 3, 0)");
    BOOST_TEST(predict<double>(one, Tensor<double>::full({1, 1}, 2)).item() == 2 / std::sqrt(1 + 1e-5),
               boost::test_tools::tolerance(1e-14));
}

BOOST_AUTO_TEST_CASE(in_a_network) {
    const Sequential net{Conv2d(1, 8, 3), BatchNorm(8), Relu()};
    BOOST_TEST(summary(net, {1, 6, 6}) ==
               "layer            output     parameters\n"
               "input            (1, 6, 6)\n"
               "Conv2d(1, 8, 3)  (8, 4, 4)          80\n"
               "BatchNorm(8)     (8, 4, 4)          16\n"
               "Relu             (8, 4, 4)           0\n"
               "96 parameters in all\n");
    BatchNorm<float> layer(2, {.momentum = 0.25, .epsilon = 0.001});
    BOOST_TEST(layer.details() == "BatchNorm(2) with epsilon 0.001 and momentum 0.25");
    initialise(layer, 1);
    layer.freeze();
    BOOST_TEST(layer.describe() == "BatchNorm(2), frozen");
    BOOST_TEST(layer.details().starts_with("BatchNorm(2), frozen with epsilon 0.001 at (2) "));
}

BOOST_AUTO_TEST_CASE(errors) {
    BOOST_TEST(error_of<ValueError>([] { BatchNorm<float>(0); }) == "BatchNorm: features is 0; at least 1 is needed");
    BOOST_TEST(error_of<ValueError>([] { BatchNorm<float>(1, {.momentum = 2}); }) ==
               "BatchNorm: momentum is 2; it must be from 0 to 1");
    BOOST_TEST(error_of<ValueError>([] { BatchNorm<float>(1, {.epsilon = 0}); }) ==
               "BatchNorm: epsilon is 0; it must be positive and finite");
    BatchNorm<double> layer(3);
    BOOST_TEST(error_of<ValueError>([&] { layer.freeze(); }) ==
               "BatchNorm: there are no running statistics to freeze; call initialise(), load() or train() first");
    initialise<double>(layer, 1);
    const auto at = [&](const Shape& x) {
        return error_of<ShapeError>([&] { predict<double>(layer, Tensor<double>::zeros(x)); });
    };
    BOOST_TEST(at({3}) == "BatchNorm: x (3); (n, 3) or (n, 3, ...) is needed");
    BOOST_TEST(at({5, 4, 3}) == "BatchNorm: x (5, 4, 3); (n, 3) or (n, 3, ...) is needed");
    const auto in_training = [&](const Shape& x) {
        return error_of<ValueError>([&] {
            Tape<double> tape;
            const Parameters<double> parameters(layer);
            Pass<double> pass(tape, parameters, {.mode = Mode::train});
            layer(pass, tape.constant(Tensor<double>::zeros(x)));
        });
    };
    BOOST_TEST(in_training({1, 3}) == "BatchNorm: a batch has 1 number for each feature; training needs at least 2");
    BOOST_TEST(in_training({0, 3}) == "BatchNorm: a batch has 0 numbers for each feature; training needs at least 2");
    BOOST_TEST(in_training({1, 3, 2}) == "");
    layer.running_variance.value.mutable_at(1) = -0.25;
    BOOST_TEST(error_of<ValueError>([&] {
                   predict<double>(layer, Tensor<double>::zeros({1, 3}));
               }) ==
               "BatchNorm: the running variance of feature 1 is -0.25; it must not be negative. If theta was drawn "
               "from a law, freeze the layer before the law is made");
    Tape<double> tape;
    const Parameters<double> parameters(layer);
    Pass<double> pass(tape, parameters);
    BOOST_TEST(error_of<ValueError>([&] { pass.set_statistic(layer.scale, Tensor<double>::zeros({3})); }) ==
               "a statistic of shape (3) is set for a parameter of shape (3), which is no statistic");
    BOOST_TEST(error_of<ValueError>([&] { pass.set_statistic(layer.running_mean, Tensor<double>::zeros({2})); }) ==
               "a statistic of shape (2) is set for a parameter of shape (3)");
}

BOOST_AUTO_TEST_SUITE_END()
