#include "naive_conv2d.hpp"

using namespace pollen;
using namespace pollen::test;

BOOST_AUTO_TEST_SUITE(conv_transpose2d)

namespace {

const auto with = [](ConvTranspose2dOptions options) {
    return [options](auto x, auto w) { return pollen::conv_transpose2d(x, w, options); };
};

// The result is linear in x with the transposed matrix of the convolution from y to x: summed by that definition.
template <class T>
void check_values(const Shape& x_shape, const Shape& w_shape, const ConvTranspose2dOptions& o = {}) {
    const Tensor<double> x = cast<double>(cast<T>(normals(x_shape, 1))), w = cast<double>(cast<T>(normals(w_shape, 2)));
    const auto size = [&](std::size_t k) {
        const int axis = static_cast<int>(k) + 2;
        return (x_shape[axis] - 1) * o.stride[k] - 2 * o.padding[k] + o.dilation[k] * (w_shape[axis] - 1) +
               o.output_padding[k] + 1;
    };
    const Shape shape{x_shape[0], w_shape[1] * o.groups, size(0), size(1)};
    const Conv2dOptions back{.stride = o.stride, .padding = o.padding, .dilation = o.dilation, .groups = o.groups};
    const Tensor<double> g = normals(shape, 11);
    Tensor<double> y = Tensor<double>::zeros(shape), dx = Tensor<double>::zeros(x_shape),
                   dw = Tensor<double>::zeros(w_shape);
    double *py = y.mutable_data(), *px = dx.mutable_data(), *pw = dw.mutable_data();
    each_product(shape, w_shape, x_shape, back, [&](std::int64_t ix, std::int64_t iy, std::int64_t iw) {
        py[iy] += x.data()[ix] * w.data()[iw];
        px[ix] += g.data()[iy] * w.data()[iw];
        pw[iw] += g.data()[iy] * x.data()[ix];
    });
    const auto got = value_and_gradients<T>(with(o), x, w);
    const double tolerance = 40 * static_cast<double>(std::numeric_limits<T>::epsilon());
    check_near(got[0], y, tolerance);
    check_near(got[1], dx, tolerance);
    check_near(got[2], dw, tolerance);
}

void check_both(const Shape& x, const Shape& w, const ConvTranspose2dOptions& options = {}) {
    check_values<float>(x, w, options);
    check_values<double>(x, w, options);
}

template <class E>
std::string error(const Shape& x, const Shape& w, const ConvTranspose2dOptions& options = {}) {
    return error_of<E>([&] {
        Tape<float> tape;
        pollen::conv_transpose2d(tape.constant(Tensor<float>::zeros(x)), tape.constant(Tensor<float>::zeros(w)),
                                 options);
    });
}

}  // namespace

BOOST_AUTO_TEST_CASE(values_and_gradients) {
    for (const std::int64_t stride : {1, 2, 3})
        for (const std::int64_t padding : {0, 1})
            for (const std::int64_t dilation : {1, 2}) {
                check_both({2, 4, 5, 9}, {4, 3, 3, 2},
                           {.stride = {stride, 1}, .padding = {padding, 0}, .dilation = {dilation, 1}});
                check_both({2, 4, 3, 8}, {4, 2, 2, 3},
                           {.stride = {1, stride},
                            .padding = {0, padding},
                            .output_padding = {0, stride - 1},
                            .dilation = {1, dilation},
                            .groups = 2});
            }
    check_both({1, 1, 1, 1}, {1, 1, 1, 1});
    check_both({3, 33, 4, 4}, {33, 40, 3, 3}, {.padding = {1, 1}});
    check_both({20, 4, 14, 14}, {4, 2, 4, 4}, {.stride = {2, 2}, .padding = {1, 1}});
    check_both({1, 2, 3, 3}, {2, 2, 2, 2}, {.output_padding = {1, 1}, .dilation = {2, 2}});
}

