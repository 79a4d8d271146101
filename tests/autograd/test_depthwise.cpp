#include "ops/naive_conv2d.hpp"

#include <pollen/autograd/detail/convolution.hpp>
#include <pollen/autograd/kernels/depthwise.hpp>

#include <cmath>
#include <cstring>
#include <thread>

using namespace pollen;
using namespace pollen::test;

BOOST_AUTO_TEST_SUITE(depthwise)

namespace {

// A shape of images, a size of kernels, and the outputs and inputs of a group.
struct Case {
    Shape x;
    std::int64_t outputs = 1;
    Pair taps = {3, 3};
    Conv2dOptions options = {};
    std::int64_t inputs = 1;

    Shape w() const { return Shape{x[1] / inputs * outputs, inputs, taps[0], taps[1]}; }
    Conv2dOptions grouped() const {
        Conv2dOptions o = options;
        o.groups = x[1] / inputs;
        return o;
    }
    kernels::Depthwise sizes() const {
        return {convolution(x, w(), grouped()), options.padding[0], options.padding[1]};
    }
    auto op() const {
        return [o = grouped()](auto a, auto b) { return conv2d(a, b, o); };
    }
};

const Conv2dOptions same{.padding = {1, 1}};

const std::vector<Case> cases{
    {{2, 3, 9, 9}, 1, {3, 3}, same},
    {{2, 3, 1, 1}, 1, {3, 3}, same},
    {{2, 2, 5, 3}, 1, {3, 3}, same},
    {{3, 2, 4, 4}, 2, {3, 3}, same},
    {{2, 2, 7, 17}, 3, {3, 3}, same},
    {{2, 5, 33, 31}, 1, {3, 3}, same},
    {{1, 2, 70, 90}, 1, {3, 3}, same},  // more than one strip of lines
    {{1, 2, 40, 150}, 2, {5, 5}, {.padding = {2, 2}}},
    {{2, 3, 8, 9}},
    {{2, 2, 6, 40}, 1, {1, 5}},
    {{2, 2, 30, 6}, 1, {7, 2}, {.padding = {3, 0}}},
    {{2, 2, 5, 6}, 1, {3, 3}, {.padding = {4, 5}}},  // padding larger than the kernel
    {{2, 2, 3, 3}, 1, {2, 2}, {.padding = {7, 1}}},
    {{2, 3, 32, 32}, 1, {3, 3}, {.stride = {2, 2}, .padding = {1, 1}}},
    {{2, 3, 9, 14}, 2, {3, 3}, {.stride = {2, 2}, .padding = {1, 1}}},
    {{1, 2, 90, 130}, 1, {3, 3}, {.stride = {2, 2}, .padding = {1, 1}}},
    {{2, 3, 7, 7}, 1, {7, 7}, {.stride = {4, 3}}},
    {{2, 2, 11, 30}, 1, {2, 3}, {.stride = {3, 1}, .padding = {0, 2}}},
    {{2, 2, 13, 25}, 1, {2, 2}, {.stride = {3, 4}}},  // pixels that no kernel covers
    {{2, 2, 9, 3}, 1, {2, 2}, {.stride = {5, 1}}},
    {{2, 2, 9, 20}, 1, {3, 3}, {.padding = {2, 2}, .dilation = {2, 2}}},
    {{2, 2, 12, 21}, 2, {3, 2}, {.stride = {2, 3}, .padding = {3, 1}, .dilation = {3, 2}}},
    {{2, 2, 5, 6}, 11, {3, 3}, same},
    {{2, 6, 9, 10}, 4, {3, 3}, same, 3},
    {{1, 16, 30, 34}, 8, {3, 3}, same, 8},
    {{2, 4, 13, 20}, 3, {3, 2}, {.stride = {2, 3}, .padding = {1, 1}}, 2},
    {{2, 10, 7, 7}, 4, {1, 1}, {}, 5},
    {{2, 18, 6, 7}, 2, {3, 3}, same, 9},
};

template <class T>
void check_values(const Case& c) {
    const Tensor<double> x = cast<double>(cast<T>(normals(c.x, 1))), w = cast<double>(cast<T>(normals(c.w(), 2)));
    const auto expected = naive_conv2d(x, w, c.grouped());
    const auto got = value_and_gradients<T>(c.op(), x, w);
    for (std::size_t k = 0; k < 3; ++k)
        check_near(got[k], expected[k], 20 * static_cast<double>(std::numeric_limits<T>::epsilon()));
}

template <class T>
bool same_bits(const T* a, const T* b, std::int64_t n) {
    return std::memcmp(a, b, static_cast<std::size_t>(n) * sizeof(T)) == 0;
}

template <class T>
void check_fused(const Case& c) {
    const Tensor<double> x = normals(c.x, 1), w = normals(c.w(), 2), b = normals({c.w()[0]}, 3);
    const Conv2dOptions o = c.grouped();
    const auto fused =
        value_and_gradients<T>([&](auto u, auto v, auto t) { return conv2d_relu_max_pool2d(u, v, t, o); }, x, w, b);
    const auto apart =
        value_and_gradients<T>([&](auto u, auto v, auto t) { return max_pool2d(relu(conv2d(u, v, t, o))); }, x, w, b);
    for (std::size_t k = 0; k < 4; ++k) BOOST_TEST(same_bits(fused[k].data(), apart[k].data(), apart[k].size()));
    const auto rectified =
        value_and_gradients<T>([&](auto u, auto v, auto t) { return conv2d_relu(u, v, t, o); }, x, w, b);
    const auto relu_apart =
        value_and_gradients<T>([&](auto u, auto v, auto t) { return relu(conv2d(u, v, t, o)); }, x, w, b);
    for (std::size_t k = 0; k < 4; ++k)
        BOOST_TEST(same_bits(rectified[k].data(), relu_apart[k].data(), relu_apart[k].size()));
}

// With beta = 1, what is there already is added.
template <class T>
void check_beta(const Case& c) {
    Pool pool(Pool::Sharing::one_thread);
    const kernels::Depthwise d = c.sizes();
    const Tensor<T> x = cast<T>(normals(c.x, 1)), w = cast<T>(normals(c.w(), 2));
    const Tensor<T> dy = cast<T>(normals(naive_shape(c.x, c.w(), c.grouped()), 3));
    const double tolerance = 20 * static_cast<double>(std::numeric_limits<T>::epsilon());
    const auto check = [&](const Shape& shape, const auto& compute) {
        Tensor<T> alone = Tensor<T>::full(shape, T(7)), sum = Tensor<T>::full(shape, T(3));
        compute(T(0), alone.mutable_data());
        compute(T(1), sum.mutable_data());
        Tensor<double> expected = cast<double>(alone);
        for (double& v : expected.mutable_values()) v += 3;
        check_near(sum, expected, tolerance);
    };
    check(c.x, [&](T beta, T* dx) { kernels::depthwise_dx(d, dy.data(), w.data(), beta, dx); });
    check(c.w(), [&](T beta, T* dw) { kernels::depthwise_dw(d, x.data(), dy.data(), beta, dw, pool); });
}

// y and dx of an item have the same bits alone and among others.
template <class T>
void check_alone(Case c) {
    const kernels::Depthwise d = c.sizes();
    const Shape shape = naive_shape(c.x, c.w(), c.grouped());
    const Tensor<T> x = cast<T>(normals(c.x, 1)), w = cast<T>(normals(c.w(), 2)), dy = cast<T>(normals(shape, 3));
    Tensor<T> y = Tensor<T>::zeros(shape), dx = Tensor<T>::zeros(c.x);
    kernels::depthwise_y(d, x.data(), w.data(), {}, y.mutable_data());
    kernels::depthwise_dx(d, dy.data(), w.data(), T(0), dx.mutable_data());
    kernels::Depthwise one = d;
    one.sizes.batch = 1;
    const std::int64_t of_x = x.size() / c.x[0], of_y = y.size() / c.x[0];
    Tensor<T> y1 = Tensor<T>::zeros({of_y}), dx1 = Tensor<T>::zeros({of_x});
    for (std::int64_t n = 0; n < c.x[0]; ++n) {
        kernels::depthwise_y(one, x.data() + n * of_x, w.data(), {}, y1.mutable_data());
        kernels::depthwise_dx(one, dy.data() + n * of_y, w.data(), T(0), dx1.mutable_data());
        BOOST_TEST(same_bits(y1.data(), y.data() + n * of_y, of_y));
        BOOST_TEST(same_bits(dx1.data(), dx.data() + n * of_x, of_x));
    }
}

}  // namespace

