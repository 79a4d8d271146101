#include "../../support.hpp"

#include <pollen/nn/layers.hpp>
#include <pollen/nn/module/residual.hpp>
#include <pollen/nn/module/sequential.hpp>
#include <pollen/nn/variational/bayes.hpp>

#include <cstring>

using namespace pollen;
using namespace pollen::test;

// Sequential evaluates some layers together as one op. What it computes has the bits of the layers one by one, as they
// are evaluated where an observer wants to see each output.
BOOST_AUTO_TEST_SUITE(fusion)

namespace {

enum class Observed { no, yes };

template <class T>
struct Evaluation {
    std::string ops;                 // the names of the nodes, without those of data and parameters
    std::vector<Tensor<T>> numbers;  // the output, its gradients by the input and by the parameters
};

template <class T>
Evaluation<T> evaluate(const Module<T>& net, const Shape& shape, Observed observed, const PassOptions& options = {}) {
    Tape<T> tape;
    const Parameters<T> parameters(net);
    Pass<T> pass(tape, parameters, options);
    if (observed == Observed::yes) pass.observer = [](const Module<T>&, const Var<T>&) {};
    const Var<T> x = tape.variable(cast<T>(normals(shape, 1))), y = net(pass, x);
    Evaluation<T> all;
    for (std::uint32_t k = 0; k < tape.size(); ++k) {
        const std::string name = tape.state().node(k).name;
        if (name != "variable" && name != "constant" && name != "parameter")
            all.ops += (all.ops.empty() ? "" : " ") + name;
    }
    tape.backward(y, cast<T>(normals(y.shape(), 2)));
    all.numbers = {y.value(), x.grad()};
    for (const Var<T>& leaf : pass.leaves()) all.numbers.push_back(leaf.grad());
    return all;
}

template <class T>
bool same_bits(const Tensor<T>& a, const Tensor<T>& b) {
    return a.shape() == b.shape() &&
           std::memcmp(a.data(), b.data(), static_cast<std::size_t>(a.size()) * sizeof(T)) == 0;
}

template <class T>
void check_bits(const Evaluation<T>& a, const Evaluation<T>& b) {
    BOOST_REQUIRE_EQUAL(a.numbers.size(), b.numbers.size());
    for (std::size_t k = 0; k < a.numbers.size(); ++k)
        BOOST_TEST(same_bits(a.numbers[k], b.numbers[k]), "number " << k << " of " << b.ops);
}

// The ops of a net with fresh parameters, and those of its layers one by one.
template <class T>
void check(Sequential<T> net, const Shape& x, const std::string& ops, const std::string& one_by_one,
           const PassOptions& options = {}) {
    initialise<T>(net, 3);
    const Evaluation<T> fused = evaluate<T>(net, x, Observed::no, options);
    const Evaluation<T> apart = evaluate<T>(net, x, Observed::yes, options);
    BOOST_TEST(fused.ops == ops);
    BOOST_TEST(apart.ops == one_by_one);
    check_bits(fused, apart);
}

// Layers that are not evaluated together.
template <class T>
void check_unfused(const Sequential<T>& net, const Shape& x, const std::string& ops) {
    check(net, x, ops, ops);
}

// FilterResponseNorm with a shift and a threshold that matter.
template <class T>
FilterResponseNorm<T> norm(std::int64_t channels) {
    FilterResponseNorm<T> layer(channels);
    layer.shift.init = Init::normal(0, 0.5);
    layer.threshold.init = Init::normal(0, 0.5);
    return layer;
}

template <class T>
Sequential<T> vgg() {
    return Sequential<T>{Conv2d<T>(3, 16, 3, {.padding = 1}),
                         Relu<T>(),
                         Conv2d<T>(16, 18, 3, {.padding = 1}),
                         Relu<T>(),
                         MaxPool2d<T>(2),
                         Conv2d<T>(18, 5, 3),
                         norm<T>(5),
                         Swish<T>(),
                         Flatten<T>(),
                         Dense<T>(45, 8),
                         Relu<T>(),
                         Dense<T>(8, 3)};
}
const char* const vgg_ops =
    "conv2d_relu conv2d_relu_max_pool2d conv2d filter_response_norm_swish reshape affine_relu affine";
const char* const vgg_apart =
    "conv2d relu conv2d relu max_pool2d conv2d filter_response_norm swish reshape affine relu affine";

}  // namespace

