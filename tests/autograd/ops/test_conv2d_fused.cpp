#include "naive_conv2d.hpp"

#include <pollen/autograd/kernels/winograd.hpp>

#include <cmath>
#include <limits>

using namespace pollen;
using namespace pollen::test;

// conv2d_relu and conv2d_relu_max_pool2d are the ops that their names list, bit for bit: the separate ops are the
// reference, which have tests of their own.
BOOST_AUTO_TEST_SUITE(conv2d_fused)

namespace {

const auto relu_in_one = [](Conv2dOptions o) {
    return [o](auto x, auto w, auto b) { return conv2d_relu(x, w, b, o); };
};
const auto relu_apart = [](Conv2dOptions o) {
    return [o](auto x, auto w, auto b) { return relu(conv2d(x, w, b, o)); };
};
const auto pool_in_one = [](Conv2dOptions o) {
    return [o](auto x, auto w, auto b) { return conv2d_relu_max_pool2d(x, w, b, o); };
};
const auto pool_apart = [](Conv2dOptions o) {
    return [o](auto x, auto w, auto b) { return max_pool2d(relu(conv2d(x, w, b, o))); };
};

// The same shapes, and the same bits but for those of NaNs.
template <class T>
bool identical(const Tensor<T>& a, const Tensor<T>& b) {
    const auto same = [](T u, T v) {
        return (std::isnan(u) && std::isnan(v)) || (u == v && std::signbit(u) == std::signbit(v));
    };
    return a.shape() == b.shape() && std::equal(a.begin(), a.end(), b.begin(), same);
}

template <class T, class F, class G>
void check_identical(const char* name, const F& in_one, const G& apart, const Tensor<double>& x,
                     const Tensor<double>& w, const Tensor<double>& b) {
    const auto got = value_and_gradients<T>(in_one, x, w, b), expected = value_and_gradients<T>(apart, x, w, b);
    const char* what[] = {"the value", "dL/dx", "dL/dw", "dL/dbias"};
    for (std::size_t k = 0; k < 4; ++k)
        BOOST_TEST(identical(got[k], expected[k]), what[k] << " of " << name << ", x " << to_string(x.shape()) << ", w "
                                                           << to_string(w.shape()) << ", " << 8 * sizeof(T) << " bits");
}

template <class T>
void check_ops(const Tensor<double>& x, const Tensor<double>& w, const Tensor<double>& b, const Conv2dOptions& o = {}) {
    check_identical<T>("conv2d_relu", relu_in_one(o), relu_apart(o), x, w, b);
    check_identical<T>("conv2d_relu_max_pool2d", pool_in_one(o), pool_apart(o), x, w, b);
}

void check_both(const Shape& x, const Shape& w, const Conv2dOptions& o = {}) {
    check_ops<float>(normals(x, 1), normals(w, 2), normals(Shape{w[0]}, 3), o);
    check_ops<double>(normals(x, 1), normals(w, 2), normals(Shape{w[0]}, 3), o);
}

// The same, for shapes in which floats go through Winograd's algorithm.
void check_winograd(const Shape& x, const Shape& w, const Pair& padding) {
    const kernels::WinogradShape s{x[0], x[1], w[0], x[2], x[3], w[2], padding[0], padding[1]};
    BOOST_TEST(kernels::winograd_use(s), "no Winograd for " << to_string(x) << " by " << to_string(w));
    check_both(x, w, {.padding = padding});
}

template <class E, class F>
std::string error(const F& f, const Shape& x, const Shape& w, const Shape& b) {
    return error_of<E>([&] {
        Tape<float> tape;
        f(tape.constant(Tensor<float>::zeros(x)), tape.constant(Tensor<float>::zeros(w)),
          tape.constant(Tensor<float>::zeros(b)));
    });
}

// A kernel of one pixel that changes nothing.
const Tensor<double> one_pixel = Tensor<double>::ones(Shape{1, 1, 1, 1}), no_bias = Tensor<double>::zeros(Shape{1});

}  // namespace

