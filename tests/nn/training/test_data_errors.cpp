#include "../../support.hpp"

#include <pollen/autograd/support/interrupt.hpp>
#include <pollen/nn/layers.hpp>
#include <pollen/nn/likelihoods.hpp>
#include <pollen/nn/module/sequential.hpp>
#include <pollen/nn/potentials/network_potential.hpp>
#include <pollen/nn/training/train.hpp>

#include <algorithm>
#include <csignal>
#include <memory>

// A message about a target or a label has the number of its item in the data set, not in a batch, and comes before the
// first step.
BOOST_AUTO_TEST_SUITE(data_errors)

using namespace pollen;
using namespace pollen::test;

namespace {

constexpr std::int64_t wrong_item = 1217, items = 1300;

struct Case {
    std::unique_ptr<Likelihood<double>> likelihood;
    std::int64_t outputs;
    double good, wrong;
    std::string says;
};

std::vector<Case> cases() {
    std::vector<Case> all;
    const auto add = [&](const auto& likelihood, std::int64_t outputs, double good, double wrong, const char* says) {
        all.push_back({likelihood.clone(), outputs, good, wrong, says});
    };
    add(Gaussian<double>::known(1), 1, 0, NAN, "Gaussian: the target of item 1217 is nan; finite numbers are needed");
    add(Gaussian<double>::predicted(), 2, 0, INFINITY,
        "Gaussian: the target of item 1217 is inf; finite numbers are needed");
    add(StudentT<double>::known(4), 1, 0, NAN, "StudentT: the target of item 1217 is nan; finite numbers are needed");
    add(Poisson<double>(), 1, 2, 2.5, "Poisson: the target of item 1217 is 2.5; whole numbers from 0 up are needed");
    add(Bernoulli<double>(), 1, 1, 2, "Bernoulli: the target of item 1217 is 2; 0 or 1 is needed");
    return all;
}

Dataset<double> data_of(const Case& c) {
    Dataset<double> data{.inputs = normals({items, 3}), .targets = Tensor<double>::full({items, 1}, c.good)};
    data.targets.mutable_at(wrong_item, 0) = c.wrong;
    return data;
}

Dataset<double> labelled(std::int32_t wrong) {
    Dataset<double> data{.inputs = normals({items, 3}), .labels = Indices::zeros({items})};
    data.labels.mutable_at(wrong_item) = wrong;
    return data;
}

// What train() says in batches of 32, evaluate() in batches of 100, and a potential.
void check(const Likelihood<double>& likelihood, std::int64_t outputs, const Dataset<double>& data,
           const std::string& says) {
    Dense<double> net(3, outputs);
    initialise<double>(net, 1);
    const std::unique_ptr<Likelihood<double>> own = likelihood.clone();
    std::int64_t steps = 0;
    const TrainOptions options{.epochs = 1, .batch = 32, .show = Show::nothing, .on_step = [&](const StepRecord&) {
                                   ++steps;
                                   return true;
                               }};
    BOOST_TEST(error_of<ValueError>([&] { pollen::train(net, *own, data, options); }) == says);
    BOOST_TEST(steps == 0);
    BOOST_TEST(error_of<ValueError>([&] { evaluate(net, likelihood, data, 100); }) == says);
    BOOST_TEST(error_of<ValueError>([&] { NetworkPotential<double>(net, likelihood, data); }) == says);
    const Dataset<double> good = data.slice(0, wrong_item);
    BOOST_TEST(error_of<ValueError>([&] { pollen::train(net, *own, good, options, &data); }) ==
               "validation data: " + says);
    BOOST_TEST(steps == 0);
    BOOST_TEST(error_of<ValueError>([&] { NetworkPotential<double>(net, likelihood, good); }) == "");
}

// A likelihood that checks batches alone.
class Unchecked final : public Concrete<Unchecked, Likelihood<double>> {
  public:
    Var<double> log_prob(Pass<double>& pass, Var<double> outputs, const Dataset<double>& batch) const override {
        return Categorical<double>().log_prob(pass, outputs, batch);
    }
    const char* score_name() const override { return ""; }
    bool higher_is_better() const override { return true; }
    double score(const Tensor<double>&, const Dataset<double>&) const override { return 0; }
    double finish(double, std::int64_t) const override { return 0; }
    std::string describe() const override { return "Unchecked"; }
};

}  // namespace

BOOST_AUTO_TEST_CASE(targets) {
    for (const Case& c : cases()) check(*c.likelihood, c.outputs, data_of(c), c.says);
}

BOOST_AUTO_TEST_CASE(labels) {
    check(Categorical<double>(), 5, labelled(5),
          "Categorical: the label of item 1217 is 5; outputs (1300, 5) have classes 0 to 4");
    check(Categorical<double>(), 5, labelled(-1),
          "Categorical: the label of item 1217 is -1; outputs (1300, 5) have classes 0 to 4");
    check(Bernoulli<double>(), 1, labelled(2), "Bernoulli: the label of item 1217 is 2; 0 or 1 is needed");
}