BOOST_AUTO_TEST_CASE(one_node_for_several_layers) {
    const auto each = []<class T>(T) {
        check(Sequential<T>{Dense<T>(7, 5), Relu<T>()}, {4, 7}, "affine_relu", "affine relu");
        check(Sequential<T>{Conv2d<T>(2, 3, 3), Relu<T>()}, {4, 2, 7, 6}, "conv2d_relu", "conv2d relu");
        check(Sequential<T>{Conv2d<T>(2, 3, 3, {.stride = 2, .padding = 1}), Relu<T>(), MaxPool2d<T>(2)}, {4, 2, 9, 8},
              "conv2d_relu_max_pool2d", "conv2d relu max_pool2d");
        check(Sequential<T>{Conv2d<T>(2, 3, 3), Relu<T>(), MaxPool2d<T>(2, {.stride = 2})}, {4, 2, 7, 6},
              "conv2d_relu_max_pool2d", "conv2d relu max_pool2d");
        check(Sequential<T>{norm<T>(3), Swish<T>()}, {4, 3, 7, 6}, "filter_response_norm_swish",
              "filter_response_norm swish");
        check(vgg<T>(), {4, 3, 10, 10}, vgg_ops, vgg_apart);
    };
    each(0.0f);
    each(0.0);
}

BOOST_AUTO_TEST_CASE(the_print_of_the_tape_shows_it) {
    Sequential<float> net{Conv2d<float>(1, 2, 3), Relu<float>(), MaxPool2d<float>(2)};
    initialise<float>(net, 1);
    Tape<float> tape;
    const Parameters<float> parameters(net);
    Pass<float> pass(tape, parameters);
    pass.restart({});
    net(pass, tape.constant(Tensor<float>::zeros({1, 1, 6, 6})));
    const std::string text = tape.to_string();
    BOOST_TEST(text.starts_with("node  op                      inputs      shape         value"));
    BOOST_TEST(text.find("\n3     conv2d_relu_max_pool2d  2, 0, 1     (1, 2, 2, 2)  [") != text.npos);
    BOOST_TEST(text.find("\n4") == text.npos);
}

// Large enough for Winograd's algorithm and for several threads.
BOOST_AUTO_TEST_CASE(larger_networks) {
    check(Sequential<float>{Conv2d<float>(16, 32, 3, {.padding = 1}), Relu<float>(),
                            Conv2d<float>(32, 32, 3, {.padding = 1}), Relu<float>(), MaxPool2d<float>(2),
                            Conv2d<float>(32, 16, 5), Relu<float>(), Flatten<float>(), Dense<float>(1024, 70),
                            Relu<float>(), Dense<float>(70, 10)},
          {12, 16, 24, 25}, "conv2d_relu conv2d_relu_max_pool2d conv2d_relu reshape affine_relu affine",
          "conv2d relu conv2d relu max_pool2d conv2d relu reshape affine relu affine");
}