BOOST_AUTO_TEST_CASE(values_and_gradients) {
    for (const Case& c : cases) {
        BOOST_TEST_CONTEXT("x " << to_string(c.x) << " w " << to_string(c.w())) {
            check_values<float>(c);
            check_values<double>(c);
        }
    }
}

BOOST_AUTO_TEST_CASE(groups_of_few_channels) {
    const auto use = [](const Case& c) { return kernels::depthwise_use(c.sizes().sizes); };
    BOOST_TEST(use({{2, 3, 9, 9}}));
    BOOST_TEST(use({{2, 32, 9, 9}, 8, {3, 3}, same, 8}));
    BOOST_TEST(!use({{2, 32, 9, 9}, 16, {3, 3}, same, 16}));
    BOOST_TEST(!use({{2, 1, 9, 9}, 2}));  // one group
}

BOOST_AUTO_TEST_CASE(fused_with_relu_and_pooling) {
    for (const Case& c :
         {Case{{3, 4, 9, 11}, 1, {3, 3}, same}, Case{{2, 3, 70, 91}, 2, {3, 3}, same},
          Case{{2, 3, 18, 40}, 1, {3, 3}, {.stride = {2, 2}}}, Case{{2, 8, 12, 14}, 3, {3, 3}, same, 4}}) {
        check_fused<float>(c);
        check_fused<double>(c);
    }
}

BOOST_AUTO_TEST_CASE(results_are_added) {
    for (const Case& c : cases) {
        if (!kernels::depthwise_use(c.sizes().sizes)) continue;
        check_beta<float>(c);
        check_beta<double>(c);
    }
}

