#include "same_bits.hpp"

using namespace pollen;
using namespace pollen::test;

BOOST_AUTO_TEST_SUITE(reshape)

// The numbers stay where they are.
BOOST_AUTO_TEST_CASE(values) {
    Tape<float> tape;
    const Var<float> x = tape.variable(Tensor<float>{{1, 2, 3}, {4, 5, 6}});
    const Var<float> y = pollen::reshape(x, {3, -1});
    BOOST_TEST((y.value() == Tensor<float>{{1, 2}, {3, 4}, {5, 6}}));
    BOOST_TEST(y.value().data() == x.value().data());
    BOOST_TEST((pollen::reshape(x, Shape{6}).value() == Tensor<float>{1, 2, 3, 4, 5, 6}));
    BOOST_TEST((pollen::reshape(x, {-1, 1, 2}).shape() == Shape{3, 1, 2}));
    BOOST_TEST((pollen::reshape(pollen::sum(x), {1, 1}).shape() == Shape{1, 1}));
    BOOST_TEST(pollen::reshape(tape.variable(Tensor<float>{7}), {}).item() == 7);
    BOOST_TEST((pollen::reshape(tape.variable(Tensor<float>::zeros(Shape{0, 3})), {5, 0}).shape() == Shape{5, 0}));
    BOOST_TEST((pollen::reshape(tape.variable(Tensor<float>()), {2, 0}).shape() == Shape{2, 0}));
}

// A tensor taken from the node owns its numbers; it outlives the tape.
BOOST_AUTO_TEST_CASE(lifetime) {
    Tensor<double> kept;
    {
        Tape<double> tape;
        const Var<double> x = tape.variable(Tensor<double>{1, 2, 3, 4});
        const auto mark = tape.mark();
        kept = pollen::reshape(x * x, {2, 2}).value();
        tape.rewind(mark);
        for (int step = 0; step < 3; ++step) pollen::reshape(x + x, {2, 2});
    }
    BOOST_TEST(kept.owns());
    BOOST_TEST((kept == Tensor<double>{{1, 4}, {9, 16}}));
}

BOOST_AUTO_TEST_CASE(gradients) {
    check_gradients([](auto x) { return pollen::reshape(x, {4, 3}); }, normals(Shape{2, 6}));
    check_gradients([](auto x) { return pollen::reshape(x, Shape{}); }, normals(Shape{1, 1}));
    check_gradients([](auto x) { return pollen::reshape(x * x, {-1}) * pollen::reshape(x, {-1}); },
                    normals(Shape{2, 3}));
    check_gradients([](auto x) { return pollen::reshape(pollen::reshape(x, {6}), {3, 2}); }, normals(Shape{2, 3}));
    check_gradients([](auto x) { return pollen::reshape(x, {0}); }, normals(Shape{3, 0}));
}

// The gradient is handed on to the input, but not where it is to be kept.
BOOST_AUTO_TEST_CASE(kept_gradient) {
    Tape<double> tape;
    const Var<double> x = tape.variable(Tensor<double>{1, 2, 3, 4});
    const Var<double> y = pollen::reshape(x, {2, 2}), z = y * y;
    tape.keep_grad(y);
    tape.backward(pollen::sum(z));
    BOOST_TEST((y.grad() == Tensor<double>{{2, 4}, {6, 8}}));
    BOOST_TEST((x.grad() == Tensor<double>{2, 4, 6, 8}));
}

BOOST_AUTO_TEST_CASE(errors) {
    Tape<float> tape;
    const Var<float> x = tape.variable(Tensor<float>::zeros(Shape{2, 3}));
    BOOST_TEST(error_of<ShapeError>([&] { pollen::reshape(x, {4}); }) ==
               "reshape: (2, 3) to (4): 6 elements do not fill 4");
    BOOST_TEST(error_of<ShapeError>([&] {
                   pollen::reshape(x, Shape{4, 2});
               }) == "reshape: (2, 3) to (4, 2): 6 elements do not fill 8");
    BOOST_TEST(error_of<ShapeError>([&] {
                   pollen::reshape(x, {-1, -1});
               }) == "reshape: (2, 3) to (-1, -1): only one size may be -1");
}

BOOST_AUTO_TEST_SUITE_END()