BOOST_AUTO_TEST_CASE(layers_that_stay_by_themselves) {
    using T = float;
    const Shape x{4, 2, 9, 8};
    // Without a bias.
    check_unfused(Sequential<T>{Dense<T>(7, 5, {.bias = false}), Relu<T>()}, {4, 7}, "matmul relu");
    check_unfused(Sequential<T>{Conv2d<T>(2, 3, 3, {.bias = false}), Relu<T>(), MaxPool2d<T>(2)}, x,
                  "conv2d relu max_pool2d");
    // Behind nothing, behind something else, before something else, and a second time.
    check_unfused(Sequential<T>{Relu<T>(), Dense<T>(7, 5)}, {4, 7}, "relu affine");
    check_unfused(Sequential<T>{Dense<T>(7, 5), Tanh<T>(), Relu<T>()}, {4, 7}, "affine tanh relu");
    check_unfused(Sequential<T>{Dense<T>(7, 5), Swish<T>()}, {4, 7}, "affine swish");
    check_unfused(Sequential<T>{Dense<T>(7, 5), LeakyRelu<T>()}, {4, 7}, "affine leaky_relu");
    check_unfused(Sequential<T>{norm<T>(2), Relu<T>()}, x, "filter_response_norm relu");
    check_unfused(Sequential<T>{Swish<T>(), norm<T>(2)}, x, "swish filter_response_norm");
    check(Sequential<T>{Dense<T>(7, 5), Relu<T>(), Relu<T>()}, {4, 7}, "affine_relu relu", "affine relu relu");
    // Pooling without a rectifier, and of other kinds.
    check_unfused(Sequential<T>{Conv2d<T>(2, 3, 3), MaxPool2d<T>(2)}, x, "conv2d max_pool2d");
    check_unfused(Sequential<T>{Conv2d<T>(2, 3, 3), MaxPool2d<T>(2), Relu<T>()}, x, "conv2d max_pool2d relu");
    const auto pooled = [&](const auto& pool, const std::string& op) {
        check(Sequential<T>{Conv2d<T>(2, 3, 3), Relu<T>(), pool}, x, "conv2d_relu " + op, "conv2d relu " + op);
    };
    pooled(MaxPool2d<T>(3), "max_pool2d");
    pooled(MaxPool2d<T>(2, {.stride = 1}), "max_pool2d");
    pooled(MaxPool2d<T>(2, {.stride = {2, 3}}), "max_pool2d");
    pooled(MaxPool2d<T>(2, {.padding = 1}), "max_pool2d");
    pooled(MaxPool2d<T>({2, 1}), "max_pool2d");
    pooled(AvgPool2d<T>(2), "avg_pool2d");
}

// A Sequential evaluates its own parts together, not those of another.
BOOST_AUTO_TEST_CASE(containers) {
    using T = double;
    check(Sequential<T>{Sequential<T>{Dense<T>(7, 5), Relu<T>(), Dense<T>(5, 4)}, Relu<T>()}, {4, 7},
          "affine_relu affine relu", "affine relu affine relu");
    check_unfused(Sequential<T>{Dense<T>(7, 5), Sequential<T>{Relu<T>()}}, {4, 7}, "affine relu");
    check(Sequential<T>{Residual<T>(Sequential<T>{Dense<T>(7, 5), Relu<T>(), Dense<T>(5, 7)}), Relu<T>()}, {4, 7},
          "affine_relu affine add relu", "affine relu affine add relu");
    check_unfused(Sequential<T>{Residual<T>(Dense<T>(7, 7)), Relu<T>()}, {4, 7}, "affine add relu");
}

// Nor is a layer that is used without a Sequential evaluated with others.
BOOST_AUTO_TEST_CASE(a_layer_by_itself) {
    Dense<double> layer(7, 5);
    initialise<double>(layer, 3);
    BOOST_TEST((evaluate<double>(layer, {4, 7}, Observed::no).ops == "affine"));
}

// Bayesian layers draw the same weights, whether they are evaluated with what follows them or by themselves.
BOOST_AUTO_TEST_CASE(bayesian_layers) {
    using T = float;
    const auto only_layers = [](const std::string& ops) {  // without the ops that draw weights
        std::string text;
        std::istringstream words(ops);
        for (std::string word; words >> word;)
            for (const char* layer :
                 {"affine", "conv2d", "relu", "max_pool2d", "filter_response_norm", "swish", "reshape"})
                if (word.find(layer) == 0) {
                    text += (text.empty() ? "" : " ") + word;
                    break;
                }
        return text;
    };
    for (const Complexity complexity : {Complexity::sampled, Complexity::closed}) {
        auto twin = bayesian(vgg<T>(), {.posterior = mean_field<T>(0.1), .complexity = complexity});
        initialise<T>(twin, 5);
        std::vector<Evaluation<T>> by_mode;
        for (const Mode mode : {Mode::train, Mode::sample, Mode::predict}) {
            const PassOptions options{.mode = mode, .seed = 9, .step = 4};
            const auto fused = evaluate<T>(twin, {4, 3, 10, 10}, Observed::no, options);
            const auto apart = evaluate<T>(twin, {4, 3, 10, 10}, Observed::yes, options);
            BOOST_TEST(only_layers(fused.ops) == vgg_ops);
            BOOST_TEST(only_layers(apart.ops) == vgg_apart);
            check_bits(fused, apart);
            by_mode.push_back(fused);
        }
        BOOST_TEST(!same_bits(by_mode[0].numbers[0], by_mode[2].numbers[0]));
        BOOST_TEST(!same_bits(by_mode[1].numbers[0], by_mode[2].numbers[0]));
    }
    // Where outputs are drawn in place of weights, in training, a layer is by itself.
    for (const Estimator estimator : {Estimator::local, Estimator::flipout}) {
        auto twin = bayesian(Sequential<T>{Dense<T>(7, 5), Relu<T>(), Dense<T>(5, 2)},
                             {.posterior = mean_field<T>(0.1), .estimator = estimator});
        initialise<T>(twin, 5);
        for (const Mode mode : {Mode::train, Mode::sample, Mode::predict}) {
            const PassOptions options{.mode = mode, .seed = 9, .step = 4};
            const auto fused = evaluate<T>(twin, {4, 7}, Observed::no, options);
            const auto apart = evaluate<T>(twin, {4, 7}, Observed::yes, options);
            BOOST_TEST((fused.ops.find("affine_relu") == std::string::npos) == (mode == Mode::train));
            check_bits(fused, apart);
        }
    }
}

