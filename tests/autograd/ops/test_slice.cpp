#include "../../naive.hpp"
#include "same_bits.hpp"

#include <limits>

using namespace pollen;
using namespace pollen::test;

BOOST_AUTO_TEST_SUITE(slice)

namespace {

// x[begin:end:step] along an axis, for bounds within it.
template <class T>
void check(const Shape& shape, int axis, std::int64_t begin, std::int64_t end, std::int64_t step) {
    const Tensor<T> x = cast<T>(normals(shape));
    std::vector<T> chosen;
    Tensor<T> mask = Tensor<T>::zeros(shape);
    std::int64_t at = 0;
    for_each_index(shape, [&](const Index& index) {
        const std::int64_t i = index[static_cast<std::size_t>(axis)];
        if (i >= begin && i < end && (i - begin) % step == 0) {
            chosen.push_back(x.data()[at]);
            mask.mutable_data()[at] = x.data()[at];
        }
        ++at;
    });
    std::vector<std::int64_t> sizes(shape.sizes().begin(), shape.sizes().end());
    sizes[static_cast<std::size_t>(axis)] = begin < end ? (end - begin + step - 1) / step : 0;
    const Tensor<T> expected(Shape(std::span<const std::int64_t>(sizes)), chosen);

    Tape<T> tape;
    const Var<T> v = tape.variable(x), y = pollen::slice(v, axis, begin, end, step);
    BOOST_TEST((y.value() == expected), shape << " axis " << axis << ": " << begin << ", " << end << ", " << step);
    tape.backward(y, y.value());
    BOOST_TEST((v.grad() == mask), "gradient of " << shape << " axis " << axis);
}

Tensor<float> range(std::int64_t begin, std::int64_t end, std::int64_t step = 1) {
    Tape<float> tape;
    return pollen::slice(tape.variable(Tensor<float>::arange(10)), 0, begin, end, step).value();
}

}  // namespace

BOOST_AUTO_TEST_CASE(values) {
    for (const Shape& shape : {Shape{6}, Shape{6, 5}, Shape{2, 6, 3}, Shape{3, 2, 6}, Shape{6, 0}, Shape{60, 70}})
        for (int axis = 0; axis < shape.rank(); ++axis)
            for (std::int64_t begin = 0; begin <= std::min<std::int64_t>(shape[axis], 6); ++begin)
                for (std::int64_t end = begin; end <= std::min<std::int64_t>(shape[axis], 6); ++end)
                    for (const std::int64_t step : {1, 2, 3}) check<double>(shape, axis, begin, end, step);
    check<float>({300, 400}, 1, 10, 390, 1);
    check<float>({300, 400}, 1, 10, 390, 7);
    check<float>({300, 400}, 0, 1, 299, 2);
}

// NumPy's numpy.arange(10)[begin:end:step]
BOOST_AUTO_TEST_CASE(bounds) {
    constexpr std::int64_t huge = std::numeric_limits<std::int64_t>::max(),
                           lowest = std::numeric_limits<std::int64_t>::min();
    BOOST_TEST((range(-3, 10) == Tensor<float>{7, 8, 9}));
    BOOST_TEST((range(2, -5) == Tensor<float>{2, 3, 4}));
    BOOST_TEST((range(7, 1000) == Tensor<float>{7, 8, 9}));
    BOOST_TEST((range(-1000, 2) == Tensor<float>{0, 1}));
    BOOST_TEST((range(5, 2).shape() == Shape{0}));
    BOOST_TEST((range(20, 30).shape() == Shape{0}));
    BOOST_TEST((range(1, 10, 4) == Tensor<float>{1, 5, 9}));
    BOOST_TEST((range(1, 9, 4) == Tensor<float>{1, 5}));
    BOOST_TEST((range(lowest, huge, huge) == Tensor<float>{0}));
    BOOST_TEST((range(lowest, huge, 1) == Tensor<float>::arange(10)));
}

// Whole rows in one piece are not copied.
BOOST_AUTO_TEST_CASE(sharing) {
    Tape<float> tape;
    const Var<float> x = tape.variable(Tensor<float>::arange(12).reshaped({4, 3}));
    const Var<float> y = pollen::slice(x, 0, 1, 3);
    BOOST_TEST((y.value() == Tensor<float>{{3, 4, 5}, {6, 7, 8}}));
    BOOST_TEST(y.value().data() == x.value().data() + 3);
    BOOST_TEST(pollen::slice(x, 0, 2, 3, 5).value().data() == x.value().data() + 6);
}

BOOST_AUTO_TEST_CASE(gradients) {
    check_gradients([](auto x) { return pollen::slice(x, 1, 1, 3); }, normals(Shape{2, 4, 3}));
    check_gradients([](auto x) { return pollen::slice(x, 0, 0, 5, 2); }, normals(Shape{5}));
    check_gradients([](auto x) { return pollen::slice(x, 0, 0, 3) * pollen::slice(x, 0, 1, 4); }, normals(Shape{4, 2}));
    check_gradients([](auto x) { return pollen::slice(x, 0, 2, 2); }, normals(Shape{4, 2}));
    check_same_bits<float>([](auto x) { return pollen::slice(x, 1, 3, 390, 2); }, normals(Shape{301, 401}));
}

BOOST_AUTO_TEST_CASE(errors) {
    Tape<float> tape;
    const Var<float> x = tape.variable(Tensor<float>::zeros(Shape{2, 3}));
    BOOST_TEST(error_of<ValueError>([&] { pollen::slice(x, 0, 0, 2, 0); }) == "slice: step is 0; it must be 1 or more");
    BOOST_TEST(error_of<ValueError>([&] { pollen::slice(x, 0, 0, 2, -1); }) ==
               "slice: step is -1; it must be 1 or more");
    BOOST_TEST(error_of<ShapeError>([&] { pollen::slice(x, 2, 0, 2); }) ==
               "slice: axis 2 is out of range; a tensor of rank 2 has axes -2 to 1");
}

BOOST_AUTO_TEST_SUITE_END()
