#include "same_bits.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace pollen;
using namespace pollen::test;

BOOST_AUTO_TEST_SUITE(filter_response_norm)

namespace {

constexpr double epsilon = 1e-2;

const auto plain = [](auto... x) { return pollen::filter_response_norm(x..., epsilon); };
const auto with_swish = [](auto... x) { return pollen::filter_response_norm_swish(x..., epsilon); };

// The definition in ops of its own.
const auto reference = [](auto x, auto scale, auto shift, auto threshold) {
    const auto mean_square = mean(square(x), {2, 3}, true);
    const auto z = x * pow(mean_square + epsilon, -0.5) * scale + shift;
    return maximum(z, threshold);
};
const auto reference_swish = [](auto... x) { return swish(reference(x...)); };

// Images, scales, shifts and thresholds for which about half of the numbers are above the threshold.
std::vector<Tensor<double>> inputs(const Shape& shape) {
    const Shape each{shape[1], 1, 1};
    return {normals(shape, 1), uniforms(each, 0.5, 2, 2), uniforms(each, -0.5, 0.5, 3), uniforms(each, -0.5, 0.5, 4)};
}

// Values and all gradients, to 40 units in the last place of the largest number.
template <class T, class F, class Reference>
void check_against(const F& f, const Reference& expected, const Shape& shape) {
    std::vector<Tensor<double>> in;
    for (const Tensor<double>& x : inputs(shape)) in.push_back(cast<double>(cast<T>(x)));
    const auto got = value_and_gradients<T>(f, in[0], in[1], in[2], in[3]);
    const auto exact = value_and_gradients<double>(expected, in[0], in[1], in[2], in[3]);
    for (std::size_t k = 0; k < got.size(); ++k)
        BOOST_TEST_CONTEXT(to_string(shape) << ", " << (k == 0 ? "value" : "gradient of input ") << k)
    check_near(got[k], exact[k], 40 * static_cast<double>(std::numeric_limits<T>::epsilon()));
}

template <class F>
std::string error(const F& f, const Shape& x, const Shape& scale, const Shape& shift, const Shape& threshold) {
    return error_of<ShapeError>([&] {
        Tape<float> tape;
        const auto zeros = [&](const Shape& shape) { return tape.variable(Tensor<float>::zeros(shape)); };
        const auto u = zeros(x), a = zeros(scale), b = zeros(shift), c = zeros(threshold);
        f(u, a, b, c);
    });
}

bool all_nan(const Tensor<double>& x) {
    return std::all_of(x.begin(), x.end(), [](double v) { return std::isnan(v); });
}

}  // namespace

BOOST_AUTO_TEST_CASE(values_and_gradients) {
    for (const Shape& shape : {Shape{2, 3, 4, 5}, Shape{3, 2, 1, 7}, Shape{1, 1, 3, 3}, Shape{2, 5, 8, 8},
                               Shape{1, 3, 17, 31}, Shape{2, 2, 50, 41}, Shape{60, 9, 12, 12}}) {
        check_against<float>(plain, reference, shape);
        check_against<double>(plain, reference, shape);
        check_against<float>(with_swish, reference_swish, shape);
        check_against<double>(with_swish, reference_swish, shape);
    }
}

BOOST_AUTO_TEST_CASE(gradients) {
    const auto in = inputs({2, 3, 2, 3});
    check_gradients(plain, in[0], in[1], in[2], in[3]);
    check_gradients(with_swish, in[0], in[1], in[2], in[3]);
    // One tensor for the three.
    check_gradients([](auto x, auto a) { return plain(x, a, a, a); }, in[0], in[1]);
    check_gradients([](auto x, auto a) { return with_swish(x, a, a, a); }, in[0], in[1]);
}

