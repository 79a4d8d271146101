#include "same_bits.hpp"

using namespace pollen;
using namespace pollen::test;

BOOST_AUTO_TEST_SUITE(squeeze)

BOOST_AUTO_TEST_CASE(values) {
    Tape<float> tape;
    const Var<float> x = tape.variable(Tensor<float>(Shape{1, 2, 1, 3}, {1, 2, 3, 4, 5, 6}));
    BOOST_TEST((pollen::squeeze(x).value() == Tensor<float>{{1, 2, 3}, {4, 5, 6}}));
    BOOST_TEST(pollen::squeeze(x).value().data() == x.value().data());
    BOOST_TEST((pollen::squeeze(x, 0).shape() == Shape{2, 1, 3}));
    BOOST_TEST((pollen::squeeze(x, -2).shape() == Shape{1, 2, 3}));
    BOOST_TEST((pollen::squeeze(x, {0, 2}).shape() == Shape{2, 3}));
    BOOST_TEST((pollen::squeeze(tape.variable(Tensor<float>::zeros(Shape{1, 1}))).shape() == Shape{}));
    BOOST_TEST((pollen::squeeze(tape.variable(Tensor<float>::zeros(Shape{0, 1}))).shape() == Shape{0}));
    BOOST_TEST((pollen::squeeze(pollen::sum(x)).shape() == Shape{}));
}

BOOST_AUTO_TEST_CASE(gradients) {
    check_gradients([](auto x) { return pollen::squeeze(x); }, normals(Shape{1, 3, 1}));
    check_gradients([](auto x) { return pollen::squeeze(x, 0) * pollen::squeeze(x); }, normals(Shape{1, 3}));
    check_gradients([](auto x) { return pollen::squeeze(x); }, normals(Shape{1, 0}));
}

BOOST_AUTO_TEST_CASE(errors) {
    Tape<float> tape;
    const Var<float> x = tape.variable(Tensor<float>::zeros(Shape{1, 3}));
    BOOST_TEST(error_of<ShapeError>([&] { pollen::squeeze(x, 1); }) ==
               "squeeze: axis 1 of x (1, 3) has size 3; only axes of size 1 can be dropped");
    BOOST_TEST(error_of<ShapeError>([&] { pollen::squeeze(x, 2); }) ==
               "squeeze: axis 2 is out of range; a tensor of rank 2 has axes -2 to 1");
}

BOOST_AUTO_TEST_SUITE_END()