BOOST_AUTO_TEST_CASE(direct_sums) {
    for (std::int64_t size = 4; size <= 40; ++size) check_both({2, 3, 6, size}, {5, 3, 3, 3});
    for (const std::int64_t size : {2, 3, 5, 8}) check_both({3, 2, size, 7}, {4, 2, 2, 3}, {.padding = {1, 1}});
    check_both({1, 1, 2, 2}, {1, 1, 1, 1});
    check_both({5, 40, 7, 6}, {33, 40, 3, 3});   // more channels than one block of patches holds
    check_both({2, 2, 30, 31}, {3, 2, 17, 17});  // more taps than that
    check_both({40, 1, 28, 28}, {8, 1, 5, 5});   // above the size of a parallel task
    check_both({2, 3, 5, 400}, {4, 3, 3, 3});    // long lines
    check_both({3, 3, 32, 32}, {16, 3, 3, 3}, {.padding = {1, 1}});
}

BOOST_AUTO_TEST_CASE(stride_padding_dilation_and_groups) {
    for (const std::int64_t stride : {1, 2})
        for (const std::int64_t padding : {0, 1, 3})
            for (const std::int64_t dilation : {1, 2}) {
                check_both({2, 3, 9, 8}, {4, 3, 3, 2},
                           {.stride = {stride, 1}, .padding = {padding, 2}, .dilation = {dilation, 1}});
                check_both({2, 4, 5, 21}, {6, 2, 2, 3},
                           {.stride = {1, stride}, .padding = {0, padding}, .dilation = {1, dilation}, .groups = 2});
            }
    check_both({2, 32, 16, 16}, {32, 16, 3, 3}, {.padding = {1, 1}, .groups = 2});
    check_both({2, 16, 17, 15}, {16, 16, 3, 3}, {.stride = {2, 2}, .padding = {1, 1}});
    check_both({2, 6, 7, 7}, {6, 1, 3, 3}, {.groups = 6});
}

BOOST_AUTO_TEST_CASE(winograd) {
    check_winograd({2, 16, 8, 8}, {16, 16, 3, 3}, {1, 1});
    check_winograd({3, 17, 11, 13}, {35, 17, 3, 3}, {1, 1});  // odd, and channels that do not fill a block
    check_winograd({1, 16, 43, 47}, {40, 16, 3, 3}, {0, 0});
    check_winograd({30, 16, 6, 6}, {16, 16, 3, 3}, {0, 0});
    check_winograd({2, 64, 16, 16}, {80, 64, 3, 3}, {1, 1});
    check_winograd({2, 16, 12, 12}, {18, 16, 5, 5}, {0, 0});
    check_winograd({1, 33, 11, 13}, {17, 33, 5, 5}, {1, 1});
    check_winograd({3, 18, 29, 31}, {16, 18, 5, 5}, {2, 1});
}

BOOST_AUTO_TEST_CASE(empty) {
    check_both({0, 2, 6, 6}, {3, 2, 3, 3});
    check_both({0, 16, 8, 8}, {16, 16, 3, 3}, {.padding = {1, 1}});
    check_both({2, 0, 6, 6}, {3, 0, 3, 3});  // no input channels: the bias alone
    check_both({2, 2, 6, 6}, {0, 2, 3, 3});
}

// Shapes so small that no number is near a kink.
BOOST_AUTO_TEST_CASE(gradients) {
    const Conv2dOptions o{.stride = {1, 2}, .padding = {1, 0}, .groups = 2};
    const auto x = normals({1, 2, 4, 5}, 14), w = normals({4, 1, 2, 2}, 15), b = normals({4}, 16);
    check_gradients(relu_in_one(o), x, w, b);
    check_gradients(pool_in_one(o), x, w, b);
    check_gradients(
        [](auto v) {
            return conv2d_relu(v, v, sum(v, {1, 2, 3}), {.padding = {1, 1}});
        },
        normals(Shape{2, 2, 3, 3}));
    check_gradients(
        [](auto v) {
            return conv2d_relu_max_pool2d(v, v, sum(v, {1, 2, 3}), {.padding = {1, 1}});
        },
        normals(Shape{2, 2, 3, 3}));
}

