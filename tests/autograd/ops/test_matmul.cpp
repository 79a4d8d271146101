#include "same_bits.hpp"

using namespace pollen;
using namespace pollen::test;

BOOST_AUTO_TEST_SUITE(matmul)

namespace {

const auto product = [](auto x, auto y) { return pollen::matmul(x, y); };

const auto with = [](MatmulOptions options) {
    return [options](auto x, auto y) { return pollen::matmul(x, y, options); };
};

// A stack (b, n, m) of matrices, transposed.
Tensor<double> transposed(const Tensor<double>& a) {
    const std::int64_t count = a.shape()[0], rows = a.shape()[1], columns = a.shape()[2];
    Tensor<double> t = Tensor<double>::zeros(Shape{count, columns, rows});
    for (std::int64_t k = 0; k < count; ++k)
        for (std::int64_t i = 0; i < rows; ++i)
            for (std::int64_t j = 0; j < columns; ++j) t.mutable_at(k, j, i) = a(k, i, j);
    return t;
}

// The plain sums, for stacks (b, n, k) by (b, k, m) where b may be 1 on either side.
Tensor<double> reference(const Tensor<double>& x, const Tensor<double>& y) {
    const std::int64_t n = x.shape()[1], inner = x.shape()[2], m = y.shape()[2];
    const std::int64_t bx = x.shape()[0], by = y.shape()[0], count = std::max(bx, by);
    Tensor<double> z = Tensor<double>::zeros(Shape{count, n, m});
    for (std::int64_t b = 0; b < count; ++b)
        for (std::int64_t i = 0; i < n; ++i)
            for (std::int64_t j = 0; j < m; ++j) {
                double sum = 0;
                for (std::int64_t k = 0; k < inner; ++k) sum += x(bx == 1 ? 0 : b, i, k) * y(by == 1 ? 0 : b, k, j);
                z.mutable_at(b, i, j) = sum;
            }
    return z;
}

template <class T>
void check_product(std::int64_t bx, std::int64_t by, std::int64_t n, std::int64_t k, std::int64_t m) {
    const double tolerance = 20 * static_cast<double>(std::numeric_limits<T>::epsilon());
    const Tensor<double> x = cast<double>(cast<T>(normals(Shape{bx, n, k}, 1)));
    const Tensor<double> y = cast<double>(cast<T>(normals(Shape{by, k, m}, 2)));
    const Tensor<double> z = reference(x, y), xt = transposed(x), yt = transposed(y);
    check_near(value<T>(product, x, y), z, tolerance);
    check_near(value<T>(with({.transpose_x = true}), xt, y), z, tolerance);
    check_near(value<T>(with({.transpose_y = true}), x, yt), z, tolerance);
    check_near(value<T>(with({.transpose_x = true, .transpose_y = true}), xt, yt), z, tolerance);
}

std::string shape_error(const Shape& x, const Shape& y, MatmulOptions options = {}) {
    return error_of<ShapeError>([&] { value<double>(with(options), normals(x), normals(y)); });
}

}  // namespace

BOOST_AUTO_TEST_CASE(values) {
    for (const std::int64_t n : {1, 2, 5, 17})
        for (const std::int64_t k : {1, 3, 16, 33})
            for (const std::int64_t m : {1, 4, 9, 40}) {
                check_product<float>(1, 1, n, k, m);
                check_product<double>(1, 1, n, k, m);
            }
    check_product<float>(1, 1, 130, 200, 150);
    check_product<double>(1, 1, 130, 200, 150);
}

BOOST_AUTO_TEST_CASE(stacks) {
    check_product<float>(3, 3, 4, 5, 6);
    check_product<double>(3, 1, 4, 5, 6);
    check_product<double>(1, 3, 4, 5, 6);
    check_product<double>(40, 40, 33, 20, 17);
}

// numpy.matmul(numpy.arange(12.).reshape(2, 1, 2, 3), numpy.arange(12.).reshape(2, 3, 2)) and so on
BOOST_AUTO_TEST_CASE(broadcast_as_in_numpy) {
    const Tensor<double> x = Tensor<double>::arange(12).reshaped({2, 1, 2, 3});
    const Tensor<double> y = Tensor<double>::arange(12).reshaped({2, 3, 2});
    const Tensor<double> expected(Shape{2, 2, 2, 2},
                                  {10, 13, 28, 40, 28, 31, 100, 112, 46, 67, 64, 94, 172, 193, 244, 274});
    BOOST_TEST(value<double>(product, x, y) == expected);
    BOOST_TEST(value<double>(product, Tensor<double>{1, 2, 3}, y) == (Tensor<double>{{16, 22}, {52, 58}}));
    BOOST_TEST(value<double>(product, x, Tensor<double>{1, 2, 3}) == Tensor<double>(Shape{2, 1, 2}, {8, 26, 44, 62}));
    BOOST_TEST(value<double>(product, Tensor<double>{1, 2, 3}, Tensor<double>{4, 5, 6}) == Tensor<double>::scalar(32));
    BOOST_TEST(value<double>(product, Tensor<double>{1, 2}, Tensor<double>{{1, 2}, {3, 4}}) == (Tensor<double>{7, 10}));
    BOOST_TEST(value<double>(product, Tensor<double>{{1, 2}, {3, 4}}, Tensor<double>{1, 2}) == (Tensor<double>{5, 11}));
}

