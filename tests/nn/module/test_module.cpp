#include "../../support.hpp"

#include <pollen/autograd/parallel.hpp>
#include <pollen/nn/layers.hpp>
#include <pollen/nn/module/walk.hpp>

#include <algorithm>

using namespace pollen;
using namespace pollen::test;

BOOST_AUTO_TEST_SUITE(module)

namespace {

// y = x scale: a layer as a program would write it.
template <Real T = float>
class Scale : public Layer<Scale<T>, T> {
  public:
    explicit Scale(std::int64_t n) : scale_{.shape = {n}, .init = Init::constant(1)} {}
    Var<T> forward(Pass<T>& pass, Var<T> x) const override { return x * pass(scale_); }
    static void members(auto& self, auto& visitor) { visitor.parameter("scale", self.scale_); }
    std::string describe() const override { return "Scale"; }

  private:
    Parameter<T> scale_;
};

Sequential<double> small_net(std::uint64_t seed = 1) {
    Sequential net(Dense<double>(4, 5), Tanh<double>(),
                   Residual(Sequential(Dense<double>(5, 3), Relu<double>(), Dense<double>(3, 5, {.bias = false}))),
                   Dense<double>(5, 2));
    initialise<double>(net, seed);
    return net;
}

template <class T>
std::string names(const HasParameters<T>& tree, const std::string& prefix = "") {
    Parameters<T> parameters(Sequential<T>{});
    parameters.add(prefix, tree);
    std::string text;
    for (const auto& entry : parameters.entries()) text += (text.empty() ? "" : " ") + entry.name;
    return text;
}

}  // namespace

BOOST_AUTO_TEST_CASE(names_and_counts) {
    const Sequential<double> net = small_net();
    BOOST_TEST(names<double>(net) == "0.weight 0.bias 2.body.0.weight 2.body.0.bias 2.body.2.weight 3.weight 3.bias");
    BOOST_TEST(names<double>(net, "net") ==
               "net.0.weight net.0.bias net.2.body.0.weight net.2.body.0.bias net.2.body.2.weight net.3.weight "
               "net.3.bias");
    BOOST_TEST(names<float>(Residual(Dense(4, 2), Dense(4, 2))) ==
               "body.weight body.bias shortcut.weight shortcut.bias");
    BOOST_TEST(names<float>(FilterResponseNorm(3)) == "scale shift threshold");
    BOOST_TEST(names<float>(Sequential(Scale(3), Embedding(5, 2))) == "0.scale 1.table");
    BOOST_TEST(parameter_count<double>(net) == 20 + 5 + 15 + 3 + 15 + 10 + 2);
    BOOST_TEST(parameter_count<float>(Relu()) == 0);

    const Parameters<double> parameters(net);
    BOOST_TEST(parameters.count() == 7u);
    BOOST_TEST(parameters.entries()[3].offset == 40);
    BOOST_TEST(*parameters.find(*parameters.entries()[4].parameter) == 4u);
}

BOOST_AUTO_TEST_CASE(flat_and_back) {
    Sequential<double> net = small_net(1), other = small_net(2);
    const Tensor<double> theta = Parameters<double>(net).flatten();
    BOOST_TEST(to_string(theta.shape()) == "(70)");
    BOOST_TEST(!(Parameters<double>(other).flatten() == theta));
    BOOST_TEST(unflatten<double>(other, theta.values()) == 70);
    BOOST_TEST(Parameters<double>(other).flatten() == theta);
    // More numbers than are needed are left for the next tree.
    std::vector<double> more(theta.begin(), theta.end());
    more.push_back(7);
    BOOST_TEST(unflatten<double>(other, more) == 70);
}

BOOST_AUTO_TEST_CASE(copies) {
    const Sequential<double> net = small_net();
    const Tensor<double> before = Parameters<double>(net).flatten();
    Sequential<double> copy = net, assigned;
    assigned = net;
    const std::unique_ptr<Module<double>> clone = net.clone();
    BOOST_TEST(Parameters<double>(copy).flatten() == before);
    unflatten<double>(copy, Tensor<double>::zeros({70}).values());
    unflatten<double>(assigned, Tensor<double>::ones({70}).values());
    dynamic_cast<Dense<double>&>(dynamic_cast<Sequential<double>&>(*clone)[0]).weight.value.mutable_at(0, 0) = 99;
    BOOST_TEST(Parameters<double>(net).flatten() == before);
    BOOST_TEST(Parameters<double>(*clone).flatten()(0) == 99);
    BOOST_TEST(Parameters<double>(assigned).flatten() == Tensor<double>::ones({70}));
    // A network taken into another one is copied as well.
    Sequential<double> outer(net, Tanh<double>());
    BOOST_TEST(names<double>(outer).substr(0, 10) == "0.0.weight");
    unflatten<double>(outer, Tensor<double>::zeros({70}).values());
    BOOST_TEST(Parameters<double>(net).flatten() == before);
}