BOOST_AUTO_TEST_CASE(an_item_does_not_see_the_others) {
    check_alone<float>({{37, 6, 9, 7}, 2, {3, 3}, same});
    check_alone<float>({{37, 6, 5, 19}, 4, {3, 3}, {.stride = {2, 1}}, 2});
    check_alone<double>({{9, 33, 20, 21}, 1, {3, 3}, {.stride = {2, 2}, .padding = {1, 1}}});
}

BOOST_AUTO_TEST_CASE(same_bits_on_any_number_of_threads) {
    check_same_bits<float>(Case{{12, 40, 32, 32}}.op(), normals({12, 40, 32, 32}, 1), normals({40, 1, 3, 3}, 2));
    check_same_bits<double>(Case{{8, 40, 33, 31}, 2, {3, 3}, {.stride = {2, 2}}}.op(), normals({8, 40, 33, 31}, 1),
                            normals({80, 1, 3, 3}, 2));
    check_same_bits<float>(Case{{12, 32, 20, 20}, 8, {3, 3}, same, 8}.op(), normals({12, 32, 20, 20}, 1),
                           normals({32, 8, 3, 3}, 2));
    std::vector<std::vector<Tensor<float>>> all;
    for (const int threads : {1, 3})
        with_threads(threads, [&] {
            all.push_back(value_and_gradients<float>(Case{{60, 64, 8, 8}}.op(), normals({60, 64, 8, 8}, 1),
                                                     normals({64, 1, 3, 3}, 2)));
        });
    for (std::size_t k = 0; k < 3; ++k) BOOST_TEST(same_bits(all[0][k].data(), all[1][k].data(), all[0][k].size()));
}

BOOST_AUTO_TEST_CASE(not_a_number_and_infinity_reach_the_pixels_around_them) {
    for (const double number : {std::nan(""), std::numeric_limits<double>::infinity()})
        for (const Case& c :
             {Case{{1, 2, 6, 20}, 1, {3, 3}, same}, Case{{1, 2, 12, 40}, 1, {3, 3}, {.stride = {2, 2}}}}) {
            const auto ok = [&](const Tensor<double>& got, const Tensor<double>& expected) {
                for (std::int64_t i = 0; i < got.size(); ++i)
                    if (std::isfinite(got.data()[i]) != std::isfinite(expected.data()[i]) ||
                        std::isnan(got.data()[i]) != std::isnan(expected.data()[i]))
                        return false;
                return true;
            };
            Tensor<double> x = Tensor<double>::ones(c.x);
            x.mutable_at(0, 1, 1, 19) = number;
            x.mutable_at(0, 0, 0, 0) = number;
            const Tensor<double> w = Tensor<double>::ones(c.w());
            const auto got = value_and_gradients<double>(c.op(), x, w), expected = naive_conv2d(x, w, c.grouped());
            for (std::size_t k = 0; k < 3; ++k) BOOST_TEST(ok(got[k], expected[k]));
        }
}

BOOST_AUTO_TEST_CASE(empty) {
    for (const auto& [x, w] :
         std::vector<std::pair<Shape, Shape>>{{{0, 2, 5, 5}, {2, 1, 3, 3}}, {{2, 2, 5, 5}, {0, 1, 3, 3}}}) {
        const auto all = value_and_gradients<double>([](auto a, auto b) { return conv2d(a, b, {.groups = 2}); },
                                                     normals(x), normals(w));
        for (const Tensor<double>& tensor : all)
            for (const double number : tensor) BOOST_TEST(number == 0);
    }
    const auto all = value_and_gradients<float>(Case{{2, 3, 0, 4}, 1, {3, 3}, {.padding = {2, 1}}}.op(),
                                                normals({2, 3, 0, 4}), normals({3, 1, 3, 3}));
    BOOST_TEST(all[0].size() == 2 * 3 * 2 * 4);
    for (const Tensor<float>& tensor : {all[0], all[2]})
        for (const float number : tensor) BOOST_TEST(number == 0);
}

// Without input channels y is the bias, and without output channels dL/dx is 0: also on a thread that has no scratch
// memory yet.
BOOST_AUTO_TEST_CASE(no_channels) {
    const auto check = [](const Shape& x, const Shape& w, std::size_t zeros) {
        std::vector<Tensor<double>> all;
        std::thread([&] {
            all = value_and_gradients<double>(
                [](auto a, auto b, auto c) { return conv2d_relu_max_pool2d(a, b, c, {.groups = 2}); }, normals(x),
                normals(w), Tensor<double>::ones({w[0]}));
        }).join();
        if (w[0] > 0)
            for (const double number : all[0]) BOOST_TEST(number == 1);
        for (const double number : all[zeros]) BOOST_TEST(number == 0);
    };
    check({1, 0, 4, 4}, {2, 0, 3, 3}, 2);
    check({2, 2, 5, 5}, {0, 1, 3, 3}, 1);
}

BOOST_AUTO_TEST_SUITE_END()
