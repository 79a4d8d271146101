#include "same_bits.hpp"

using namespace pollen;
using namespace pollen::test;

BOOST_AUTO_TEST_SUITE(dot)

namespace {

const auto product = [](auto x, auto y) { return pollen::dot(x, y); };

}  // namespace

BOOST_AUTO_TEST_CASE(values) {
    for (const std::int64_t n : {1, 2, 7, 8, 9, 31, 40, 50000}) {
        const Tensor<double> x = uniforms(Shape{n}, 0.5, 1.5, 1), y = uniforms(Shape{n}, 0.5, 1.5, 2);
        long double sum = 0;
        for (std::int64_t i = 0; i < n; ++i) sum += static_cast<long double>(x(i)) * static_cast<long double>(y(i));
        const Tensor<double> expected = Tensor<double>::scalar(static_cast<double>(sum));
        check_near(value<double>(product, x, y), expected, 1e-15);
        check_near(value<float>(product, x, y), expected, 3e-7);
    }
}

BOOST_AUTO_TEST_CASE(gradients) {
    check_gradients(product, normals(Shape{9}, 1), normals(Shape{9}, 2));
    check_gradients(product, normals(Shape{1}, 1), normals(Shape{1}, 2));
    check_gradients([](auto x) { return pollen::dot(x, x); }, normals(Shape{5}));
    check_same_bits<float>(product, normals(Shape{100000}, 1), normals(Shape{100000}, 2));
}

BOOST_AUTO_TEST_CASE(empty) {
    const auto all = value_and_gradients<double>(product, normals(Shape{0}), normals(Shape{0}));
    BOOST_TEST(all[0].item() == 0);
    BOOST_TEST(all[1].size() == 0);
}

BOOST_AUTO_TEST_CASE(not_a_number_goes_through) {
    BOOST_TEST(std::isnan(value<double>(product, Tensor<double>{1, std::nan("")}, Tensor<double>{1, 0}).item()));
}

BOOST_AUTO_TEST_CASE(errors) {
    const auto error = [](const Shape& x, const Shape& y) {
        return error_of<ShapeError>([&] { value<double>(product, normals(x), normals(y)); });
    };
    BOOST_TEST(error({3}, {4}) == "dot: x (3) by y (4); two vectors of the same length are needed");
    BOOST_TEST(error({2, 3}, {2, 3}) == "dot: x (2, 3) by y (2, 3); two vectors of the same length are needed");
    BOOST_TEST(error({}, {}) == "dot: x () by y (); two vectors of the same length are needed");
}

BOOST_AUTO_TEST_SUITE_END()
