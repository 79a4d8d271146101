#include "same_bits.hpp"

using namespace pollen;
using namespace pollen::test;

BOOST_AUTO_TEST_SUITE(transpose)

BOOST_AUTO_TEST_CASE(values) {
    Tape<float> tape;
    const Var<float> x = tape.variable(Tensor<float>{{1, 2, 3}, {4, 5, 6}});
    BOOST_TEST((pollen::transpose(x).value() == Tensor<float>{{1, 4}, {2, 5}, {3, 6}}));
    BOOST_TEST((pollen::transpose(x, 0, 0).value() == x.value()));
    // numpy.arange(24).reshape(2, 3, 4).swapaxes(0, 2)[1], [:, 1] and swapaxes(1, 2)[1]
    const Var<float> y = reshape(tape.variable(Tensor<float>::arange(24)), {2, 3, 4});
    const Tensor<float> swapped = pollen::transpose(y, 0, 2).value();
    BOOST_TEST((swapped.shape() == Shape{4, 3, 2}));
    BOOST_TEST(swapped(1, 2, 1) == 21);
    BOOST_TEST(swapped(3, 0, 1) == 15);
    const Tensor<float> last = pollen::transpose(y).value();
    BOOST_TEST((last.shape() == Shape{2, 4, 3}));
    BOOST_TEST(last(1, 3, 2) == 23);
    BOOST_TEST(last(0, 1, 2) == 9);
    BOOST_TEST((pollen::transpose(tape.variable(Tensor<float>::zeros(Shape{0, 3}))).shape() == Shape{3, 0}));
}

// All digits come through, at any size.
BOOST_AUTO_TEST_CASE(twice) {
    for (const Shape& shape : {Shape{1, 1}, Shape{5, 70}, Shape{129, 257}, Shape{7, 33, 65}}) {
        const Tensor<float> x = cast<float>(normals(shape));
        const auto there_and_back = [](auto v) { return pollen::transpose(pollen::transpose(v)); };
        BOOST_TEST((value<float>(there_and_back, x) == x));
    }
}

BOOST_AUTO_TEST_CASE(gradients) {
    check_gradients([](auto x) { return pollen::transpose(x); }, normals(Shape{3, 4}));
    check_gradients([](auto x) { return pollen::transpose(x, 0, -1); }, normals(Shape{3, 2, 4}));
    check_gradients([](auto x) { return pollen::transpose(x) * x; }, normals(Shape{4, 4}));
    check_gradients([](auto x) { return pollen::transpose(x); }, normals(Shape{0, 4}));
}

BOOST_AUTO_TEST_CASE(errors) {
    Tape<float> tape;
    const Var<float> x = tape.variable(Tensor<float>{1, 2});
    BOOST_TEST(error_of<ShapeError>([&] { pollen::transpose(x); }) ==
               "transpose: axis -2 is out of range; a tensor of rank 1 has axes -1 to 0");
}

BOOST_AUTO_TEST_SUITE_END()
