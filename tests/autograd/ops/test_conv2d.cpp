#include "naive_conv2d.hpp"

using namespace pollen;
using namespace pollen::test;

BOOST_AUTO_TEST_SUITE(conv2d)

namespace {

const auto with = [](Conv2dOptions options) {
    return [options](auto x, auto w) { return pollen::conv2d(x, w, options); };
};

template <class T>
void check_values(const Shape& x_shape, const Shape& w_shape, const Conv2dOptions& options = {}) {
    const Tensor<double> x = cast<double>(cast<T>(normals(x_shape, 1))), w = cast<double>(cast<T>(normals(w_shape, 2)));
    const auto expected = naive_conv2d(x, w, options);
    const auto got = value_and_gradients<T>(with(options), x, w);
    for (std::size_t k = 0; k < 3; ++k)
        check_near(got[k], expected[k], 40 * static_cast<double>(std::numeric_limits<T>::epsilon()));
}

void check_both(const Shape& x, const Shape& w, const Conv2dOptions& options = {}) {
    check_values<float>(x, w, options);
    check_values<double>(x, w, options);
}

template <class E>
std::string error(const Shape& x, const Shape& w, const Conv2dOptions& options = {}) {
    return error_of<E>([&] {
        Tape<float> tape;
        pollen::conv2d(tape.constant(Tensor<float>::zeros(x)), tape.constant(Tensor<float>::zeros(w)), options);
    });
}

}  // namespace

BOOST_AUTO_TEST_CASE(values_and_gradients_of_many_sizes) {
    for (const std::int64_t size : {3, 4, 7, 10, 11, 19, 27}) {
        check_both({2, 3, size, size}, {5, 3, 3, 3});
        check_both({3, 2, size, 5}, {4, 2, 3, 2}, {.padding = {1, 1}});
    }
    check_both({1, 1, 1, 1}, {1, 1, 1, 1});
    check_both({9, 1, 3, 3}, {2, 1, 3, 3});      // one pixel an image
    check_both({5, 40, 6, 5}, {33, 40, 3, 3});   // more channels than one block of patches holds
    check_both({2, 2, 30, 31}, {3, 2, 17, 17});  // more taps than that
    check_both({3, 7, 9, 9}, {70, 7, 2, 2});
    check_both({4, 6, 5, 5}, {8, 6, 1, 1});
    check_both({40, 1, 28, 28}, {8, 1, 5, 5});  // above the size of a parallel task
}

BOOST_AUTO_TEST_CASE(stride_padding_dilation_and_groups) {
    for (const std::int64_t stride : {1, 2, 3})
        for (const std::int64_t padding : {0, 1, 3})
            for (const std::int64_t dilation : {1, 2}) {
                const Conv2dOptions options{.stride = {stride, 1}, .padding = {padding, 2}, .dilation = {dilation, 1}};
                check_both({2, 3, 9, 8}, {4, 3, 3, 2}, options);
                const Conv2dOptions wide{
                    .stride = {1, stride}, .padding = {0, padding}, .dilation = {1, dilation}, .groups = 2};
                check_both({2, 4, 5, 21}, {6, 2, 2, 3}, wide);
            }
    check_both({2, 6, 7, 7}, {6, 1, 3, 3}, {.groups = 6});
    check_both({2, 6, 7, 7}, {12, 2, 3, 3}, {.padding = {1, 1}, .groups = 3});
    check_both({1, 2, 3, 3}, {2, 2, 3, 3}, {.padding = {6, 6}, .dilation = {3, 3}});
    check_both({2, 2, 5, 5}, {3, 2, 1, 1}, {.stride = {2, 2}, .padding = {1, 1}});
}