// Somebody who looks sees the output of every layer, and of the whole.
BOOST_AUTO_TEST_CASE(an_observer_sees_all_layers) {
    Sequential<float> net = vgg<float>();
    initialise<float>(net, 3);
    Tape<float> tape;
    const Parameters<float> parameters(net);
    Pass<float> pass(tape, parameters, {});
    std::vector<std::string> seen;
    pass.observer = [&](const Module<float>& module, const Var<float>&) { seen.push_back(module.describe()); };
    net(pass, tape.constant(Tensor<float>::zeros({1, 3, 10, 10})));
    BOOST_TEST(seen.size() == net.size() + 1);
    BOOST_TEST(seen[1] == "Relu");
    BOOST_TEST(seen[4] == "MaxPool2d(2)");
}

// Of layers that are evaluated together, the error names the first.
BOOST_AUTO_TEST_CASE(errors) {
    using T = float;
    const auto error = [](const Sequential<T>& net, const Shape& shape) {
        return error_of<ShapeError>([&] {
            Sequential<T> copy = net;
            initialise<T>(copy, 1);
            evaluate<T>(copy, shape, Observed::no);
        });
    };
    const Sequential<T> dense{Tanh<T>(), Dense<T>(7, 5), Relu<T>()};
    BOOST_TEST(error(dense, {4, 6}) == "part 1, Dense(7, 5): affine: x (4, 6) has 6 inputs, w (5, 7) takes 7");
    BOOST_TEST(error(dense, {4, 1, 7, 1}) ==
               "part 1, Dense(7, 5): Dense(7, 5): x has shape (4, 1, 7, 1); a Flatten() before it makes it fit");
    const Sequential<T> images{Conv2d<T>(3, 4, 3), Relu<T>(), MaxPool2d<T>(2), Conv2d<T>(4, 2, 3), Relu<T>()};
    BOOST_TEST(error(images, {1, 2, 9, 9}) ==
               "part 0, Conv2d(3, 4, 3): conv2d: channels differ: x (1, 2, 9, 9) in 1 group by w (4, 3, 3, 3); w needs "
               "2 input channels");
    BOOST_TEST(error(images, {1, 3, 3, 9}) ==
               "part 0, Conv2d(3, 4, 3): conv2d_relu_max_pool2d: the images to be pooled have shape (1, 4, 1, 7); at "
               "least 2 x 2 pixels are needed");
    // What comes after them has its own number.
    BOOST_TEST(error(images, {1, 3, 6, 9}) ==
               "part 3, Conv2d(4, 2, 3): conv2d: w (2, 4, 3, 3) with dilation (1, 1) covers (3, 3) pixels; x (1, 4, 2, "
               "3) with padding (0, 0) has only (2, 3)");
    BOOST_TEST(error(Sequential<T>{FilterResponseNorm<T>(3), Swish<T>()}, {1, 2, 9, 9}) ==
               "part 0, FilterResponseNorm(3): FilterResponseNorm: x (1, 2, 9, 9); images (n, 3, height, width) are "
               "needed");
}

BOOST_AUTO_TEST_SUITE_END()
