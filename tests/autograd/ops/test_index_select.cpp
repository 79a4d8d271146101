#include "../../naive.hpp"
#include "same_bits.hpp"

using namespace pollen;
using namespace pollen::test;

BOOST_AUTO_TEST_SUITE(index_select)

namespace {

template <class T>
void check(const Shape& shape, int axis, const Indices& index) {
    std::vector<std::int64_t> sizes(shape.sizes().begin(), shape.sizes().end());
    sizes[static_cast<std::size_t>(axis)] = index.size();
    const Shape to{std::span<const std::int64_t>(sizes)};
    const Tensor<T> x = whole_numbers<T>(shape), g = whole_numbers<T>(to, 5);
    Tensor<T> expected = Tensor<T>::zeros(to), gradient = Tensor<T>::zeros(shape);
    std::int64_t at = 0;
    for_each_index(to, [&](Index from) {
        std::int64_t& chosen = from[static_cast<std::size_t>(axis)];
        chosen = index.data()[chosen];
        std::int64_t offset = 0;
        for (int k = 0; k < shape.rank(); ++k) offset = offset * shape[k] + from[static_cast<std::size_t>(k)];
        expected.mutable_data()[at] = x.data()[offset];
        gradient.mutable_data()[offset] += g.data()[at++];
    });
    Tape<T> tape;
    const Var<T> v = tape.variable(x), y = pollen::index_select(v, axis, index);
    BOOST_TEST((y.value() == expected), shape << ", axis " << axis);
    tape.backward(y, g);
    BOOST_TEST((v.grad() == gradient), "gradient of " << shape << ", axis " << axis);
}

}  // namespace

BOOST_AUTO_TEST_CASE(values) {
    const Indices none = Indices::zeros(Shape{0}), some{3, 0, 3, 3, 1}, one{2};
    for (const Indices& index : {none, some, one}) {
        check<double>({4}, 0, index);
        check<double>({4, 3}, 0, index);
        check<double>({3, 4}, 1, index);
        check<float>({2, 4, 9}, 1, index);
        check<float>({4, 0}, 0, index);
        check<float>({0, 4}, 1, index);
        check<float>({4, 40000}, 0, index);
        check<float>({10000, 4}, 1, index);
        check<float>({50, 4, 1500}, 1, index);
    }
    Indices many = Indices::zeros(Shape{40000});
    std::int64_t k = 0;
    for (std::int32_t& i : many.mutable_values()) i = static_cast<std::int32_t>(k++ * 17 % 19);
    check<float>({19, 3}, 0, many);
    check<double>({19}, -1 + 1, many);
}

BOOST_AUTO_TEST_CASE(gradients) {
    const Indices index{2, 0, 2};
    for (const int axis : {0, 1, -1})
        check_gradients([&](auto x) { return pollen::index_select(x, axis, index); }, normals(Shape{3, 4, 3}));
    check_gradients([&](auto x) { return pollen::index_select(x, 0, index) * x; }, normals(Shape{3, 2}));
    check_same_bits<float>([&](auto x) { return pollen::index_select(x, 1, index); }, normals(Shape{100, 3, 401}));
}

BOOST_AUTO_TEST_CASE(errors) {
    const auto error = [](const Shape& shape, int axis, const Indices& index) {
        return error_of<ShapeError>(
            [&] { value<float>([&](auto x) { return pollen::index_select(x, axis, index); }, normals(shape)); });
    };
    BOOST_TEST(error({2, 3}, 1, Indices{0, 3}) ==
               "index_select: index 3 at 1 is out of range; axis 1 of x (2, 3) has size 3");
    BOOST_TEST(error({2, 3}, 0, Indices{-1}) ==
               "index_select: index -1 at 0 is out of range; axis 0 of x (2, 3) has size 2");
    BOOST_TEST(error({0}, 0, Indices{0}) == "index_select: index 0 at 0 is out of range; axis 0 of x (0) has size 0");
    BOOST_TEST(error({2, 3}, 0, Indices{{0, 1}}) == "index_select: index has shape (1, 2); a list (n) is needed");
    BOOST_TEST(error({}, 0, Indices{0}) == "index_select: axis 0 is out of range; a scalar has no axes");
}

BOOST_AUTO_TEST_SUITE_END()
