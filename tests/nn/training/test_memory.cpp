#include "../../support.hpp"

#include <pollen/nn/layers.hpp>
#include <pollen/nn/module/sequential.hpp>

using namespace pollen;
using namespace pollen::test;

// How much memory a training step takes, by the counters of the tape's pool.
BOOST_AUTO_TEST_SUITE(memory)

namespace {

struct Counters {
    PoolCounters after_two, after_six;
};

// Steps of a small network like VGG on 16 images of 32 x 32 pixels. An observer turns off that layers are evaluated
// together.
Counters six_steps(bool observed) {
    Sequential<float> net{Conv2d<float>(3, 32, 3, {.padding = 1}),
                          Relu<float>(),
                          Conv2d<float>(32, 32, 3, {.padding = 1}),
                          Relu<float>(),
                          MaxPool2d<float>(2),
                          Flatten<float>(),
                          Dense<float>(32 * 16 * 16, 10)};
    initialise<float>(net, 1);
    const Tensor<float> x = cast<float>(normals({16, 3, 32, 32}));
    Indices labels = Indices::zeros({16});
    for (std::int64_t i = 0; i < 16; ++i) labels.mutable_at(i) = static_cast<std::int32_t>(i % 10);
    const Parameters<float> parameters(net);
    Tape<float> tape;
    Pass<float> pass(tape, parameters);
    if (observed) pass.observer = [](const Module<float>&, const Var<float>&) {};
    Counters counters;
    for (int step = 1; step <= 6; ++step) {
        tape.clear();
        pass.restart({.mode = Mode::train});
        tape.backward(cross_entropy(net(pass, tape.borrow(x)), labels));
        if (step == 2) counters.after_two = tape.pool();
    }
    counters.after_six = tape.pool();
    return counters;
}

}  // namespace

BOOST_AUTO_TEST_CASE(layers_together_take_less_than_one_by_one) {
    const Counters together = six_steps(false), apart = six_steps(true);
    const double ratio = static_cast<double>(together.after_six.bytes) / static_cast<double>(apart.after_six.bytes);
    BOOST_TEST_MESSAGE("together " << together.after_six.bytes << " bytes, one by one " << apart.after_six.bytes);
    BOOST_TEST(ratio < 0.8);
}

BOOST_AUTO_TEST_CASE(after_two_steps_nothing_is_allocated) {
    for (const bool observed : {false, true}) {
        const Counters c = six_steps(observed);
        BOOST_TEST(c.after_six.allocated == c.after_two.allocated);
        BOOST_TEST(c.after_six.freed == c.after_two.freed);
        BOOST_TEST(c.after_six.bytes == c.after_two.bytes);
        BOOST_TEST(c.after_six.taken > c.after_two.taken);
    }
}

BOOST_AUTO_TEST_SUITE_END()