BOOST_AUTO_TEST_CASE(a_part_that_is_not_there) {
    Sequential<double> net = small_net();
    const Sequential<double>& same = net;
    const std::string size = std::to_string(net.size());
    const std::string expected = "Sequential: there is no part " + size + "; it has " + size + ", counted from 0";
    BOOST_TEST(error_of<ShapeError>([&] { net[net.size()]; }) == expected);
    BOOST_TEST(error_of<ShapeError>([&] { same[net.size()]; }) == expected);
}

BOOST_AUTO_TEST_CASE(a_summary) {
    const Sequential net(Conv2d(1, 6, 5, {.padding = 2}), Relu(), MaxPool2d(2), Flatten(), Dense(1176, 10));
    BOOST_TEST(summary<float>(net, {1, 28, 28}) ==
               "layer                       output       parameters\n"
               "input                       (1, 28, 28)\n"
               "Conv2d(1, 6, 5), padding 2  (6, 28, 28)         156\n"
               "Relu                        (6, 28, 28)           0\n"
               "MaxPool2d(2)                (6, 14, 14)           0\n"
               "Flatten                     (1176)                0\n"
               "Dense(1176, 10)             (10)             11,770\n"
               "11,926 parameters in all\n");
    BOOST_TEST(summary<double>(small_net(), {4}) ==
               "layer                     output  parameters\n"
               "input                     (4)\n"
               "Dense(4, 5)               (5)             25\n"
               "Tanh                      (5)              0\n"
               "Dense(5, 3)               (3)             18\n"
               "Relu                      (3)              0\n"
               "Dense(3, 5) without bias  (5)             15\n"
               "Dense(5, 2)               (2)             12\n"
               "70 parameters in all\n");
    BOOST_TEST(Conv2d(3, 8, {5, 3}).describe() == "Conv2d(3, 8, 5x3)");
    BOOST_TEST(Dropout(0.25).describe() == "Dropout(0.25)");
}

BOOST_AUTO_TEST_CASE(prediction) {
    const Sequential<double> net = small_net();
    const Tensor<double> x = normals({37, 4});
    const Tensor<double> all = predict<double>(net, x);
    BOOST_TEST(to_string(all.shape()) == "(37, 2)");
    for (const std::int64_t batch : {1, 5, 36, 37})
        BOOST_TEST(allclose(predict<double>(net, x, {.batch = batch}), all, 1e-14, 1e-14));
    BOOST_TEST(to_string(predict<double>(net, Tensor<double>::zeros({0, 4})).shape()) == "(0, 2)");

    // Values given as theta are as good as values in the modules, and leave those alone.
    const Sequential<double> other = small_net(2);
    const Parameters<double> parameters(net);
    const Tensor<double> theta = Parameters<double>(other).flatten();
    BOOST_TEST(predict<double>(net, parameters, theta.values(), x) == predict<double>(other, x));
    BOOST_TEST(predict<double>(net, x) == all);

    // The same for gradients.
    Tape<double> tape, tape_other;
    Pass<double> pass(tape, parameters, {}, theta.values());
    tape.backward(sum(net(pass, tape.borrow(x))));
    const Parameters<double> parameters_other(other);
    Pass<double> pass_other(tape_other, parameters_other, {});
    tape_other.backward(sum(other(pass_other, tape_other.borrow(x))));
    for (std::size_t k = 0; k < parameters.count(); ++k)
        BOOST_TEST(pass.leaves()[k].grad() == pass_other.leaves()[k].grad());
}

BOOST_AUTO_TEST_CASE(a_layer_of_ones_own) {
    Sequential<double> net(Scale<double>(3), Tanh<double>());
    initialise<double>(net, 1);
    BOOST_TEST(predict<double>(net, Tensor<double>{{0, 1, 2}})(0, 1) == std::tanh(1.0),
               boost::test_tools::tolerance(1e-15));
    BOOST_TEST(net.clone()->describe() == "Sequential(2 parts)");
}