BOOST_AUTO_TEST_CASE(the_first_of_equals_gets_the_gradient) {
    const Tensor<double> x = Tensor<double>::ones(Shape{1, 1, 5, 9});
    const auto all = value_and_gradients<double>(pool_in_one({}), x, one_pixel, no_bias);
    for (std::int64_t i = 0; i < 5; ++i)
        for (std::int64_t j = 0; j < 9; ++j) {
            const bool first = i % 2 == 0 && j % 2 == 0 && i < 4 && j < 8;
            BOOST_TEST((all[1](0, 0, i, j) != 0) == first);
        }
    check_ops<float>(x, one_pixel, no_bias);
    check_ops<float>(Tensor<double>::ones(Shape{2, 16, 9, 8}), Tensor<double>::ones(Shape{16, 16, 3, 3}),
                     Tensor<double>::zeros(Shape{16}), {.padding = {1, 1}});
}

// Where nothing is above 0 there is no gradient.
BOOST_AUTO_TEST_CASE(at_and_below_0) {
    for (const double x : {0.0, -0.0, -1.0}) {
        for (const auto& all :
             {value_and_gradients<float>(relu_in_one({}), Tensor<double>::full({1, 1, 4, 4}, x), one_pixel, no_bias),
              value_and_gradients<float>(pool_in_one({}), Tensor<double>::full({1, 1, 4, 4}, x), one_pixel, no_bias)})
            for (const Tensor<float>& tensor : all)
                for (const float number : tensor) BOOST_TEST((number == 0 && !std::signbit(number)));
        check_ops<double>(Tensor<double>::full({1, 1, 4, 4}, x), one_pixel, no_bias);
    }
}

// NaN passes the rectifier and is larger than anything; the last one in a window counts.
BOOST_AUTO_TEST_CASE(not_a_number_and_infinity) {
    const double nan = std::nan(""), inf = std::numeric_limits<double>::infinity();
    const Tensor<double> x(Shape{1, 1, 2, 8}, {1, nan, 3, 2, -inf, -inf, inf, 1, 4, 5, nan, nan, -inf, -inf, 2, nan});
    const auto all = value_and_gradients<double>(pool_in_one({}), x, one_pixel, no_bias);
    BOOST_TEST(std::isnan(all[0](0, 0, 0, 0)));
    BOOST_TEST(std::isnan(all[0](0, 0, 0, 1)));
    BOOST_TEST(all[0](0, 0, 0, 2) == 0);
    BOOST_TEST(std::isnan(all[0](0, 0, 0, 3)));
    for (std::int64_t i = 0; i < 2; ++i)
        for (std::int64_t j = 0; j < 8; ++j) {
            const bool chosen = (i == 0 && j == 1) || (i == 1 && (j == 3 || j == 7));
            BOOST_TEST((all[1](0, 0, i, j) != 0) == chosen, i << ", " << j);
        }
    check_ops<double>(x, one_pixel, no_bias);
    check_ops<float>(x, one_pixel, no_bias);
    Tensor<double> many = normals({2, 16, 10, 9}, 1);
    many.mutable_data()[17] = nan;
    many.mutable_data()[1000] = inf;
    check_ops<float>(many, normals({16, 16, 3, 3}, 2), normals({16}, 3), {.padding = {1, 1}});
}

// The gradient of a node that is to be kept stays as it is.
BOOST_AUTO_TEST_CASE(kept_gradients) {
    for (const auto& f : {+[](Var<float> x, Var<float> w, Var<float> b) { return conv2d_relu(x, w, b); },
                          +[](Var<float> x, Var<float> w, Var<float> b) { return conv2d_relu_max_pool2d(x, w, b); }}) {
        Tape<float> tape;
        const auto variable = [&](const Shape& s, std::uint64_t seed) {
            return tape.variable(cast<float>(normals(s, seed)));
        };
        const Var<float> x = variable({2, 3, 6, 6}, 1), w = variable({4, 3, 3, 3}, 2), b = variable({4}, 3);
        const Var<float> y = f(x, w, b);
        tape.keep_grad(y);
        const Tensor<float> seed = cast<float>(normals(y.shape(), 11));
        tape.backward(y, seed);
        BOOST_TEST(y.grad() == seed);
        const auto all =
            value_and_gradients<float>(f, normals({2, 3, 6, 6}, 1), normals({4, 3, 3, 3}, 2), normals({4}, 3));
        BOOST_TEST(x.grad() == all[1]);
        BOOST_TEST(w.grad() == all[2]);
        BOOST_TEST(b.grad() == all[3]);
    }
}

