#include "pool_checks.hpp"

using namespace pollen;
using namespace pollen::test;

BOOST_AUTO_TEST_SUITE(max_pool2d)

namespace {

const auto with = [](Pool2dOptions options) { return [options](auto x) { return pollen::max_pool2d(x, options); }; };

// The largest number of each window, by the definition. The numbers are all different.
void check_values(const Shape& shape, const Pool2dOptions& o) {
    const Pair stride = {o.stride[0] ? o.stride[0] : o.size[0], o.stride[1] ? o.stride[1] : o.size[1]};
    const Tensor<double> x = cast<double>(cast<float>(normals(shape)));
    const Shape out{shape[0], shape[1], (shape[2] + 2 * o.padding[0] - o.size[0]) / stride[0] + 1,
                    (shape[3] + 2 * o.padding[1] - o.size[1]) / stride[1] + 1};
    const Tensor<double> g = cast<double>(cast<float>(normals(out, 11)));
    Tensor<double> y = Tensor<double>::zeros(out), dx = Tensor<double>::zeros(shape);
    for (std::int64_t p = 0; p < shape[0] * shape[1]; ++p)
        for (std::int64_t i = 0; i < out[2]; ++i)
            for (std::int64_t j = 0; j < out[3]; ++j) {
                std::int64_t at = -1;
                for (std::int64_t u = 0; u < o.size[0]; ++u)
                    for (std::int64_t v = 0; v < o.size[1]; ++v) {
                        const std::int64_t row = i * stride[0] + u - o.padding[0],
                                           column = j * stride[1] + v - o.padding[1];
                        if (row < 0 || row >= shape[2] || column < 0 || column >= shape[3]) continue;
                        const std::int64_t here = (p * shape[2] + row) * shape[3] + column;
                        if (at < 0 || x.data()[here] > x.data()[at]) at = here;
                    }
                const std::int64_t window = (p * out[2] + i) * out[3] + j;
                y.mutable_data()[window] = x.data()[at];
                dx.mutable_data()[at] += g.data()[window];
            }
    const auto got = value_and_gradients<double>(with(o), x);
    BOOST_TEST(got[0] == y);
    check_near(got[1], dx, 1e-6);  // the seed of value_and_gradients has more digits than g
    const auto got_float = value_and_gradients<float>(with(o), x);
    BOOST_TEST(got_float[0] == cast<float>(y));
    check_near(got_float[1], dx, 1e-6);
}

template <class E>
std::string error(const Shape& x, const Pool2dOptions& options = {}) {
    return pool_error<E>(with(options), x);
}

}  // namespace

BOOST_AUTO_TEST_CASE(values_and_gradients) { check_windows(check_values); }

// torch.nn.functional.max_pool2d of PyTorch 1.13
BOOST_AUTO_TEST_CASE(as_in_pytorch) {
    const Tensor<double> x = whole_numbers(Shape{1, 2, 5, 6}, 17, 23);
    const Tensor<double> expected(Shape{1, 2, 3, 7},
                                  {-1, 6,  10, 10, 11, 11, 5, 9, 9, 10, 10, 8, 8, 2, 6,  6,  7,  11, 11, 5, -1,
                                   3,  10, 10, 8,  8,  9,  9, 3, 7, 11, 11, 8, 6, 6, 10, 10, 11, 11, 9,  9, 3});
    BOOST_TEST(value<double>(with({.size = {3, 2}, .stride = {2, 1}, .padding = {1, 1}}), x) == expected);
}

BOOST_AUTO_TEST_CASE(the_first_of_equals_gets_the_gradient) {
    const auto halves = value_and_gradients<double>(with({}), Tensor<double>::ones(Shape{1, 1, 4, 4}));
    const auto general = value_and_gradients<double>(with({.size = {2, 2}, .stride = {2, 2}, .padding = {1, 1}}),
                                                     Tensor<double>::ones(Shape{1, 1, 2, 2}));
    for (std::int64_t i = 0; i < 4; ++i)
        for (std::int64_t j = 0; j < 4; ++j) BOOST_TEST((halves[1](0, 0, i, j) != 0) == (i % 2 == 0 && j % 2 == 0));
    for (const double number : general[1]) BOOST_TEST(number != 0);  // every window holds one of the four
}