BOOST_AUTO_TEST_CASE(gradients) {
    for (const bool tx : {false, true})
        for (const bool ty : {false, true}) {
            const auto f = with({.transpose_x = tx, .transpose_y = ty});
            const auto matrix = [](bool t, std::int64_t r, std::int64_t c) { return t ? Shape{c, r} : Shape{r, c}; };
            const auto stack = [](bool t, std::int64_t b, std::int64_t r, std::int64_t c) {
                return t ? Shape{b, c, r} : Shape{b, r, c};
            };
            check_gradients(f, normals(matrix(tx, 3, 4), 1), normals(matrix(ty, 4, 5), 2));
            check_gradients(f, normals(stack(tx, 3, 2, 4), 1), normals(stack(ty, 3, 4, 5), 2));
            check_gradients(f, normals(stack(tx, 3, 2, 4), 1), normals(matrix(ty, 4, 5), 2));
            check_gradients(f, normals(matrix(tx, 2, 4), 1), normals(stack(ty, 3, 4, 5), 2));
        }
    check_gradients(product, normals(Shape{2, 1, 2, 3}, 1), normals(Shape{4, 3, 2}, 2));
    check_gradients(product, normals(Shape{4, 1, 3}, 1), normals(Shape{2, 1, 3, 2}, 2));
    check_gradients(product, normals(Shape{3}, 1), normals(Shape{3, 2}, 2));
    check_gradients(product, normals(Shape{3}, 1), normals(Shape{2, 3, 2}, 2));
    check_gradients(product, normals(Shape{2, 3}, 1), normals(Shape{3}, 2));
    check_gradients(product, normals(Shape{2, 2, 3}, 1), normals(Shape{3}, 2));
    check_gradients(product, normals(Shape{3}, 1), normals(Shape{3}, 2));
}

BOOST_AUTO_TEST_CASE(one_input_on_both_sides) {
    const auto square = [](auto x) { return pollen::matmul(x, x); };
    check_gradients(square, normals(Shape{3, 3}));
    check_gradients([](auto x) { return pollen::matmul(x, x, {.transpose_y = true}); }, normals(Shape{2, 3, 4}));
}

BOOST_AUTO_TEST_CASE(empty) {
    const auto zeros = [](const Shape& shape) { return Tensor<double>::zeros(shape); };
    for (const auto& [x, y] : std::vector<std::pair<Shape, Shape>>{{{0, 3}, {3, 2}},
                                                                   {{2, 0}, {0, 4}},
                                                                   {{2, 3}, {3, 0}},
                                                                   {{0, 2, 3}, {3, 4}},
                                                                   {{1, 2, 3}, {0, 3, 4}},
                                                                   {{0, 2, 3}, {0, 3, 4}},
                                                                   {{0}, {0}},
                                                                   {{3, 2, 0}, {3, 0, 4}}}) {
        const auto all = value_and_gradients<double>(product, zeros(x), zeros(y));
        for (const Tensor<double>& tensor : all)
            for (const double number : tensor) BOOST_TEST(number == 0);
    }
    BOOST_TEST(to_string(value<double>(product, zeros({2, 0}), zeros({0, 4})).shape()) == "(2, 4)");
    BOOST_TEST(to_string(value<double>(product, zeros({0, 2, 3}), zeros({3, 4})).shape()) == "(0, 2, 4)");
}

BOOST_AUTO_TEST_CASE(not_a_number_and_infinity_go_through) {
    const double nan = std::nan(""), inf = std::numeric_limits<double>::infinity();
    const Tensor<double> z = value<double>(product, Tensor<double>{{nan, 0}, {1, inf}}, Tensor<double>{{0, 1}, {0, 1}});
    BOOST_TEST(std::isnan(z(0, 0)));
    BOOST_TEST(std::isnan(z(0, 1)));
    BOOST_TEST(std::isnan(z(1, 0)));
    BOOST_TEST(z(1, 1) == inf);
}

BOOST_AUTO_TEST_CASE(same_bits_on_any_number_of_threads) {
    check_same_bits<float>(product, normals(Shape{300, 400}, 1), normals(Shape{400, 260}, 2));
    check_same_bits<double>(with({.transpose_y = true}), normals(Shape{300, 400}, 1), normals(Shape{260, 400}, 2));
    check_same_bits<float>(product, normals(Shape{20, 100, 90}, 1), normals(Shape{20, 90, 80}, 2));
    check_same_bits<float>(product, normals(Shape{100, 90}, 1), normals(Shape{20, 90, 80}, 2));
}

BOOST_AUTO_TEST_CASE(errors) {
    BOOST_TEST(shape_error({32, 784}, {512, 10}) ==
               "matmul: inner sizes differ: x (32, 784) by y (512, 10); y needs 784 rows");
    BOOST_TEST(shape_error({32, 784}, {10, 512}, {.transpose_y = true}) ==
               "matmul: inner sizes differ: x (32, 784) by the transpose of y (10, 512); y needs 784 columns");
    BOOST_TEST(shape_error({784, 32}, {512, 10}, {.transpose_x = true}) ==
               "matmul: inner sizes differ: the transpose of x (784, 32) by y (512, 10); y needs 784 rows");
    BOOST_TEST(shape_error({32, 784}, {10}) ==
               "matmul: inner sizes differ: x (32, 784) by y (10); y needs 784 elements");
    BOOST_TEST(shape_error({}, {3}) == "matmul: x is a scalar; it needs at least one axis");
    BOOST_TEST(shape_error({3}, {}) == "matmul: y is a scalar; it needs at least one axis");
    BOOST_TEST(shape_error({3}, {3}, {.transpose_x = true}) ==
               "matmul: x (3) is a vector; only a matrix can be transposed");
    BOOST_TEST(shape_error({2, 3}, {3}, {.transpose_y = true}) ==
               "matmul: y (3) is a vector; only a matrix can be transposed");
    BOOST_TEST(
        shape_error({2, 4, 5}, {3, 5, 6}) ==
        "matmul: stacks of matrices do not broadcast: x (2, 4, 5) by y (3, 5, 6); sizes before the last two must be "
        "equal or 1");
}

BOOST_AUTO_TEST_SUITE_END()
