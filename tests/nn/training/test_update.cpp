#include "../../support.hpp"

#include <pollen/autograd/parallel.hpp>
#include <pollen/nn/layers/activations.hpp>
#include <pollen/nn/layers/dense.hpp>
#include <pollen/nn/module/sequential.hpp>
#include <pollen/nn/priors.hpp>
#include <pollen/nn/training/optimisers.hpp>
#include <pollen/nn/training/update.hpp>
#include <pollen/nn/variational/bayes.hpp>

using namespace pollen;
using namespace pollen::test;

BOOST_AUTO_TEST_SUITE(update)

namespace {

// Uses a layer twice: its weights are drawn once, and their gradient is known when both uses were passed back.
struct Twice final : Layer<Twice, float> {
    explicit Twice(std::int64_t n) : layer(bayesian(Sequential{Dense(n, n)})) {}
    Var<float> forward(Pass<float>& pass, Var<float> x) const override { return (*layer)(pass, (*layer)(pass, x)); }
    static void members(auto& self, auto& visitor) { visitor.part("layer", *self.layer); }
    std::string describe() const override { return "Twice"; }
    Part<float> layer;
};

// A limit that no gradient reaches: it changes nothing, except that the whole gradient is waited for.
constexpr double whole = 1e30;

// theta after three steps, its gradients in pieces or whole.
template <class Net>
std::vector<float> after_steps(Net net, const Optimiser& optimiser, bool in_pieces, double clip_norm = 1.0 / 0.0) {
    initialise<float>(net, 1);
    const Parameters<float> parameters(net);
    Tensor<float> theta = parameters.flatten(), x = Tensor<float>::empty({4, 40});
    Random(7).fill_normal(x.mutable_values());
    std::vector<Tensor<float>> memory;
    for (int k = 0; k < optimiser.memories(); ++k) memory.push_back(Tensor<float>::zeros(theta.shape()));
    Tape<float> tape;
    Pass<float> pass(tape, parameters);
    UpdatePriors priors{std::vector<Prior>(parameters.count(), FlatPrior{}), 10};
    priors.of_parameter[0] = GaussianPrior{.sd = 1};
    priors.of_parameter[1] = StudentTPrior{.nu = 3, .scale = 0.1};
    Update<float> update(optimiser, tape, pass, theta, memory, priors);
    if (!in_pieces) clip_norm = std::min(clip_norm, whole);
    for (std::int64_t step = 0; step < 3; ++step) {
        tape.clear();
        pass.restart({.mode = Mode::train, .seed = 3, .step = static_cast<std::uint64_t>(step)}, theta.values());
        Var<float> loss = sum(square(net(pass, tape.borrow(x)))) * 0.01;
        for (const Var<float>& pair : pass.complexities()) loss = loss + sum(pair * Tensor<float>{0.01f, -0.01f});
        update(loss, {.rate = 0.01, .step = step}, clip_norm);
    }
    return {theta.begin(), theta.end()};
}

Sequential<float> network() {
    // More weights than go by at once, and not a multiple of anything.
    return bayesian(Sequential{Dense(40, 1201), Tanh(), Dense(1201, 3)},
                    {.prior = ScaleMixturePrior{0.25, 1, 0.01}, .posterior = mean_field<float>(0.05)});
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_gradient_in_pieces_moves_theta_to_the_same_bits) {
    for (const Optimiser& optimiser : {Optimiser(Sgd{}), Optimiser(Momentum{}), Optimiser(Adam{})}) {
        const std::vector<float> at_once = after_steps(network(), optimiser, false);
        BOOST_TEST((after_steps(network(), optimiser, true) == at_once));
        for (const int threads : {1, 2, 8})
            with_threads(threads, [&] { BOOST_TEST((after_steps(network(), optimiser, true) == at_once)); });
    }
}

BOOST_AUTO_TEST_CASE(weights_that_are_used_twice_wait_for_their_whole_gradient) {
    BOOST_TEST((after_steps(Twice(40), Sgd{}, true) == after_steps(Twice(40), Sgd{}, false)));
}

// A penalty on a leaf adds to a gradient that the draw of the weights knows nothing of.
BOOST_AUTO_TEST_CASE(what_else_uses_a_parameter_counts) {
    const auto moved = [](bool in_pieces) {
        Sequential<float> net = network();
        initialise<float>(net, 1);
        const Parameters<float> parameters(net);
        Tensor<float> theta = parameters.flatten();
        std::vector<Tensor<float>> memory;
        Tape<float> tape;
        Pass<float> pass(tape, parameters);
        Update<float> update(Sgd{}, tape, pass, theta, memory);
        pass.restart({.mode = Mode::train}, theta.values());
        const Tensor<float> x = Tensor<float>::full({1, 40}, 1.f);
        update(sum(net(pass, tape.borrow(x))) + sum(square(pass.leaves()[0])) * 100.0, {.rate = 0.001},
               in_pieces ? INFINITY : whole);
        return std::vector<float>(theta.begin(), theta.end());
    };
    BOOST_TEST((moved(true) == moved(false)));
}

BOOST_AUTO_TEST_CASE(errors) {
    Sequential<float> net = network();
    initialise<float>(net, 1);
    const Parameters<float> parameters(net);
    Tensor<float> theta = parameters.flatten(), little = Tensor<float>::zeros({4});
    std::vector<Tensor<float>> none, one{little};
    Tape<float> tape;
    Pass<float> pass(tape, parameters, {}, theta.values());
    const Var<float> loss = sum(pass.leaves()[0]);
    const std::string n = std::to_string(parameters.size());
    BOOST_TEST(error_of<ValueError>([&] { Update<float>(Adam{}, tape, pass, theta, none)(loss, {.rate = 1}); }) ==
               "Update: 0 tensors of memory; the optimiser needs 2");
    BOOST_TEST(error_of<ShapeError>([&] { Update<float>(Sgd{}, tape, pass, little, none)(loss, {.rate = 1}); }) ==
               "Update: theta has 4 numbers; the pass has parameters of " + n);
    BOOST_TEST(error_of<ShapeError>([&] { Update<float>(Momentum{}, tape, pass, theta, one)(loss, {.rate = 1}); }) ==
               "Update: memory 0 has 4 numbers; the pass has parameters of " + n);
    const UpdatePriors few{{GaussianPrior{}}};
    BOOST_TEST(error_of<ValueError>([&] { Update<float>(Sgd{}, tape, pass, theta, none, few)(loss, {.rate = 1}); }) ==
               "Update: 1 priors; the pass has 8 parameters");
}

BOOST_AUTO_TEST_CASE(clipping_needs_the_whole_gradient) {
    const std::vector<float> clipped = after_steps(network(), Sgd{}, true, 0.5);
    BOOST_TEST((clipped == after_steps(network(), Sgd{}, false, 0.5)));
    BOOST_TEST((clipped != after_steps(network(), Sgd{}, true)));
    BOOST_TEST((after_steps(network(), Sgd{}, true, whole) == after_steps(network(), Sgd{}, true)));
}

BOOST_AUTO_TEST_SUITE_END()