// torch.nn.functional.conv2d of PyTorch 1.13
BOOST_AUTO_TEST_CASE(as_in_pytorch) {
    const Tensor<double> x = whole_numbers(Shape{2, 4, 5, 6}, 7, 11), w = whole_numbers(Shape{6, 2, 2, 3}, 5, 7);
    const Tensor<double> expected(
        Shape{2, 6, 3, 3},
        {19,  9,   -5,  13,  16,  15, 2,   9,   14,  -8,  -15, -10, -17, 2,   8,   -1,  -9, -16, -7,  10, 20, 16,
         -5,  -13, 3,   8,   10,  1,  -15, -10, 11,  -30, 6,   -4,  -13, 10,  -7,  35,  10, 2,   20,  0,  -5, -13,
         -16, -8,  -20, -5,  7,   21, -6,  1,   -13, 14,  -9,  -23, -9,  15,  -17, -20, 10, 8,   5,   6,  3,  -6,
         3,   20,  6,   -17, -9,  0,  0,   1,   4,   -16, -13, 11,  19,  9,   -5,  1,   5,  32,  3,   -3, 19, 10,
         -17, -8,  -3,  -16, -12, -9, 26,  -5,  2,   33,  12,  0,   12,  -14, -7,  -15, 27, 1,   -15, -10});
    const Conv2dOptions options{.stride = {2, 3}, .padding = {1, 2}, .dilation = {2, 1}, .groups = 2};
    BOOST_TEST(value<double>(with(options), x, w) == expected);
    BOOST_TEST(value<float>(with(options), x, w) == cast<float>(expected));
}

BOOST_AUTO_TEST_CASE(gradients) {
    check_gradients(with({}), normals(Shape{2, 2, 5, 4}, 1), normals(Shape{3, 2, 3, 2}, 2));
    check_gradients(with({.stride = {2, 1}, .padding = {1, 2}, .dilation = {1, 2}, .groups = 2}),
                    normals(Shape{2, 4, 5, 4}, 1), normals(Shape{6, 2, 2, 3}, 2));
    check_gradients(with({}), normals(Shape{1, 1, 1, 1}, 1), normals(Shape{1, 1, 1, 1}, 2));
    check_gradients([](auto x) { return pollen::conv2d(x, x, {.padding = {1, 1}}); }, normals(Shape{2, 2, 3, 3}));
}

BOOST_AUTO_TEST_CASE(empty) {
    for (const auto& [x, w] : std::vector<std::pair<Shape, Shape>>{
             {{0, 2, 5, 5}, {3, 2, 3, 3}}, {{2, 0, 5, 5}, {3, 0, 3, 3}}, {{2, 2, 5, 5}, {0, 2, 3, 3}}}) {
        const auto all = value_and_gradients<double>(with({}), normals(x), normals(w));
        BOOST_TEST(to_string(all[0].shape()) == to_string(Shape{x[0], w[0], 3, 3}));
        for (const Tensor<double>& tensor : all)
            for (const double number : tensor) BOOST_TEST(number == 0);
    }
    // Winograd's algorithm, too.
    const auto all = value_and_gradients<float>(with({}), normals({0, 16, 10, 10}), normals({16, 16, 3, 3}));
    for (const Tensor<float>& tensor : all)
        for (const float number : tensor) BOOST_REQUIRE_EQUAL(number, 0);
}

BOOST_AUTO_TEST_CASE(not_a_number_reaches_the_pixels_around_it) {
    Tensor<double> x = Tensor<double>::ones(Shape{1, 1, 5, 5});
    x.mutable_at(0, 0, 1, 1) = std::nan("");
    const Tensor<double> y = value<double>(with({}), x, Tensor<double>::ones(Shape{1, 1, 3, 3}));
    for (std::int64_t i = 0; i < 3; ++i)
        for (std::int64_t j = 0; j < 3; ++j) BOOST_TEST(std::isnan(y(0, 0, i, j)) == (i < 2 && j < 2));
}

BOOST_AUTO_TEST_CASE(same_bits_on_any_number_of_threads) {
    check_same_bits<float>(with({}), normals(Shape{40, 8, 12, 12}, 1), normals(Shape{24, 8, 5, 5}, 2));
    check_same_bits<float>(with({}), normals(Shape{30, 1, 28, 28}, 1), normals(Shape{16, 1, 5, 5}, 2));
    check_same_bits<double>(with({.padding = {1, 1}, .groups = 2}), normals(Shape{12, 32, 14, 14}, 1),
                            normals(Shape{32, 16, 3, 3}, 2));
    check_same_bits<float>(with({.stride = {2, 2}}), normals(Shape{1, 64, 40, 40}, 1), normals(Shape{48, 64, 3, 3}, 2));
}

// Buffers come back to the tape's pool: from the second step on nothing is allocated.
BOOST_AUTO_TEST_CASE(no_allocation_in_the_steady_state) {
    Tape<float> tape;
    const Tensor<float> x = cast<float>(normals(Shape{4, 3, 8, 8}, 1)), w = cast<float>(normals(Shape{5, 3, 3, 3}, 2));
    std::uint64_t after_two = 0;
    for (int step = 0; step < 10; ++step) {
        tape.backward(sum(pollen::conv2d(tape.variable(x), tape.variable(w), {.padding = {1, 1}})));
        tape.clear();
        if (step == 1) after_two = tape.pool().allocated;
    }
    BOOST_TEST(tape.pool().allocated == after_two);
}

