#include "same_bits.hpp"

using namespace pollen;
using namespace pollen::test;

BOOST_AUTO_TEST_SUITE(stack)

BOOST_AUTO_TEST_CASE(values) {
    Tape<float> tape;
    const Var<float> x = tape.variable(Tensor<float>{1, 2, 3}), y = tape.variable(Tensor<float>{4, 5, 6});
    BOOST_TEST((pollen::stack({x, y}).value() == Tensor<float>{{1, 2, 3}, {4, 5, 6}}));
    BOOST_TEST((pollen::stack({x, y}, 1).value() == Tensor<float>{{1, 4}, {2, 5}, {3, 6}}));
    BOOST_TEST((pollen::stack({x, y}, -1).value() == Tensor<float>{{1, 4}, {2, 5}, {3, 6}}));
    BOOST_TEST((pollen::stack({x, y}, -2).value() == Tensor<float>{{1, 2, 3}, {4, 5, 6}}));
    const Var<float> a = pollen::sum(x), b = pollen::sum(y);
    BOOST_TEST((pollen::stack({a, b, a}).value() == Tensor<float>{6, 15, 6}));
    const Var<float> none = tape.variable(Tensor<float>::zeros(Shape{2, 0}));
    BOOST_TEST((pollen::stack({none, none, none}, 1).shape() == Shape{2, 3, 0}));
}

// Each part is found again at its place, for every axis.
BOOST_AUTO_TEST_CASE(every_axis) {
    for (const int axis : {0, 1, 2, 3}) {
        Tape<double> tape;
        std::vector<Var<double>> parts;
        for (std::uint64_t k = 0; k < 4; ++k) parts.push_back(tape.variable(normals(Shape{30, 3, 40}, k + 1)));
        const Var<double> y = pollen::stack(std::span<const Var<double>>(parts), axis);
        for (std::int64_t k = 0; k < 4; ++k) {
            const Tensor<double> part = squeeze(slice(y, axis, k, k + 1), axis).value();
            BOOST_TEST((part == parts[static_cast<std::size_t>(k)].value()));
        }
        tape.backward(y, y.value());
        for (const Var<double>& part : parts) BOOST_TEST((part.grad() == part.value()));
    }
}

BOOST_AUTO_TEST_CASE(gradients) {
    for (const int axis : {0, 1, 2})
        check_gradients(
            [&](auto x, auto y) {
                return pollen::stack({x, y, x}, axis);
            },
            normals(Shape{2, 3}, 1), normals(Shape{2, 3}, 2));
    check_gradients([](auto x) { return pollen::stack({pollen::sum(x), pollen::sum(x * x)}); }, normals(Shape{3}));
}

BOOST_AUTO_TEST_CASE(errors) {
    Tape<float> tape;
    const Var<float> x = tape.variable(Tensor<float>::zeros(Shape{2, 3})),
                     y = tape.variable(Tensor<float>::zeros(Shape{1, 3}));
    BOOST_TEST(error_of<ShapeError>([&] { pollen::stack(std::span<const Var<float>>()); }) ==
               "stack: no parts are given; at least one is needed");
    BOOST_TEST(error_of<ShapeError>([&] {
                   pollen::stack({x, y});
               }) == "stack: part 1 has shape (1, 3), part 0 has (2, 3); all shapes must be equal");
    BOOST_TEST(error_of<ShapeError>([&] {
                   pollen::stack({x, x}, 3);
               }) == "stack: there is no place 3 for a new axis; a tensor of rank 2 has places -3 to 2");
}

BOOST_AUTO_TEST_SUITE_END()
