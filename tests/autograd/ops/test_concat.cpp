#include "../../naive.hpp"
#include "same_bits.hpp"

using namespace pollen;
using namespace pollen::test;

BOOST_AUTO_TEST_SUITE(concat)

namespace {

// Parts of the given sizes along an axis of a larger tensor, put together again.
template <class T>
void check(const Shape& shape, int axis, const std::vector<std::int64_t>& sizes) {
    const Tensor<T> whole = cast<T>(normals(shape));
    Tape<T> tape;
    std::vector<Var<T>> parts;
    std::vector<Tensor<T>> pieces;
    std::int64_t begin = 0;
    for (const std::int64_t size : sizes) {
        std::vector<std::int64_t> part_sizes(shape.sizes().begin(), shape.sizes().end());
        part_sizes[static_cast<std::size_t>(axis)] = size;
        Tensor<T> piece = Tensor<T>::zeros(Shape(std::span<const std::int64_t>(part_sizes)));
        T* out = piece.mutable_data();
        for_each_index(piece.shape(), [&](Index index) {
            index[static_cast<std::size_t>(axis)] += begin;
            *out++ = whole.data()[place(shape, index, shape.rank())];
        });
        pieces.push_back(piece);
        parts.push_back(tape.variable(piece));
        begin += size;
    }
    const Var<T> y = pollen::concat(std::span<const Var<T>>(parts), axis);
    BOOST_TEST((y.value() == whole), shape << ", axis " << axis);
    tape.backward(y, whole);
    for (std::size_t k = 0; k < parts.size(); ++k) BOOST_TEST((parts[k].grad() == pieces[k]), shape << ", part " << k);
}

}  // namespace

BOOST_AUTO_TEST_CASE(values) {
    for (const std::vector<std::int64_t>& sizes :
         {std::vector<std::int64_t>{6}, {1, 5}, {2, 3, 1}, {0, 6, 0}, {1, 1, 1, 1, 1, 1}}) {
        check<float>({6}, 0, sizes);
        for (const int axis : {0, 1, 2}) {
            Shape shape = axis == 0 ? Shape{6, 3, 4} : axis == 1 ? Shape{3, 6, 4} : Shape{3, 4, 6};
            check<float>(shape, axis, sizes);
            check<double>(shape, axis, sizes);
        }
        check<double>({0, 6}, 1, sizes);
        check<double>({6, 0}, 0, sizes);
    }
    check<float>({300, 500}, 1, {100, 1, 399});
    check<float>({500, 300}, 0, {100, 1, 399});
    Tape<float> tape;
    const Var<float> x = tape.variable(Tensor<float>{1, 2}), y = tape.variable(Tensor<float>{3});
    BOOST_TEST((pollen::concat({x, y, x}).value() == Tensor<float>{1, 2, 3, 1, 2}));
    BOOST_TEST((pollen::concat({x, y}, -1).value() == Tensor<float>{1, 2, 3}));
}

BOOST_AUTO_TEST_CASE(gradients) {
    check_gradients(
        [](auto x, auto y) {
            return pollen::concat({x, y}, 0);
        },
        normals(Shape{2, 3}, 1), normals(Shape{1, 3}, 2));
    check_gradients(
        [](auto x, auto y) {
            return pollen::concat({x, y, x}, 1);
        },
        normals(Shape{2, 3}, 1), normals(Shape{2, 1}, 2));
    check_gradients([](auto x) { return pollen::concat({x, x * x}, 0); }, normals(Shape{2}));
    check_gradients([](auto x) { return pollen::concat({x}, 0); }, normals(Shape{0}));
}

BOOST_AUTO_TEST_CASE(constant_part) {
    Tape<float> tape;
    const Var<float> x = tape.variable(Tensor<float>{1, 2}), c = tape.constant(Tensor<float>{3});
    const Var<float> y = pollen::concat({c, x});
    tape.backward(y, Tensor<float>{4, 5, 6});
    BOOST_TEST((x.grad() == Tensor<float>{5, 6}));
}

BOOST_AUTO_TEST_CASE(errors) {
    Tape<float> tape;
    const auto part = [&](const Shape& shape) { return tape.variable(Tensor<float>::zeros(shape)); };
    BOOST_TEST(error_of<ShapeError>([&] { pollen::concat(std::span<const Var<float>>(), 0); }) ==
               "concat: no parts are given; at least one is needed");
    BOOST_TEST(error_of<ShapeError>([&] {
                   pollen::concat({part({2, 3}), part({1, 3}), part({2, 4})}, 0);
               }) == "concat: part 2 has shape (2, 4), part 0 has (2, 3); all sizes but those of axis 0 must be equal");
    BOOST_TEST(error_of<ShapeError>([&] {
                   pollen::concat({part({2, 3}), part({2})}, -1);
               }) == "concat: part 1 has shape (2), part 0 has (2, 3); all sizes but those of axis 1 must be equal");
    // Nothing, but of a size that 64 bits cannot count.
    const auto half = part({0, std::int64_t{1} << 62});
    BOOST_TEST(error_of<ShapeError>([&] {
                   pollen::concat({half, half}, 1);
               }) == "concat: the sizes of axis 1 of parts 0 to 1 add up to more than 2^63 - 1");
    BOOST_TEST(error_of<ShapeError>([&] { pollen::concat({part({2})}, 1); }) ==
               "concat: axis 1 is out of range; a tensor of rank 1 has axes -1 to 0");
    BOOST_TEST(error_of<ShapeError>([&] { pollen::concat({part({})}, 0); }) ==
               "concat: axis 0 is out of range; a scalar has no axes");
    Tape<float> other;
    BOOST_TEST(error_of<TapeError>([&] {
                   pollen::concat({part({2}), other.variable(Tensor<float>{1})}, 0);
               }) == "concat: the inputs are on different tapes; an op works on one tape");
}

BOOST_AUTO_TEST_SUITE_END()