BOOST_AUTO_TEST_CASE(gradients_that_are_not_wanted) {
    const Tensor<double> in[] = {normals({2, 16, 8, 9}, 1), normals({16, 16, 3, 3}, 2), normals({16}, 3)};
    const auto check = [&]<class T>(const auto& f, T) {
        const auto all = value_and_gradients<T>(f, in[0], in[1], in[2]);
        for (unsigned wanted = 0; wanted < 8; ++wanted) {
            Tape<T> tape;
            std::vector<Var<T>> x;
            for (std::size_t k = 0; k < 3; ++k)
                x.push_back(wanted >> k & 1 ? tape.variable(cast<T>(in[k])) : tape.constant(cast<T>(in[k])));
            const Var<T> y = f(x[0], x[1], x[2]);
            BOOST_TEST(y.value() == all[0]);
            BOOST_TEST(y.needs_grad() == (wanted != 0));
            if (wanted == 0) continue;
            tape.backward(y, cast<T>(normals(y.shape(), 11)));
            for (std::size_t k = 0; k < 3; ++k)
                if (wanted >> k & 1) BOOST_TEST(x[k].grad() == all[k + 1], "input " << k << " of those in " << wanted);
        }
    };
    check(relu_in_one({.padding = {1, 1}}), 0.0f);
    check(pool_in_one({.padding = {1, 1}}), 0.0f);
    check(relu_in_one({}), 0.0);
    check(pool_in_one({}), 0.0);
}

BOOST_AUTO_TEST_CASE(same_bits_on_any_number_of_threads) {
    const auto b = normals({24}, 3);
    check_same_bits<float>(pool_in_one({}), normals(Shape{40, 8, 12, 13}, 1), normals(Shape{24, 8, 5, 5}, 2), b);
    check_same_bits<float>(pool_in_one({.padding = {1, 1}}), normals(Shape{9, 32, 20, 21}, 1),
                           normals(Shape{24, 32, 3, 3}, 2), b);
    check_same_bits<float>(relu_in_one({.padding = {1, 1}}), normals(Shape{9, 32, 20, 21}, 1),
                           normals(Shape{24, 32, 3, 3}, 2), b);
    check_same_bits<double>(pool_in_one({.stride = {2, 2}, .groups = 2}), normals(Shape{6, 32, 40, 40}, 1),
                            normals(Shape{24, 16, 3, 3}, 2), b);
}

BOOST_AUTO_TEST_CASE(errors) {
    const auto check = [](const auto& f) {
        BOOST_TEST(error<ShapeError>(f, {2, 3, 28, 28}, {8, 4, 5, 5}, {8}) ==
                   "conv2d: channels differ: x (2, 3, 28, 28) in 1 group by w (8, 4, 5, 5); w needs 3 input channels");
        BOOST_TEST(error<ShapeError>(f, {1, 1, 3, 3}, {4, 1, 2, 2}, {3}) ==
                   "conv2d: bias has shape (3) for w (4, 1, 2, 2); one number for each output channel, (4), is needed");
    };
    check(relu_in_one({}));
    check(pool_in_one({}));
    BOOST_TEST(error<ValueError>(relu_in_one({.stride = {0, 1}}), {2, 3, 9, 9}, {8, 3, 3, 3}, {8}) ==
               "conv2d: stride (0, 1); both numbers must be from 1 to 2147483647");
    BOOST_TEST(error<ShapeError>(pool_in_one({}), {2, 3, 9, 5}, {8, 3, 3, 5}, {8}) ==
               "conv2d_relu_max_pool2d: the images to be pooled have shape (2, 8, 7, 1); at least 2 x 2 pixels are "
               "needed");
    BOOST_TEST(error<ShapeError>(pool_in_one({}), {2, 3, 3, 9}, {8, 3, 3, 5}, {8}) ==
               "conv2d_relu_max_pool2d: the images to be pooled have shape (2, 8, 1, 5); at least 2 x 2 pixels are "
               "needed");
}

BOOST_AUTO_TEST_SUITE_END()