// x / sqrt(x^2 + epsilon) is 3 / 5 for x = 3 and epsilon = 16: all numbers are exact but the last roundings.
BOOST_AUTO_TEST_CASE(images_of_one_pixel) {
    check_against<double>(plain, reference, {4, 3, 1, 1});
    check_against<float>(with_swish, reference_swish, {4, 3, 1, 1});
    const auto f = [](auto x, auto a, auto b, auto c) { return pollen::filter_response_norm(x, a, b, c, 16); };
    const Shape one{1, 1, 1};
    const Tensor<double> scale = Tensor<double>::full(one, 10), shift = Tensor<double>::full(one, 1);
    const Tensor<double> y =
        value<double>(f, Tensor<double>(Shape{3, 1, 1, 1}, {3, 0, -3}), scale, shift, Tensor<double>::full(one, -2));
    BOOST_TEST(allclose(y, Tensor<double>(Shape{3, 1, 1, 1}, {7, 1, -2}), 1e-15, 0.0));
}

BOOST_AUTO_TEST_CASE(no_images_and_no_channels) {
    for (const Shape& shape : {Shape{0, 3, 4, 4}, Shape{2, 0, 4, 4}}) {
        const auto in = inputs(shape);
        for (const auto& all : {value_and_gradients<float>(plain, in[0], in[1], in[2], in[3]),
                                value_and_gradients<float>(with_swish, in[0], in[1], in[2], in[3])}) {
            BOOST_TEST(to_string(all[0].shape()) == to_string(shape));
            for (const Tensor<float>& tensor : all)
                for (const float number : tensor) BOOST_TEST(number == 0);
        }
    }
}

// At the threshold half of the gradient goes to each side, as in maximum(). All numbers are exact: x = 0 and
// epsilon = 1 / 4 give z = shift and 1 / sqrt(mean x^2 + epsilon) = 2.
BOOST_AUTO_TEST_CASE(ties) {
    const auto f = [](auto x, auto a, auto b, auto c) { return pollen::filter_response_norm(x, a, b, c, 0.25); };
    const Shape one{1, 1, 1};
    const Tensor<double> x = Tensor<double>::zeros({1, 1, 2, 2}), scale = Tensor<double>::full(one, 3);
    const Tensor<double> shift = Tensor<double>::full(one, 0.5), g = normals(x.shape(), 11);
    const double sum = (g.data()[0] + g.data()[1]) + (g.data()[2] + g.data()[3]);
    const auto all = value_and_gradients<double>(f, x, scale, shift, shift);
    BOOST_TEST(all[0] == Tensor<double>::full(x.shape(), 0.5));
    for (std::int64_t i = 0; i < 4; ++i) BOOST_TEST(all[1].data()[i] == 2 * 3 * g.data()[i] / 2);
    BOOST_TEST(all[2].item() == 0);
    BOOST_TEST(all[3].item() == sum / 2, boost::test_tools::tolerance(1e-15));
    BOOST_TEST(all[4].item() == sum / 2, boost::test_tools::tolerance(1e-15));
}

// A number that is none passes, wherever it is: never does a threshold hide it.
BOOST_AUTO_TEST_CASE(not_a_number) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    for (const bool swish : {false, true})
        for (std::size_t k = 0; k < 4; ++k) {
            auto in = inputs({2, 2, 3, 3});
            in[k].mutable_data()[0] = nan;  // in the first channel; of x only in the first image
            const Tensor<double> y = swish ? value<double>(with_swish, in[0], in[1], in[2], in[3])
                                           : value<double>(plain, in[0], in[1], in[2], in[3]);
            const Tensor<double> expected = swish ? value<double>(reference_swish, in[0], in[1], in[2], in[3])
                                                  : value<double>(reference, in[0], in[1], in[2], in[3]);
            for (std::int64_t i = 0; i < y.size(); ++i) {
                const bool hit = i < 9 || (k > 0 && i >= 18 && i < 27);
                BOOST_TEST(std::isnan(y.data()[i]) == hit, "input " << k << ", element " << i);
                BOOST_TEST(std::isnan(expected.data()[i]) == hit);
            }
        }
    // So do their gradients.
    auto in = inputs({1, 1, 3, 3});
    in[0].mutable_data()[4] = nan;
    const auto check = [&](const auto& op) {
        const auto all = value_and_gradients<double>(op, in[0], in[1], in[2], in[3]);
        BOOST_TEST(all_nan(all[1]));
        BOOST_TEST(all_nan(all[2]));
    };
    check(plain);
    check(with_swish);
}