BOOST_AUTO_TEST_CASE(first_values) {
    const auto weights = [](Init init, std::uint64_t seed) {
        Dense<float> layer(1000, 100, {.init = init});
        initialise<float>(layer, seed);
        return layer.weight.value;
    };
    for (const Init& init : {Init::he(), Init::glorot(), Init::lecun()}) {
        const Tensor<float> once = weights(init, 7);
        BOOST_TEST(weights(init, 7) == once);
        BOOST_TEST(!(weights(init, 8) == once));
        with_threads(3, [&] { BOOST_TEST(weights(init, 7) == once); });
    }
    BOOST_TEST(weights(Init::constant(0.5), 1) == Tensor<float>::full({100, 1000}, 0.5f));

    // Layers of one shape differ; a bias starts at 0; each parameter takes one stream.
    Sequential<float> net(Dense<float>(4, 4), Dense<float>(4, 4));
    BOOST_TEST(initialise<float>(net, 3, Which::all, 5) == 9u);
    const Tensor<float> theta = Parameters<float>(net).flatten();
    BOOST_TEST(theta.data()[0] != theta.data()[20]);
    for (int k = 16; k < 20; ++k) BOOST_TEST(theta.data()[k] == 0.0f);
    Sequential<float> second(Dense<float>(4, 4));
    initialise<float>(second, 3, Which::all, 7);
    BOOST_TEST(Parameters<float>(second).flatten().data()[0] == theta.data()[20]);

    const Conv2d<float> conv(4, 6, {5, 3}, {.groups = 2});
    BOOST_TEST(conv.weight.fans.in == 2 * 15);
    BOOST_TEST(conv.weight.fans.out == 3 * 15);
}

// Mean and variance of 10^5 numbers within 5 standard errors: a right law fails one such check in 1.7 million seeds, so
// one of the twelve in 145,000. The variance of a sample variance is (kurtosis - 1) var^2 / n, with kurtosis 3 for a
// normal and 9/5 for a uniform law.
BOOST_AUTO_TEST_CASE(moments_of_first_values) {
    struct Case {
        const char* name;
        Init init;
        double mean, variance, kurtosis;
    };
    for (const auto& [name, init, mean, variance, kurtosis] :
         {Case{"he", Init::he(), 0, 2e-3, 3}, Case{"he with gain", Init::he(0.5), 0, 0.5e-3, 3},
          Case{"glorot", Init::glorot(), 0, 2.0 / 1100, 1.8}, Case{"lecun", Init::lecun(), 0, 1e-3, 3},
          Case{"normal", Init::normal(-1, 3), -1, 9, 3}, Case{"uniform", Init::uniform(1, 4), 2.5, 0.75, 1.8}}) {
        Dense<double> layer(1000, 100, {.init = init});
        initialise<double>(layer, 20);
        const double n = 1e5;
        double sum = 0, squares = 0;
        for (const double x : layer.weight.value) sum += x;
        for (const double x : layer.weight.value) squares += (x - sum / n) * (x - sum / n);
        BOOST_TEST(std::abs(sum / n - mean) < 5 * std::sqrt(variance / n), name << ": mean " << sum / n);
        BOOST_TEST(std::abs(squares / (n - 1) - variance) < 5 * variance * std::sqrt((kurtosis - 1) / n),
                   name << ": variance " << squares / (n - 1));
    }
}

BOOST_AUTO_TEST_CASE(mc_dropout) {
    Sequential<double> net(Dense<double>(4, 6), Dropout<double>(0.25), Dense<double>(6, 1));
    initialise<double>(net, 4);
    const Tensor<double> x = normals({3, 4});
    const auto sample = [&](std::uint64_t draw, std::uint64_t seed = 9) {
        return predict<double>(net, x, {.mode = Mode::sample, .seed = seed, .draw = draw});
    };
    BOOST_TEST(sample(1) == sample(1));
    BOOST_TEST(!(sample(1) == sample(2)));
    BOOST_TEST(!(sample(1) == sample(1, 10)));
    BOOST_TEST(predict<double>(net, x) == predict<double>(net, x, {.seed = 9, .draw = 1}));

    // The mean over draws of a linear network is its prediction. Within 5 standard errors for three numbers: a false
    // alarm in one of 580,000 seeds.
    const Tensor<double> plain = predict<double>(net, x);
    const int draws = 4000;
    std::vector<double> sum(3), squares(3);
    for (int draw = 0; draw < draws; ++draw) {
        const Tensor<double> y = sample(static_cast<std::uint64_t>(draw));
        for (std::size_t i = 0; i < 3; ++i) {
            const double difference = y.data()[i] - plain.data()[i];
            sum[i] += difference;
            squares[i] += difference * difference;
        }
    }
    for (std::size_t i = 0; i < 3; ++i) {
        BOOST_TEST(squares[i] > 0.01);
        BOOST_TEST(std::abs(sum[i]) < 5 * std::sqrt(squares[i]));
    }
}