BOOST_AUTO_TEST_CASE(errors) {
    BOOST_TEST(error<ShapeError>({3, 28, 28}, {8, 3, 5, 5}) ==
               "conv2d: x (3, 28, 28) has 3 axes; images are (batch, channels, height, width)");
    BOOST_TEST(error<ShapeError>({2, 3, 28, 28}, {3, 5, 5}) ==
               "conv2d: w (3, 5, 5) has 3 axes; kernels are (out channels, in channels / groups, height, width)");
    BOOST_TEST(error<ShapeError>({2, 3, 28, 28}, {8, 4, 5, 5}) ==
               "conv2d: channels differ: x (2, 3, 28, 28) in 1 group by w (8, 4, 5, 5); w needs 3 input channels");
    BOOST_TEST(error<ShapeError>({2, 6, 28, 28}, {8, 6, 5, 5}, {.groups = 2}) ==
               "conv2d: channels differ: x (2, 6, 28, 28) in 2 groups by w (8, 6, 5, 5); w needs 3 input channels");
    BOOST_TEST(error<ShapeError>({2, 4, 28, 28}, {6, 2, 5, 5}, {.groups = 3}) ==
               "conv2d: 3 groups do not divide the 4 channels of x (2, 4, 28, 28)");
    BOOST_TEST(error<ShapeError>({2, 3, 28, 28}, {5, 1, 5, 5}, {.groups = 3}) ==
               "conv2d: 3 groups do not divide the 5 output channels of w (5, 1, 5, 5)");
    BOOST_TEST(
        error<ShapeError>({2, 3, 4, 9}, {8, 3, 3, 3}, {.padding = {1, 0}, .dilation = {3, 2}}) ==
        "conv2d: w (8, 3, 3, 3) with dilation (3, 2) covers (7, 5) pixels; x (2, 3, 4, 9) with padding (1, 0) has only "
        "(6, 9)");
    BOOST_TEST(error<ShapeError>({2, 3, 4, 9}, {8, 3, 0, 3}) == "conv2d: w (8, 3, 0, 3) has an empty kernel");
    BOOST_TEST(error<ShapeError>({0, 3, 4294967296, 9}, {8, 3, 3, 3}) ==
               "conv2d: x (0, 3, 4294967296, 9) is too large; height and width go up to 2147483647");
    BOOST_TEST(error<ShapeError>({2, 0, 9, 9}, {8, 0, 3, 4294967296}) ==
               "conv2d: w (8, 0, 3, 4294967296) is too large; height and width go up to 2147483647");
    BOOST_TEST(error<ValueError>({2, 3, 9, 9}, {8, 3, 3, 3}, {.stride = {0, 1}}) ==
               "conv2d: stride (0, 1); both numbers must be from 1 to 2147483647");
    BOOST_TEST(error<ValueError>({2, 3, 9, 9}, {8, 3, 3, 3}, {.padding = {0, -1}}) ==
               "conv2d: padding (0, -1); both numbers must be from 0 to 2147483647");
    BOOST_TEST(error<ValueError>({2, 3, 9, 9}, {8, 3, 3, 3}, {.padding = {std::int64_t{1} << 62, 0}}) ==
               "conv2d: padding (4611686018427387904, 0); both numbers must be from 0 to 2147483647");
    BOOST_TEST(error<ValueError>({2, 3, 9, 9}, {8, 3, 3, 3}, {.dilation = {1, 0}}) ==
               "conv2d: dilation (1, 0); both numbers must be from 1 to 2147483647");
    BOOST_TEST(error<ValueError>({2, 3, 9, 9}, {8, 3, 3, 3}, {.groups = 0}) ==
               "conv2d: 0 groups; at least 1 is needed");
    BOOST_TEST(error<ShapeError>({1, 1, 9, 9}, {1024, 1, 3, 3}, {.padding = {0x7fffffff, 0x7fffffff}}) ==
               "shape: (1, 1024, 4294967301, 4294967301) has too many elements; at most 2^59 are supported");
}

BOOST_AUTO_TEST_SUITE_END()