BOOST_AUTO_TEST_CASE(gradients_that_are_not_wanted) {
    const auto in = inputs({3, 2, 4, 3});
    for (const bool swish : {false, true}) {
        const auto f = [&](auto... x) { return swish ? with_swish(x...) : plain(x...); };
        const auto all = value_and_gradients<float>(f, in[0], in[1], in[2], in[3]);
        for (unsigned wanted = 0; wanted < 16; ++wanted) {
            Tape<float> tape;
            std::vector<Var<float>> x;
            for (std::size_t k = 0; k < 4; ++k)
                x.push_back(wanted >> k & 1 ? tape.variable(cast<float>(in[k])) : tape.constant(cast<float>(in[k])));
            const Var<float> y = f(x[0], x[1], x[2], x[3]);
            BOOST_TEST(y.value() == all[0]);
            BOOST_TEST(y.needs_grad() == (wanted != 0));
            if (wanted == 0) continue;
            tape.backward(y, cast<float>(normals(y.shape(), 11)));
            for (std::size_t k = 0; k < 4; ++k)
                if (wanted >> k & 1) BOOST_TEST(x[k].grad() == all[k + 1], "input " << k << " of those in " << wanted);
        }
    }
}

// What an image gives does not depend on the others.
BOOST_AUTO_TEST_CASE(images_by_themselves) {
    const auto in = inputs({5, 3, 7, 6});
    const auto f = [](const Tensor<double>& x, const std::vector<Tensor<double>>& rest) {
        return value<float>(with_swish, x, rest[1], rest[2], rest[3]);
    };
    const Tensor<float> all = f(in[0], in);
    for (std::int64_t k = 0; k < 5; ++k) {
        Tensor<double> one = Tensor<double>::zeros({1, 3, 7, 6});
        std::copy_n(in[0].data() + k * one.size(), one.size(), one.mutable_data());
        const Tensor<float> alone = f(one, in);
        BOOST_TEST(std::equal(alone.begin(), alone.end(), all.data() + k * one.size()));
    }
}

BOOST_AUTO_TEST_CASE(same_bits_on_any_number_of_threads) {
    for (const Shape& shape : {Shape{40, 9, 33, 31}, Shape{700, 16, 4, 4}}) {
        const auto in = inputs(shape);
        check_same_bits<float>(plain, in[0], in[1], in[2], in[3]);
        check_same_bits<double>(with_swish, in[0], in[1], in[2], in[3]);
    }
}

BOOST_AUTO_TEST_CASE(errors) {
    const Shape x{2, 3, 4, 5}, each{3, 1, 1};
    const auto check = [&](const auto& f) {
        BOOST_TEST(error(f, {3, 4, 5}, each, each, each) ==
                   "filter_response_norm: x has shape (3, 4, 5); images (batch, channels, height, width) are needed");
        BOOST_TEST(error(f, {2, 3, 0, 5}, each, each, each) ==
                   "filter_response_norm: the images of x (2, 3, 0, 5) have no pixels");
        BOOST_TEST(error(f, x, {3}, each, each) ==
                   "filter_response_norm: scale has shape (3) for x (2, 3, 4, 5); one number for each channel, "
                   "(3, 1, 1), is needed");
        BOOST_TEST(error(f, x, each, {4, 1, 1}, each) ==
                   "filter_response_norm: shift has shape (4, 1, 1) for x (2, 3, 4, 5); one number for each channel, "
                   "(3, 1, 1), is needed");
        BOOST_TEST(error(f, x, each, each, {1, 3, 1, 1}) ==
                   "filter_response_norm: threshold has shape (1, 3, 1, 1) for x (2, 3, 4, 5); one number for each "
                   "channel, (3, 1, 1), is needed");
    };
    check(plain);
    check(with_swish);
}

BOOST_AUTO_TEST_SUITE_END()