// Two dropout layers, and two steps, use different random numbers.
BOOST_AUTO_TEST_CASE(dropout_streams) {
    const auto zeros = [](std::uint64_t step, int layers) {
        Tape<float> tape;
        const Dropout<float> layer(0.5);
        const Module<float>& dropout = layer;
        const Parameters<float> none(layer);
        Pass<float> pass(tape, none, {.mode = Mode::train, .seed = 1, .step = step});
        Var<float> y = tape.constant(Tensor<float>::ones({1000}));
        for (int k = 0; k < layers; ++k) y = dropout(pass, y);
        return std::count(y.value().begin(), y.value().end(), 0.0f);
    };
    BOOST_TEST(zeros(1, 1) != zeros(2, 1));
    // A quarter is left: 250 with a standard deviation of 14; 5 of them are missed once in 1.7 million seeds.
    BOOST_TEST(std::abs(zeros(1, 2) - 750) < 5 * 14);
}

BOOST_AUTO_TEST_CASE(errors_of_networks) {
    Sequential<double> net(Dense<double>(4, 5), Dense<double>(5, 2));
    const Tensor<double> x = normals({3, 4});
    BOOST_TEST(error_of<ValueError>([&] { predict<double>(net, x); }) ==
               "parameter 0.weight (5, 4) has no value yet: call initialise(), load() or train() first");
    BOOST_TEST(error_of<ValueError>([&] { Parameters<double>(net).flatten(); }) ==
               "parameter 0.weight (5, 4) has no value yet: call initialise(), load() or train() first");
    const Tensor<double> few = normals({30});
    BOOST_TEST(error_of<ShapeError>([&] { unflatten<double>(net, few.values()); }) ==
               "unflatten: theta has 30 numbers; up to parameter 1.weight (2, 5) there are 35");
    BOOST_TEST(error_of<ShapeError>([&] { predict<double>(net, Parameters<double>(net), few.values(), x); }) ==
               "predict: theta has 30 numbers; the network has 37 parameters");
    initialise<double>(net, 1);
    BOOST_TEST(error_of<ShapeError>([&] { predict<double>(net, Tensor<double>::scalar(1)); }) ==
               "predict: x is a scalar; its first axis counts the inputs");
    BOOST_TEST(error_of<ValueError>([&] { predict<double>(net, x, {.batch = 0}); }) ==
               "predict: a batch of 0 inputs; at least 1 is needed");
    BOOST_TEST(error_of<ValueError>([&] { net.add(std::unique_ptr<Module<double>>()); }) ==
               "the pointer to a part, likelihood or posterior is null");

    Residual<double> residual(Dense<double>(4, 2, {.bias = false}));
    initialise<double>(residual, 1);
    BOOST_TEST(error_of<ShapeError>([&] { predict<double>(residual, x); }) ==
               "Residual: the body makes (3, 2) of (3, 4), the other way is (3, 4); give a shortcut that fits");

    Tape<double> tape;
    const Parameters<double> parameters(net);
    Pass<double> pass(tape, parameters, {});
    const Module<double>& stranger = residual;
    BOOST_TEST(error_of<ValueError>([&] { stranger(pass, tape.borrow(x)); }) ==
               "a parameter of shape (2, 4) is used in a pass over another network; does members() of its layer name "
               "it?");
}