BOOST_AUTO_TEST_CASE(inputs_that_are_not_finite) {
    Dataset<double> data = labelled(0);
    data.inputs.mutable_at(wrong_item, 1) = NAN;
    Dense<double> net(3, 5);
    Categorical<double> likelihood;
    const std::string says = error_of<ValueError>(
        [&] { pollen::train(net, likelihood, data, {.epochs = 1, .batch = items, .show = Show::nothing}); });
    BOOST_TEST(says == "train: the inputs of item 1217 of the data set are not all finite numbers");
    const Dataset<double> good = labelled(0);
    BOOST_TEST(error_of<ValueError>([&] {
                   pollen::train(net, likelihood, good, {.epochs = 1, .show = Show::nothing}, &data);
               }) == "train: the validation data: the inputs of item 1217 of the data set are not all finite numbers");
    BOOST_TEST(error_of<ValueError>([&] { evaluate(net, likelihood, data); }) ==
               "evaluate: the inputs of item 1217 of the data set are not all finite numbers");
    BOOST_TEST(error_of<ValueError>([&] { NetworkPotential<double>(net, likelihood, data); }) ==
               "NetworkPotential: the inputs of item 1217 of the data set are not all finite numbers");
}

BOOST_AUTO_TEST_CASE(missing_data) {
    Dense<double> net(3, 5);
    Categorical<double> likelihood;
    const Dataset<double> good = labelled(0), none{.inputs = Tensor<double>::zeros({0, 3})},
                          bare{.inputs = good.inputs};
    const TrainOptions options{.epochs = 1, .show = Show::nothing};
    BOOST_TEST(error_of<ShapeError>([&] { pollen::train(net, likelihood, good, options, &none); }) ==
               "train: the validation data are empty");
    BOOST_TEST(error_of<ShapeError>([&] { pollen::train(net, likelihood, bare, options); }) ==
               "Categorical: outputs have shape (1300, 5) and there are no labels; one label for each row, (1300), "
               "is needed");
}

// What says train(), what evaluate(), and what a potential, of all data and of a batch, where the fault shows only when
// the item is evaluated.
void check_items(Sequential<double> net, const Likelihood<double>& likelihood, const Dataset<double>& data,
                 const std::string& says) {
    initialise<double>(net, 1);
    const std::unique_ptr<Likelihood<double>> own = likelihood.clone();
    NetworkPotential<double> potential(net, likelihood, data);
    const std::vector<double> theta = potential.start();
    const std::vector<std::int64_t> batch{3, 1299, wrong_item, 5};
    const auto text = [](const auto& f) { return error_of<ValueError>(f); };
    BOOST_TEST(text([&] { evaluate(net, likelihood, data, 100); }) == says);
    BOOST_TEST(text([&] { potential.evaluate(theta, {}); }) == says);
    BOOST_TEST(text([&] { potential.evaluate(theta, {}, batch); }) == says);
    BOOST_TEST(text([&] { pollen::train(net, *own, data, {.epochs = 1, .batch = 100, .show = Show::nothing}); }) ==
               says);
}

BOOST_AUTO_TEST_CASE(a_likelihood_without_this_check) {
    check_items(
        Sequential(Dense<double>(3, 5)), Unchecked(), labelled(5),
        "item 1217 of the data set, alone: Categorical: the label of item 0 is 5; outputs (1, 5) have classes 0 to 4");
}

BOOST_AUTO_TEST_CASE(a_layer_that_refuses_an_input) {
    Dataset<double> data{.inputs = Tensor<double>::ones({items, 2}), .labels = Indices::zeros({items})};
    data.inputs.mutable_at(wrong_item, 1) = 7;
    check_items(Sequential(Embedding<double>(4, 3), Flatten<double>(), Dense<double>(6, 2)), Categorical<double>(),
                data,
                "item 1217 of the data set, alone: Embedding: input 1 is 7; whole numbers from 0 to 3 are needed");
}

// A layer that needs several rows, and has trouble of another kind with one of them alone.
class Several final : public Layer<Several, double> {
  public:
    Var<double> forward(Pass<double>&, Var<double> x) const override {
        const Tensor<double>& in = x.value();
        const auto has = [&](double wrong) { return std::find(in.begin(), in.end(), wrong) != in.end(); };
        if (has(7)) throw ValueError("Several: an input is 7");
        if (x.shape()[0] < 2 && has(5)) throw DomainError("Several: a variance is 0");
        if (x.shape()[0] < 2 && has(6)) throw ShapeError("Several: one row");
        return x;
    }
    std::string describe() const override { return "Several"; }
};

BOOST_AUTO_TEST_CASE(errors_of_an_item_alone_are_not_taken_for_the_true_one) {
    Dataset<double> data{.inputs = Tensor<double>::ones({items, 1}), .targets = Tensor<double>::ones({items, 1})};
    data.inputs.mutable_at(3, 0) = 5;
    data.inputs.mutable_at(4, 0) = 6;
    data.inputs.mutable_at(wrong_item, 0) = 7;
    const Sequential<double> net{Several(), Dense<double>(1, 1)};
    check_items(net, Gaussian<double>::known(1), data, "item 1217 of the data set, alone: Several: an input is 7");
    NetworkPotential<double> potential(net, Gaussian<double>::known(1), data);
    const std::vector<double> theta = potential.start(1);
    // After Ctrl-C the items are not evaluated one by one.
    const Interrupt interrupt;
    std::raise(SIGINT);
    BOOST_TEST(error_of<ValueError>([&] { potential.evaluate(theta, {}); }) == "Several: an input is 7");
}

BOOST_AUTO_TEST_SUITE_END()
