#include "../../naive.hpp"
#include "same_bits.hpp"

#include <numeric>

using namespace pollen;
using namespace pollen::test;

BOOST_AUTO_TEST_SUITE(permute)

namespace {

using Order = std::vector<int>;

template <class V>
V permuted(V x, const Order& order) {
    switch (order.size()) {
        case 0:
            return pollen::permute(x, {});
        case 1:
            return pollen::permute(x, {order[0]});
        case 2:
            return pollen::permute(x, {order[0], order[1]});
        case 3:
            return pollen::permute(x, {order[0], order[1], order[2]});
        case 4:
            return pollen::permute(x, {order[0], order[1], order[2], order[3]});
        default:
            return pollen::permute(x, {order[0], order[1], order[2], order[3], order[4]});
    }
}

template <class T>
void check(const Shape& shape, const Order& order) {
    const Tensor<T> x = cast<T>(normals(shape));
    std::vector<std::int64_t> sizes;
    for (const int axis : order) sizes.push_back(shape[axis]);
    Tensor<T> expected = Tensor<T>::zeros(Shape(std::span<const std::int64_t>(sizes)));
    T* out = expected.mutable_data();
    for_each_index(expected.shape(), [&](const Index& index) {
        Index from{};
        for (std::size_t k = 0; k < order.size(); ++k) from[static_cast<std::size_t>(order[k])] = index[k];
        std::int64_t at = 0;
        for (int axis = 0; axis < shape.rank(); ++axis) at = at * shape[axis] + from[static_cast<std::size_t>(axis)];
        *out++ = x.data()[at];
    });
    BOOST_TEST(
        (value<T>([&](auto v) { return permuted(v, order); }, x) == expected),
        shape << " in order " << Tensor<std::int32_t>(Shape{static_cast<std::int64_t>(order.size())}, Order(order)));
    // The gradient is the permutation back: exact, whether it is the first or is added to another.
    Tape<T> tape;
    const Var<T> v = tape.variable(x);
    const Var<T> y = permuted(v, order);
    tape.backward(y, expected);
    BOOST_TEST((v.grad() == x), "gradient of " << shape);
    tape.backward(y, expected);
    Tensor<T> twice = x;
    for (T& number : twice.mutable_values()) number += number;
    BOOST_TEST((v.grad() == twice), "gradient added, of " << shape);
}

void check_every_order(const Shape& shape) {
    Order order(static_cast<std::size_t>(shape.rank()));
    std::iota(order.begin(), order.end(), 0);
    do {
        check<float>(shape, order);
        check<double>(shape, order);
    } while (std::next_permutation(order.begin(), order.end()));
}

}  // namespace

BOOST_AUTO_TEST_CASE(every_order) {
    for (const Shape& shape :
         {Shape{}, Shape{3}, Shape{0}, Shape{2, 3}, Shape{0, 3}, Shape{1, 5}, Shape{2, 3, 4}, Shape{9, 1, 17},
          Shape{8, 16, 24}, Shape{2, 0, 3}, Shape{2, 3, 4, 5}, Shape{3, 2, 1, 9}, Shape{2, 3, 1, 2, 9}})
        check_every_order(shape);
}

// Around the sides of the register squares and of the tiles.
BOOST_AUTO_TEST_CASE(matrices) {
    for (const std::int64_t rows : {1, 3, 4, 7, 8, 9, 31, 63, 64, 65, 130, 300})
        for (const std::int64_t columns : {1, 2, 5, 8, 15, 16, 33, 64, 100, 301}) {
            check<float>({rows, columns}, {1, 0});
            check<double>({rows, columns}, {1, 0});
        }
    check<float>({3, 100, 200}, {0, 2, 1});
    check<double>({70, 3, 200}, {2, 1, 0});
    check<float>({40, 5, 6, 50}, {0, 2, 3, 1});
    check<float>({30000, 2, 3}, {0, 2, 1});
    check<float>({200, 300, 2}, {1, 0, 2});
}

// Where only axes of size 1 change their place nothing is copied.
BOOST_AUTO_TEST_CASE(sharing) {
    Tape<float> tape;
    const Var<float> x = tape.variable(Tensor<float>::zeros(Shape{3, 1, 4}));
    const Var<float> y = pollen::permute(x, {1, 0, 2});
    BOOST_TEST((y.shape() == Shape{1, 3, 4}));
    BOOST_TEST(y.value().data() == x.value().data());
}

BOOST_AUTO_TEST_CASE(gradients) {
    check_gradients([](auto x) { return pollen::permute(x, {2, 0, 1}); }, normals(Shape{2, 3, 4}));
    check_gradients([](auto x) { return pollen::permute(x, {-1, 0}); }, normals(Shape{3, 1}));
    check_gradients([](auto x) { return pollen::permute(x, {1, 0}) * x; }, normals(Shape{9, 9}));
    check_same_bits<float>([](auto x) { return pollen::permute(x, {1, 0}); }, normals(Shape{301, 401}));
}

BOOST_AUTO_TEST_CASE(errors) {
    Tape<float> tape;
    const Var<float> x = tape.variable(Tensor<float>::zeros(Shape{2, 3}));
    BOOST_TEST(error_of<ShapeError>([&] {
                   pollen::permute(x, {0, 0});
               }) == "permute: order (0, 0) for x (2, 3): axis 0 is named twice");
    BOOST_TEST(error_of<ShapeError>([&] {
                   pollen::permute(x, {1, -1});
               }) == "permute: order (1, -1) for x (2, 3): axis 1 is named twice");
    BOOST_TEST(error_of<ShapeError>([&] { pollen::permute(x, {1}); }) ==
               "permute: order (1) for x (2, 3): it names 1 axes where x has 2");
    BOOST_TEST(error_of<ShapeError>([&] {
                   pollen::permute(x, {0, 2});
               }) == "permute: axis 2 is out of range; a tensor of rank 2 has axes -2 to 1");
}

BOOST_AUTO_TEST_SUITE_END()
