#include "../../naive.hpp"
#include "same_bits.hpp"

using namespace pollen;
using namespace pollen::test;

BOOST_AUTO_TEST_SUITE(gather)

namespace {

// Indices below n, in no order and with repetitions.
Indices some_indices(const Shape& shape, std::int64_t n) {
    Indices index = Indices::zeros(shape);
    std::int64_t k = 0;
    for (std::int32_t& i : index.mutable_values()) i = static_cast<std::int32_t>(k++ * 7 % 5 % n);
    return index;
}

template <class T>
void check(const Shape& shape, int axis, std::int64_t count) {
    std::vector<std::int64_t> sizes(shape.sizes().begin(), shape.sizes().end());
    sizes[static_cast<std::size_t>(axis)] = count;
    const Indices index = some_indices(Shape(std::span<const std::int64_t>(sizes)), shape[axis]);
    const Tensor<T> x = whole_numbers<T>(shape), g = whole_numbers<T>(index.shape(), 5);
    Tensor<T> expected = Tensor<T>::zeros(index.shape()), gradient = Tensor<T>::zeros(shape);
    std::int64_t at = 0;
    for_each_index(index.shape(), [&](Index place_of) {
        place_of[static_cast<std::size_t>(axis)] = index.data()[at];
        std::int64_t from = 0;
        for (int k = 0; k < shape.rank(); ++k) from = from * shape[k] + place_of[static_cast<std::size_t>(k)];
        expected.mutable_data()[at] = x.data()[from];
        gradient.mutable_data()[from] += g.data()[at++];
    });
    Tape<T> tape;
    const Var<T> v = tape.variable(x), y = pollen::gather(v, axis, index);
    BOOST_TEST((y.value() == expected), shape << ", axis " << axis << ", count " << count);
    tape.backward(y, g);
    BOOST_TEST((v.grad() == gradient), "gradient of " << shape << ", axis " << axis << ", count " << count);
}

}  // namespace

BOOST_AUTO_TEST_CASE(values) {
    for (const Shape& shape : {Shape{1}, Shape{5}, Shape{3, 4}, Shape{2, 3, 4}, Shape{0, 3}, Shape{30, 5, 60}})
        for (int axis = 0; axis < shape.rank(); ++axis)
            for (const std::int64_t count : {0, 1, 2, 9})
                if (shape[axis] > 0) check<double>(shape, axis, count);
    check<float>({4, 30000}, 0, 3);
    check<float>({30000, 4}, 1, 3);
    check<float>({7, 2500, 3}, 1, 2000);
    // numpy.take_along_axis(x, index, 1)
    const Tensor<float> x{{1, 2, 3}, {4, 5, 6}};
    const Indices index{{2, 0}, {1, 1}};
    BOOST_TEST((value<float>([&](auto v) { return pollen::gather(v, 1, index); }, x) == Tensor<float>{{3, 1}, {5, 5}}));
}

// The op keeps its own copy of the index.
BOOST_AUTO_TEST_CASE(index_may_go) {
    Tape<float> tape;
    const Var<float> x = tape.variable(Tensor<float>{1, 2, 3});
    Indices index{2, 2};
    const Var<float> y = pollen::gather(x, 0, index);
    index.mutable_at(0) = 0;
    tape.backward(pollen::sum(y));
    BOOST_TEST((x.grad() == Tensor<float>{0, 0, 2}));
}

BOOST_AUTO_TEST_CASE(gradients) {
    const Indices index = some_indices(Shape{2, 6, 3}, 4);
    check_gradients([&](auto x) { return pollen::gather(x, 1, index); }, normals(Shape{2, 4, 3}));
    check_gradients([&](auto x) { return pollen::gather(x, 1, index) * pollen::gather(x * x, 1, index); },
                    normals(Shape{2, 4, 3}));
    const Indices many = some_indices(Shape{301, 200}, 401);
    check_same_bits<float>([&](auto x) { return pollen::gather(x, 1, many); }, normals(Shape{301, 401}));
}

BOOST_AUTO_TEST_CASE(errors) {
    const auto error = [](const Shape& shape, int axis, const Indices& index) {
        return error_of<ShapeError>(
            [&] { value<float>([&](auto x) { return pollen::gather(x, axis, index); }, normals(shape)); });
    };
    BOOST_TEST(error({2, 3}, 1, Indices{{0, 1}, {2, 3}}) ==
               "gather: index 3 at (1, 1) is out of range; axis 1 of x (2, 3) has size 3");
    BOOST_TEST(error({2, 3}, 1, Indices{{0, -1}, {2, 3}}) ==
               "gather: index -1 at (0, 1) is out of range; axis 1 of x (2, 3) has size 3");
    BOOST_TEST(error({2, 3}, 1, Indices{0, 1}) ==
               "gather: index (2) does not fit x (2, 3); all sizes but those of axis 1 must be equal");
    BOOST_TEST(error({2, 3}, 0, Indices{{0, 1}}) ==
               "gather: index (1, 2) does not fit x (2, 3); all sizes but those of axis 0 must be equal");
    BOOST_TEST(error({2, 3}, 5, Indices{{0, 1}}) ==
               "gather: axis 5 is out of range; a tensor of rank 2 has axes -2 to 1");
}

BOOST_AUTO_TEST_SUITE_END()
