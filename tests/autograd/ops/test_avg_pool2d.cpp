#include "pool_checks.hpp"

using namespace pollen;
using namespace pollen::test;

BOOST_AUTO_TEST_SUITE(avg_pool2d)

namespace {

const auto with = [](Pool2dOptions options) { return [options](auto x) { return pollen::avg_pool2d(x, options); }; };

// A mean over windows is a convolution of each channel with equal weights.
void check_values(const Shape& shape, const Pool2dOptions& o) {
    const Pair stride = {o.stride[0] ? o.stride[0] : o.size[0], o.stride[1] ? o.stride[1] : o.size[1]};
    const Tensor<double> w = Tensor<double>::full(Shape{shape[1], 1, o.size[0], o.size[1]},
                                                  1.0 / static_cast<double>(o.size[0] * o.size[1]));
    const Tensor<double> x = normals(shape);
    const auto expected = naive_conv2d(x, w, {.stride = stride, .padding = o.padding, .groups = shape[1]});
    const auto got = value_and_gradients<double>(with(o), x);
    const auto got_float = value_and_gradients<float>(with(o), x);
    for (std::size_t k = 0; k < 2; ++k) {
        check_near(got[k], expected[k], 1e-15);
        check_near(got_float[k], expected[k], 1e-6);
    }
}

template <class E>
std::string error(const Shape& x, const Pool2dOptions& options = {}) {
    return pool_error<E>(with(options), x);
}

}  // namespace

BOOST_AUTO_TEST_CASE(values_and_gradients) { check_windows(check_values); }

// torch.nn.functional.avg_pool2d of PyTorch 1.13
BOOST_AUTO_TEST_CASE(padding_counts_as_zeros_as_in_pytorch) {
    const Tensor<double> x = whole_numbers(Shape{1, 2, 5, 6}, 17, 23);
    Tensor<double> tripled = x;
    for (double& number : tripled.mutable_values()) number *= 3;
    const Tensor<double> expected(
        Shape{1, 2, 3, 7},
        {-6, -6.5, 4.5, 4,   3.5, 3,    -1.5, 2,    -5,   0,   5,   -1.5, -8,   -8.5, 1, -4, -4.5, 6.5, 6,   -6, -6,
         -2, 1.5,  1,   0.5, 0,   -0.5, 2.5,  -3.5, -4.5, 0.5, 5.5, -1,   -7.5, -2.5, 5, 4,  3.5,  3,   2.5, 2,  -2});
    BOOST_TEST(value<double>(with({.size = {3, 2}, .stride = {2, 1}, .padding = {1, 1}}), tripled) == expected);
}

BOOST_AUTO_TEST_CASE(gradients) {
    check_gradients(with({}), normals(Shape{2, 2, 5, 6}));
    check_gradients(with({.size = {3, 2}, .stride = {1, 2}, .padding = {1, 1}}), normals(Shape{1, 2, 5, 6}));
}

BOOST_AUTO_TEST_CASE(empty) {
    const auto all = value_and_gradients<double>(with({}), normals(Shape{0, 3, 4, 4}));
    BOOST_TEST(to_string(all[0].shape()) == "(0, 3, 2, 2)");
}

BOOST_AUTO_TEST_CASE(not_a_number_goes_through) {
    const double nan = std::nan("");
    const Tensor<double> y = value<double>(with({}), Tensor<double>(Shape{1, 1, 2, 4}, {nan, 1, 2, 3, 4, 5, 6, 7}));
    BOOST_TEST(std::isnan(y(0, 0, 0, 0)));
    BOOST_TEST(y(0, 0, 0, 1) == 4.5);
}

BOOST_AUTO_TEST_CASE(same_bits_on_any_number_of_threads) {
    check_same_bits<float>(with({}), normals(Shape{16, 16, 24, 24}));
    check_same_bits<float>(with({.size = {3, 3}, .stride = {2, 2}, .padding = {1, 1}}), normals(Shape{16, 16, 24, 24}));
}

BOOST_AUTO_TEST_CASE(errors) {
    BOOST_TEST(error<ShapeError>({4, 4}) ==
               "avg_pool2d: x (4, 4) has 2 axes; images are (batch, channels, height, width)");
    BOOST_TEST(error<ValueError>({1, 1, 4, 4}, {.size = {2, -1}}) ==
               "avg_pool2d: size (2, -1); both numbers must be from 1 to 2147483647");
    BOOST_TEST(error<ValueError>({1, 1, 4, 4}, {.stride = {2, -2}}) ==
               "avg_pool2d: stride (2, -2); both numbers must be from 0 to 2147483647");
    BOOST_TEST(error<ValueError>({1, 1, 4, 4}, {.padding = {0, 2}}) ==
               "avg_pool2d: padding (0, 2) is more than half of size (2, 2)");
    BOOST_TEST(error<ShapeError>({1, 1, 1, 4}) ==
               "avg_pool2d: size (2, 2) is larger than x (1, 1, 1, 4) with padding (0, 0), which has (1, 4) pixels");
}

BOOST_AUTO_TEST_SUITE_END()
