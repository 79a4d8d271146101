#include "../support.hpp"

#include <limits>
#include <sstream>

using namespace pollen;
using namespace pollen::test;

BOOST_AUTO_TEST_SUITE(shape)

namespace {

constexpr std::int64_t huge = std::numeric_limits<std::int64_t>::max();

Shape of(const std::vector<std::int64_t>& sizes) { return Shape(std::span<const std::int64_t>(sizes)); }

template <class F>
std::string message(const F& f) {
    return error_of<ShapeError>(f);
}

}  // namespace

BOOST_AUTO_TEST_CASE(sizes) {
    const Shape scalar, matrix{2, 3}, empty{2, 0, 3}, largest{1, 2, 3, 4, 5, 6};
    BOOST_TEST(scalar.rank() == 0);
    BOOST_TEST(scalar.size() == 1);
    BOOST_TEST(matrix.rank() == 2);
    BOOST_TEST(matrix.size() == 6);
    BOOST_TEST(matrix[0] == 2);
    BOOST_TEST(matrix[1] == 3);
    BOOST_TEST(empty.size() == 0);
    BOOST_TEST(largest.size() == 720);
    BOOST_TEST(largest.sizes().size() == 6u);
    BOOST_TEST((Shape::nothing() == Shape{0}));
    BOOST_TEST((matrix == Shape{2, 3}));
    BOOST_TEST((matrix != Shape{3, 2}));
    BOOST_TEST((Shape{2} != Shape{2, 1}));
    BOOST_TEST((Shape{0, 2} != Shape{2, 0}));
    BOOST_TEST((Shape{} != Shape{1}));
}

BOOST_AUTO_TEST_CASE(text) {
    BOOST_TEST(to_string(Shape{}) == "()");
    BOOST_TEST(to_string(Shape{3}) == "(3)");
    std::ostringstream out;
    out << Shape{2, 0, 3};
    BOOST_TEST(out.str() == "(2, 0, 3)");
}

BOOST_AUTO_TEST_CASE(bad_sizes) {
    BOOST_TEST(message([] { of({2, -1}); }) == "shape: axis 1 of (2, -1) is negative; sizes are 0 or more");
    BOOST_TEST(message([] { of({0, -5}); }) == "shape: axis 1 of (0, -5) is negative; sizes are 0 or more");
    BOOST_TEST(message([] {
                   of({1, 1, 1, 1, 1, 1, 1});
               }) == "shape: (1, 1, 1, 1, 1, 1, 1) has 7 axes; at most 6 are supported");
    BOOST_TEST(message([] {
                   of({4294967296, 4294967296});
               }) == "shape: (4294967296, 4294967296) has too many elements; at most 2^59 are supported");
    BOOST_TEST(message([] { of({huge}); }) ==
               "shape: (9223372036854775807) has too many elements; at most 2^59 are supported");
    BOOST_TEST(message([] { of({huge, huge, huge}); }).substr(0, 42) == "shape: (9223372036854775807, 9223372036854");
    // 3 (2^62) = 2^62 mod 2^63 and the like must not slip through: the product is checked at each step.
    BOOST_TEST(message([] {
                   of({3, std::int64_t{1} << 62, 2});
               }) == "shape: (3, 4611686018427387904, 2) has too many elements; at most 2^59 are supported");
    BOOST_TEST(of({std::int64_t{1} << 59}).size() == std::int64_t{1} << 59);
    BOOST_TEST(message([] { of({(std::int64_t{1} << 59) + 1}); }) ==
               "shape: (576460752303423489) has too many elements; at most 2^59 are supported");
    // Nothing is too large where there is nothing.
    BOOST_TEST(of({huge, huge, 0}).size() == 0);
    BOOST_TEST(of({0, huge, huge}).size() == 0);
}

