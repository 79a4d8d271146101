#include "same_bits.hpp"

using namespace pollen;
using namespace pollen::test;

BOOST_AUTO_TEST_SUITE(unsqueeze)

BOOST_AUTO_TEST_CASE(values) {
    Tape<float> tape;
    const Var<float> x = tape.variable(Tensor<float>{{1, 2, 3}, {4, 5, 6}});
    BOOST_TEST((pollen::unsqueeze(x, 0).value() == Tensor<float>(Shape{1, 2, 3}, {1, 2, 3, 4, 5, 6})));
    BOOST_TEST(pollen::unsqueeze(x, 0).value().data() == x.value().data());
    BOOST_TEST((pollen::unsqueeze(x, 1).shape() == Shape{2, 1, 3}));
    BOOST_TEST((pollen::unsqueeze(x, 2).shape() == Shape{2, 3, 1}));
    BOOST_TEST((pollen::unsqueeze(x, -1).shape() == Shape{2, 3, 1}));
    BOOST_TEST((pollen::unsqueeze(x, -3).shape() == Shape{1, 2, 3}));
    BOOST_TEST((pollen::unsqueeze(pollen::sum(x), 0).shape() == Shape{1}));
    BOOST_TEST((pollen::unsqueeze(tape.variable(Tensor<float>()), 0).shape() == Shape{1, 0}));
}

BOOST_AUTO_TEST_CASE(gradients) {
    check_gradients([](auto x) { return pollen::unsqueeze(x, 1); }, normals(Shape{3, 4}));
    check_gradients([](auto x) { return pollen::unsqueeze(x, 0) * pollen::unsqueeze(x, 1); }, normals(Shape{3}));
    check_gradients([](auto x) { return pollen::unsqueeze(x, 0); }, normals(Shape{0}));
}

BOOST_AUTO_TEST_CASE(errors) {
    Tape<float> tape;
    const Var<float> x = tape.variable(Tensor<float>::zeros(Shape{2, 3}));
    BOOST_TEST(error_of<ShapeError>([&] { pollen::unsqueeze(x, 3); }) ==
               "unsqueeze: there is no place 3 for a new axis; a tensor of rank 2 has places -3 to 2");
    BOOST_TEST(error_of<ShapeError>([&] { pollen::unsqueeze(x, -4); }) ==
               "unsqueeze: there is no place -4 for a new axis; a tensor of rank 2 has places -3 to 2");
    const Var<float> full = tape.variable(Tensor<float>::zeros(Shape{1, 1, 1, 1, 1, 1}));
    BOOST_TEST(error_of<ShapeError>([&] { pollen::unsqueeze(full, 0); }) ==
               "shape: (1, 1, 1, 1, 1, 1, 1) has 7 axes; at most 6 are supported");
}

BOOST_AUTO_TEST_SUITE_END()
