#include "naive_conv2d.hpp"

using namespace pollen;
using namespace pollen::test;

// conv2d with a bias is conv2d, and one number more for each output channel.
BOOST_AUTO_TEST_SUITE(conv2d_bias)

namespace {

template <class T>
void check_values(const Shape& x_shape, const Shape& w_shape, const Conv2dOptions& options = {}) {
    const Tensor<double> x = normals(x_shape, 1), w = normals(w_shape, 2), b = normals({w_shape[0]}, 3);
    const auto plain = [&](auto u, auto v) { return conv2d(u, v, options); };
    Tensor<double> expected = cast<double>(value<T>(plain, x, w));
    const std::int64_t pixels = expected.shape()[2] * expected.shape()[3];
    for (std::int64_t i = 0; i < expected.size(); ++i) expected.mutable_data()[i] += b.data()[i / pixels % b.size()];
    const auto with_bias = [&](auto u, auto v, auto c) { return conv2d(u, v, c, options); };
    const double tolerance = 40 * static_cast<double>(std::numeric_limits<T>::epsilon());
    BOOST_TEST(allclose(cast<double>(value<T>(with_bias, x, w, b)), expected, tolerance, 10 * tolerance));
}

}  // namespace

BOOST_AUTO_TEST_CASE(values) {
    for (const std::int64_t size : {3, 4, 7, 11, 19, 27}) {
        check_values<float>({2, 3, size, size}, {5, 3, 3, 3});
        check_values<double>({3, 2, size, 5}, {4, 2, 3, 2}, {.padding = {1, 1}});
    }
    check_values<float>({9, 1, 3, 3}, {2, 1, 3, 3});       // one pixel an image
    check_values<float>({5, 40, 6, 5}, {33, 40, 3, 3});    // more channels than one block of patches holds
    check_values<double>({2, 2, 30, 31}, {3, 2, 17, 17});  // more taps than that
    check_values<float>({40, 1, 28, 28}, {8, 1, 5, 5});    // above the size of a parallel task
    check_values<double>({2, 4, 5, 21}, {6, 2, 2, 3}, {.stride = {2, 1}, .groups = 2});
    check_values<double>({2, 0, 5, 5}, {3, 0, 2, 2});  // no input channels: the bias alone
}

BOOST_AUTO_TEST_CASE(gradients) {
    const auto op = [](auto x, auto w, auto b) {
        return conv2d(x, w, b, {.stride = {2, 1}, .padding = {1, 0}, .groups = 2});
    };
    check_gradients(op, normals({2, 4, 5, 4}, 1), normals({6, 2, 3, 2}, 2), normals({6}, 3));
}

BOOST_AUTO_TEST_CASE(errors) {
    BOOST_TEST(error_of<ShapeError>([] {
                   Tape<float> tape;
                   conv2d(tape.constant(Tensor<float>::zeros({1, 1, 3, 3})),
                          tape.constant(Tensor<float>::zeros({4, 1, 2, 2})), tape.constant(Tensor<float>::zeros({3})));
               }) ==
               "conv2d: bias has shape (3) for w (4, 1, 2, 2); one number for each output channel, (4), is needed");
}

BOOST_AUTO_TEST_SUITE_END()