BOOST_AUTO_TEST_CASE(broadcasting) {
    const auto check = [](const Shape& a, const Shape& b, const Shape& expected) {
        BOOST_TEST((broadcast("op", a, b) == expected), a << " with " << b);
        BOOST_TEST((broadcast("op", b, a) == expected), b << " with " << a);
        BOOST_TEST(broadcasts_to(a, expected));
        BOOST_TEST(broadcasts_to(b, expected));
    };
    check({}, {}, {});
    check({}, {2, 3}, {2, 3});
    check({3}, {2, 3}, {2, 3});
    check({2, 1}, {3}, {2, 3});
    check({2, 1, 4}, {3, 1}, {2, 3, 4});
    check({1}, {0}, {0});
    check({0, 3}, {3}, {0, 3});
    check({0, 1}, {1, 3}, {0, 3});
    check({1, 1, 1, 1, 1, 7}, {2, 1, 1}, {1, 1, 1, 2, 1, 7});

    BOOST_TEST(!broadcasts_to(Shape{2}, Shape{3}));
    BOOST_TEST(!broadcasts_to(Shape{2, 3}, Shape{3}));
    BOOST_TEST(!broadcasts_to(Shape{1, 3}, Shape{3}));
    BOOST_TEST(!broadcasts_to(Shape{2}, Shape{1}));
    BOOST_TEST(!broadcasts_to(Shape{2}, Shape{0}));

    BOOST_TEST(message([] {
                   broadcast("add", Shape{2, 3}, Shape{4, 3});
               }) == "add: shapes (2, 3) and (4, 3) do not broadcast: axis 0 is 2 and 4; sizes must be equal or 1");
    BOOST_TEST(message([] {
                   broadcast("mul", Shape{5, 2, 3}, Shape{4});
               }) == "mul: shapes (5, 2, 3) and (4) do not broadcast: axis 2 is 3 and 4; sizes must be equal or 1");
    BOOST_TEST(message([] { broadcast("add", Shape{0}, Shape{2}); }) ==
               "add: shapes (0) and (2) do not broadcast: axis 0 is 0 and 2; sizes must be equal or 1");
    BOOST_TEST(message([] {
                   broadcast("add", Shape{1 << 30, 1}, Shape{1, 1 << 30});
               }) == "shape: (1073741824, 1073741824) has too many elements; at most 2^59 are supported");
}

BOOST_AUTO_TEST_CASE(one_axis) {
    BOOST_TEST(normalize_axis("op", 0, 3) == 0);
    BOOST_TEST(normalize_axis("op", -1, 3) == 2);
    BOOST_TEST(normalize_axis("op", -3, 3) == 0);
    BOOST_TEST(message([] { normalize_axis("sum", 3, 3); }) ==
               "sum: axis 3 is out of range; a tensor of rank 3 has axes -3 to 2");
    BOOST_TEST(message([] { normalize_axis("sum", -4, 3); }) ==
               "sum: axis -4 is out of range; a tensor of rank 3 has axes -3 to 2");
    BOOST_TEST(message([] { normalize_axis("sum", 0, 0); }) == "sum: axis 0 is out of range; a scalar has no axes");
    BOOST_TEST(message([] { normalize_axis("sum", std::numeric_limits<int>::min(), 2); }) ==
               "sum: axis -2147483648 is out of range; a tensor of rank 2 has axes -2 to 1");
}

BOOST_AUTO_TEST_CASE(axes) {
    BOOST_TEST(Axes().all());
    BOOST_TEST(Axes().mask("op", 3) == 7u);
    BOOST_TEST(Axes().mask("op", 0) == 0u);
    BOOST_TEST(Axes().mask("op", 6) == 63u);
    BOOST_TEST(!Axes(1).all());
    BOOST_TEST(Axes(1).mask("op", 3) == 2u);
    BOOST_TEST(Axes(-1).mask("op", 3) == 4u);
    BOOST_TEST(Axes({2, 0}).mask("op", 3) == 5u);
    BOOST_TEST(Axes({0, -1}).mask("op", 2) == 3u);
    BOOST_TEST(Axes(std::initializer_list<int>{}).mask("op", 3) == 0u);
    BOOST_TEST(message([] { Axes(2).mask("sum", 2); }) ==
               "sum: axis 2 is out of range; a tensor of rank 2 has axes -2 to 1");
    BOOST_TEST(message([] { Axes({1, -1}).mask("max", 2); }) == "max: axis 1 is named twice");
    BOOST_TEST(message([] { Axes{0, 1, 2, 3, 4, 5, 6}; }) == "axes: 7 axes given; at most 6 are supported");
}

