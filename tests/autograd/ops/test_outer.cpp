#include "same_bits.hpp"

using namespace pollen;
using namespace pollen::test;

BOOST_AUTO_TEST_SUITE(outer)

namespace {

const auto product = [](auto x, auto y) { return pollen::outer(x, y); };

}  // namespace

BOOST_AUTO_TEST_CASE(values) {
    for (const std::int64_t n : {1, 2, 9, 300})
        for (const std::int64_t m : {1, 5, 8, 17, 200}) {
            const Tensor<double> x = normals(Shape{n}, 1), y = normals(Shape{m}, 2);
            Tensor<double> expected = Tensor<double>::zeros(Shape{n, m});
            for (std::int64_t i = 0; i < n; ++i)
                for (std::int64_t j = 0; j < m; ++j) expected.mutable_data()[i * m + j] = x(i) * y(j);
            check_close(value<double>(product, x, y), expected, 0);
            check_close(value<float>(product, x, y), expected, 3);
        }
}

BOOST_AUTO_TEST_CASE(gradients) {
    check_gradients(product, normals(Shape{3}, 1), normals(Shape{10}, 2));
    check_gradients(product, normals(Shape{1}, 1), normals(Shape{1}, 2));
    check_gradients([](auto x) { return pollen::outer(x, x); }, normals(Shape{5}));
    check_same_bits<float>(product, normals(Shape{400}, 1), normals(Shape{500}, 2));
}

BOOST_AUTO_TEST_CASE(empty) {
    const auto all = value_and_gradients<double>(product, normals(Shape{0}), normals(Shape{3}));
    BOOST_TEST(to_string(all[0].shape()) == "(0, 3)");
    BOOST_TEST(all[2] == Tensor<double>::zeros(Shape{3}));
}

BOOST_AUTO_TEST_CASE(errors) {
    const auto error = [](const Shape& x, const Shape& y) {
        return error_of<ShapeError>([&] { value<double>(product, normals(x), normals(y)); });
    };
    BOOST_TEST(error({3}, {4, 2}) == "outer: x (3) by y (4, 2); two vectors are needed");
    BOOST_TEST(error({}, {3}) == "outer: x () by y (3); two vectors are needed");
}

BOOST_AUTO_TEST_SUITE_END()