// torch.nn.functional.conv_transpose2d of PyTorch 1.13
BOOST_AUTO_TEST_CASE(as_in_pytorch) {
    const Tensor<double> x = whole_numbers(Shape{1, 4, 2, 3}, 7, 11), w = whole_numbers(Shape{4, 3, 2, 3}, 5, 7);
    const Tensor<double> y = value<double>(
        with({.stride = {2, 3}, .padding = {1, 0}, .output_padding = {1, 0}, .dilation = {1, 2}, .groups = 2}), x, w);
    BOOST_TEST(to_string(y.shape()) == "(1, 6, 3, 11)");
    const std::vector<double> first{-2, 0, -7,  -4, -5, 6,   16, 2,  -14, 0, -2, -6, 0, 13,  -6, -3, 1,
                                    -6, 1, -11, 0,  5,  -19, 0,  21, 1,   5, 1,  21, 1, -19, 0,  -3};
    const std::vector<double> last{0,  0,   -4, 4, 6,  16, -3, -14, -19, 0, 21, 1,  0,   -6,  13, 1, -6,
                                   -8, -11, -6, 0, 10, 1,  0,  1,   5,   1, 21, -2, -19, -14, 0,  16};
    BOOST_TEST(std::vector<double>(y.begin(), y.begin() + 33) == first, boost::test_tools::per_element());
    BOOST_TEST(std::vector<double>(y.end() - 33, y.end()) == last, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(gradients) {
    check_gradients(with({}), normals(Shape{2, 2, 3, 4}, 1), normals(Shape{2, 3, 3, 2}, 2));
    check_gradients(
        with({.stride = {2, 1}, .padding = {1, 1}, .output_padding = {1, 0}, .dilation = {1, 2}, .groups = 2}),
        normals(Shape{2, 4, 3, 4}, 1), normals(Shape{4, 2, 2, 3}, 2));
    check_gradients([](auto x) { return pollen::conv_transpose2d(x, x); }, normals(Shape{2, 2, 3, 3}));
}

BOOST_AUTO_TEST_CASE(empty) {
    for (const auto& [x, w] : std::vector<std::pair<Shape, Shape>>{
             {{0, 2, 3, 3}, {2, 3, 3, 3}}, {{2, 0, 3, 3}, {0, 3, 3, 3}}, {{2, 2, 3, 3}, {2, 0, 3, 3}}}) {
        const auto all = value_and_gradients<double>(with({}), normals(x), normals(w));
        BOOST_TEST(to_string(all[0].shape()) == to_string(Shape{x[0], w[1], 5, 5}));
        for (const Tensor<double>& tensor : all)
            for (const double number : tensor) BOOST_TEST(number == 0);
    }
}

BOOST_AUTO_TEST_CASE(same_bits_on_any_number_of_threads) {
    check_same_bits<float>(with({.stride = {2, 2}, .padding = {1, 1}}), normals(Shape{30, 16, 8, 8}, 1),
                           normals(Shape{16, 12, 4, 4}, 2));
    check_same_bits<double>(with({}), normals(Shape{2, 64, 20, 20}, 1), normals(Shape{64, 32, 3, 3}, 2));
}

BOOST_AUTO_TEST_CASE(errors) {
    BOOST_TEST(error<ShapeError>({3, 28, 28}, {3, 8, 5, 5}) ==
               "conv_transpose2d: x (3, 28, 28) has 3 axes; images are (batch, channels, height, width)");
    BOOST_TEST(
        error<ShapeError>({2, 3, 28, 28}, {5, 5}) ==
        "conv_transpose2d: w (5, 5) has 2 axes; kernels are (in channels, out channels / groups, height, width)");
    BOOST_TEST(error<ShapeError>({2, 3, 28, 28}, {4, 8, 5, 5}) ==
               "conv_transpose2d: channels differ: x (2, 3, 28, 28) by w (4, 8, 5, 5); w needs 3 input channels");
    BOOST_TEST(error<ShapeError>({2, 4, 28, 28}, {4, 2, 5, 5}, {.groups = 3}) ==
               "conv_transpose2d: 3 groups do not divide the 4 channels of x (2, 4, 28, 28)");
    BOOST_TEST(
        error<ShapeError>({2, 4, 2, 2}, {4, 2, 2, 2}, {.padding = {2, 0}}) ==
        "conv_transpose2d: x (2, 4, 2, 2) by w (4, 2, 2, 2) with padding (2, 0) would give images of (-1, 3); at least "
        "(1, 1) is needed");
    BOOST_TEST(error<ShapeError>({2, 4, 0, 2}, {4, 2, 2, 2}) == "conv_transpose2d: x (2, 4, 0, 2) has no pixels");
    BOOST_TEST(error<ShapeError>({2, 4, 2, 2}, {4, 2, 2, 0}) == "conv_transpose2d: w (4, 2, 2, 0) has an empty kernel");
    BOOST_TEST(error<ValueError>({2, 4, 2, 2}, {4, 2, 2, 2}, {.stride = {2, 2}, .output_padding = {0, 2}}) ==
               "conv_transpose2d: output_padding (0, 2) must be smaller than stride (2, 2) or dilation (1, 1)");
    BOOST_TEST(error<ValueError>({2, 4, 2, 2}, {4, 2, 2, 2}, {.output_padding = {-1, 0}}) ==
               "conv_transpose2d: output_padding (-1, 0); both numbers must be from 0 to 2147483647");
    BOOST_TEST(error<ValueError>({2, 4, 2, 2}, {4, 2, 2, 2}, {.stride = {0, 1}}) ==
               "conv_transpose2d: stride (0, 1); both numbers must be from 1 to 2147483647");
    BOOST_TEST(error<ValueError>({2, 4, 2, 2}, {4, 2, 2, 2}, {.padding = {-1, 1}}) ==
               "conv_transpose2d: padding (-1, 1); both numbers must be from 0 to 2147483647");
    BOOST_TEST(error<ValueError>({2, 4, 2, 2}, {4, 2, 2, 2}, {.dilation = {1, 0}}) ==
               "conv_transpose2d: dilation (1, 0); both numbers must be from 1 to 2147483647");
    BOOST_TEST(error<ValueError>({2, 4, 2, 2}, {4, 2, 2, 2}, {.groups = -1}) ==
               "conv_transpose2d: -1 groups; at least 1 is needed");
    BOOST_TEST(error<ShapeError>({1, 1, 1024, 1024}, {1, 1, 1, 1}, {.stride = {0x7fffffff, 0x7fffffff}}) ==
               "shape: (1, 1, 2196875770882, 2196875770882) has too many elements; at most 2^59 are supported");
}

BOOST_AUTO_TEST_SUITE_END()