BOOST_AUTO_TEST_CASE(reduced) {
    const Shape shape{2, 3, 4};
    BOOST_TEST((reduced_shape(shape, 0, false) == shape));
    BOOST_TEST((reduced_shape(shape, 7, false) == Shape{}));
    BOOST_TEST((reduced_shape(shape, 7, true) == Shape{1, 1, 1}));
    BOOST_TEST((reduced_shape(shape, 2, false) == Shape{2, 4}));
    BOOST_TEST((reduced_shape(shape, 5, true) == Shape{1, 3, 1}));
    BOOST_TEST((reduced_shape(Shape{0, 3}, 1, false) == Shape{3}));
    BOOST_TEST((reduced_shape(Shape{0, 3}, 2, true) == Shape{0, 1}));
    BOOST_TEST((reduced_shape(Shape{}, 0, true) == Shape{}));
}

BOOST_AUTO_TEST_CASE(reshape) {
    const auto to = [](const Shape& from, const std::vector<std::int64_t>& sizes) {
        return resolve_reshape("reshape", from, sizes);
    };
    BOOST_TEST((to({2, 6}, {3, 4}) == Shape{3, 4}));
    BOOST_TEST((to({2, 6}, {3, -1}) == Shape{3, 4}));
    BOOST_TEST((to({2, 6}, {-1}) == Shape{12}));
    BOOST_TEST((to({2, 6}, {-1, 12, 1}) == Shape{1, 12, 1}));
    BOOST_TEST((to({}, {1, 1}) == Shape{1, 1}));
    BOOST_TEST((to({1}, {}) == Shape{}));
    BOOST_TEST((to({0, 3}, {3, 0}) == Shape{3, 0}));
    BOOST_TEST((to({0, 3}, {-1, 5}) == Shape{0, 5}));

    const auto error = [&](const Shape& from, const std::vector<std::int64_t>& sizes) {
        return message([&] { to(from, sizes); });
    };
    BOOST_TEST(error({2, 3}, {4}) == "reshape: (2, 3) to (4): 6 elements do not fill 4");
    BOOST_TEST(error({2, 3}, {}) == "reshape: (2, 3) to (): 6 elements do not fill 1");
    BOOST_TEST(error({2, 3}, {4, -1}) == "reshape: (2, 3) to (4, -1): 6 elements cannot be cut into parts of 4");
    BOOST_TEST(error({2, 3}, {0, -1}) == "reshape: (2, 3) to (0, -1): 6 elements cannot be cut into parts of 0");
    BOOST_TEST(error({0}, {0, -1}) == "reshape: (0) to (0, -1): 0 elements cannot be cut into parts of 0");
    BOOST_TEST(error({2, 3}, {-1, -1}) == "reshape: (2, 3) to (-1, -1): only one size may be -1");
    BOOST_TEST(error({2, 3}, {-2, 3}) == "shape: axis 0 of (-2, 3) is negative; sizes are 0 or more");
    BOOST_TEST(error({2, 3}, {1, 1, 1, 1, 1, 1, 6}) ==
               "reshape: (2, 3) to (1, 1, 1, 1, 1, 1, 6): at most 6 axes are supported");
    BOOST_TEST(error({2, 3}, {huge, 4}) ==
               "shape: (9223372036854775807, 4) has too many elements; at most 2^59 are supported");
    BOOST_TEST(error({2, 3}, {-1, huge, 4}) ==
               "shape: (1, 9223372036854775807, 4) has too many elements; at most 2^59 are supported");
}

BOOST_AUTO_TEST_SUITE_END()