BOOST_AUTO_TEST_CASE(errors_of_layers) {
    BOOST_TEST(error_of<ValueError>([] { Activation<float>("Sine", nullptr); }) == "Sine: the function is empty");
    BOOST_TEST(error_of<ValueError>([] { Dropout(1); }) == "Dropout: rate is 1; it must be at least 0 and less than 1");
    BOOST_TEST(error_of<ValueError>([] { Dropout(-0.5); }) ==
               "Dropout: rate is -0.5; it must be at least 0 and less than 1");
    BOOST_TEST(error_of<ValueError>([] { Dropout(NAN); }) ==
               "Dropout: rate is nan; it must be at least 0 and less than 1");
    BOOST_TEST(error_of<ValueError>([] { Dense(0, 5); }) == "Dense: inputs is 0; at least 1 is needed");
    BOOST_TEST(error_of<ValueError>([] { Conv2d(3, 4, {3, 0}); }) == "Conv2d: kernel width is 0; at least 1 is needed");
    BOOST_TEST(error_of<ValueError>([] { Conv2d(3, 4, 3, {.groups = 2}); }) ==
               "Conv2d: 2 groups do not divide 3 inputs and 4 outputs");
    BOOST_TEST(error_of<ValueError>([] { ConvTranspose2d(4, 3, 3, {.groups = 2}); }) ==
               "ConvTranspose2d: 2 groups do not divide 4 inputs and 3 outputs");
    BOOST_TEST(error_of<ValueError>([] { LayerNorm(0); }) == "LayerNorm: size is 0; at least 1 is needed");
    BOOST_TEST(error_of<ValueError>([] { FilterResponseNorm(-1); }) ==
               "FilterResponseNorm: channels is -1; at least 1 is needed");
    BOOST_TEST(error_of<ValueError>([] { Embedding(3000000000, 2); }) ==
               "Embedding: rows is 3000000000; at most 2147483647 can be counted");

    const auto forward = [](auto layer, const Tensor<float>& x) {
        initialise<float>(layer, 1);
        predict<float>(layer, x);
    };
    BOOST_TEST(error_of<ShapeError>([&] {
                   forward(LayerNorm(3), Tensor<float>{{1, 2}});
               }) == "LayerNorm: x (1, 2); its last axis must be 3");
    BOOST_TEST(error_of<ShapeError>([&] {
                   forward(FilterResponseNorm(3), Tensor<float>{{1, 2}});
               }) == "FilterResponseNorm: x (1, 2); images (n, 3, height, width) are needed");
    BOOST_TEST(error_of<ValueError>([&] {
                   forward(Embedding(3, 2), Tensor<float>{0, 3});
               }) == "item 1 of the inputs, alone: Embedding: input 0 is 3; whole numbers from 0 to 2 are needed");
    BOOST_TEST(error_of<ValueError>([&] { forward(Embedding(3, 2), Tensor<float>{0.5f}); }) ==
               "Embedding: input 0 is 0.5; whole numbers from 0 to 2 are needed");
    BOOST_TEST(error_of<ValueError>([&] {
                   forward(Embedding(3, 2), Tensor<float>{1, -1});
               }) == "item 1 of the inputs, alone: Embedding: input 0 is -1; whole numbers from 0 to 2 are needed");
    BOOST_TEST(error_of<ValueError>([&] { forward(Embedding(3, 2), Tensor<float>{NAN}); }) ==
               "Embedding: input 0 is nan; whole numbers from 0 to 2 are needed");
}

// A container of your own: the sum of two networks.
struct Sum final : Layer<Sum, double> {
    Sum(Part<double> a, Part<double> b) : left(std::move(a)), right(std::move(b)) {}
    Var<double> forward(Pass<double>& pass, Var<double> x) const override {
        const Var<double> y = (*left)(pass, x);
        return y + (*right)(pass, x);
    }
    static void members(auto& self, auto& visitor) {
        visitor.part("left", *self.left);
        visitor.part("right", *self.right);
    }
    std::unique_ptr<Module<double>> rebuild(const ChangePart<double>& change) const override {
        Part<double> a = change(*left, "left");
        return std::make_unique<Sum>(std::move(a), change(*right, "right"));
    }
    std::string describe() const override { return "Sum"; }
    Part<double> left, right;
};

BOOST_AUTO_TEST_CASE(containers_rebuild_themselves) {
    const Sum net(Sequential<double>{Dense<double>(2, 3), Tanh<double>()}, Dense<double>(2, 3));
    std::vector<std::string> seen;
    const Part<double> other = replaced<double>(
        net, [&](const Module<double>& layer, const std::string& path) -> std::unique_ptr<Module<double>> {
            seen.push_back(path + " " + layer.describe());
            if (path == "right") return std::make_unique<Relu<double>>();
            return nullptr;
        });
    BOOST_TEST(seen == (std::vector<std::string>{"left.0 Dense(2, 3)", "left.1 Tanh", "right Dense(2, 3)"}),
               boost::test_tools::per_element());
    std::vector<std::string> paths;
    each_module(*other, [&](const std::string& path, const Module<double>& module) {
        paths.push_back(path + ":" + module.describe());
        return true;
    });
    BOOST_TEST(paths == (std::vector<std::string>{":Sum", "left:Sequential(2 parts)", "left.0:Dense(2, 3)",
                                                  "left.1:Tanh", "right:Relu"}),
               boost::test_tools::per_element());
    BOOST_TEST(parameter_count<double>(*other) == 9);
    BOOST_TEST(parameter_count<double>(net) == 18);
}

BOOST_AUTO_TEST_SUITE_END()