// As in PyTorch: NaN is larger than anything, and the last one in a window counts.
BOOST_AUTO_TEST_CASE(not_a_number_and_infinity) {
    const double nan = std::nan(""), inf = std::numeric_limits<double>::infinity();
    const Tensor<double> x(Shape{1, 1, 2, 8}, {1, nan, 3, 2, -inf, -inf, inf, 1, 4, 5, nan, nan, -inf, -inf, 2, nan});
    for (const Pool2dOptions options : {Pool2dOptions{}, Pool2dOptions{.size = {2, 2}, .stride = {1, 2}}}) {
        const auto all = value_and_gradients<double>(with(options), x);
        BOOST_TEST(std::isnan(all[0](0, 0, 0, 0)));
        BOOST_TEST(std::isnan(all[0](0, 0, 0, 1)));
        BOOST_TEST(all[0](0, 0, 0, 2) == -inf);
        BOOST_TEST(std::isnan(all[0](0, 0, 0, 3)));
        const std::vector<double> expected{0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1};
        for (std::size_t i = 0; i < 16; ++i) BOOST_TEST((all[1].data()[i] != 0) == (expected[i] != 0));
    }
}

// Whole numbers, no two in a window equal: differences do not step over a kink.
BOOST_AUTO_TEST_CASE(gradients) {
    check_gradients(with({}), whole_numbers(Shape{2, 2, 5, 6}, 17, 61));
    check_gradients(with({.size = {3, 2}, .stride = {1, 2}, .padding = {1, 1}}),
                    whole_numbers(Shape{1, 2, 5, 6}, 17, 61));
}

BOOST_AUTO_TEST_CASE(empty) {
    const auto all = value_and_gradients<double>(with({}), normals(Shape{0, 3, 4, 4}));
    BOOST_TEST(to_string(all[0].shape()) == "(0, 3, 2, 2)");
    BOOST_TEST(to_string(value<float>(with({}), normals(Shape{2, 0, 4, 5})).shape()) == "(2, 0, 2, 2)");
}

BOOST_AUTO_TEST_CASE(same_bits_on_any_number_of_threads) {
    check_same_bits<float>(with({}), normals(Shape{16, 16, 24, 24}));
    check_same_bits<float>(with({.size = {3, 3}, .stride = {2, 2}, .padding = {1, 1}}), normals(Shape{16, 16, 24, 24}));
}

BOOST_AUTO_TEST_CASE(errors) {
    BOOST_TEST(error<ShapeError>({4, 4}) ==
               "max_pool2d: x (4, 4) has 2 axes; images are (batch, channels, height, width)");
    BOOST_TEST(error<ValueError>({1, 1, 4, 4}, {.size = {0, 2}}) ==
               "max_pool2d: size (0, 2); both numbers must be from 1 to 2147483647");
    BOOST_TEST(error<ValueError>({1, 1, 4, 4}, {.stride = {-1, 2}}) ==
               "max_pool2d: stride (-1, 2); both numbers must be from 0 to 2147483647");
    BOOST_TEST(error<ValueError>({1, 1, 4, 4}, {.padding = {-1, 0}}) ==
               "max_pool2d: padding (-1, 0); both numbers must be from 0 to 2147483647");
    BOOST_TEST(error<ValueError>({1, 1, 4, 4}, {.size = {3, 3}, .padding = {2, 0}}) ==
               "max_pool2d: padding (2, 0) is more than half of size (3, 3)");
    BOOST_TEST(error<ShapeError>({1, 1, 4, 4}, {.size = {3, 7}, .padding = {0, 1}}) ==
               "max_pool2d: size (3, 7) is larger than x (1, 1, 4, 4) with padding (0, 1), which has (4, 6) pixels");
    BOOST_TEST(error<ShapeError>({0, 1, 4294967296, 4}) ==
               "max_pool2d: x (0, 1, 4294967296, 4) is too large; height and width go up to 2147483647");
}

BOOST_AUTO_TEST_SUITE_END()
