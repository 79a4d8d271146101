#include "../../support.hpp"

using namespace pollen;
using namespace pollen::test;

BOOST_AUTO_TEST_SUITE(dropout)

namespace {

constexpr RandomKey key{.seed = 7, .stream = 3, .step = 2};

}  // namespace

BOOST_AUTO_TEST_CASE(keeps_what_the_uniforms_say) {
    for (const std::int64_t n : {0, 1, 5, 8, 31, 1000, 40000}) {
        const Tensor<double> x = normals({n});
        const Tensor<float> y = value<float>([](auto v) { return pollen::dropout(v, 0.25, key); }, x);
        for (std::int64_t i = 0; i < n; ++i) {
            const bool kept = uniform_at<float>(key, static_cast<std::uint64_t>(i)) >= 0.25f;
            const float expected = kept ? static_cast<float>(x.data()[i]) * (1 / 0.75f) : 0.0f;
            BOOST_TEST_REQUIRE(y.data()[i] == expected);
        }
    }
}

BOOST_AUTO_TEST_CASE(gradients_go_the_same_way) {
    Tape<double> tape;
    const auto x = tape.variable(normals({100}));
    const auto y = pollen::dropout(x, 0.5, key);
    const Tensor<double> seed = normals({100}, 2);
    tape.backward(y, seed);
    for (std::int64_t i = 0; i < 100; ++i)
        BOOST_TEST(x.grad().data()[i] == (y.value().data()[i] == 0 ? 0 : 2 * seed.data()[i]));
    const GradcheckResult result = gradcheck(
        [](std::span<const Var<double>> v) { return pollen::dropout(v[0], 0.3, key) * v[0]; }, {normals({4, 5})});
    BOOST_TEST(result.ok, result.message);
}

// Of 10^5 numbers 30000 are dropped on average, with a standard deviation of 145: five of them are a false alarm once
// in 1.7 million seeds.
BOOST_AUTO_TEST_CASE(drops_as_many_as_asked) {
    const Tensor<float> y =
        value<float>([](auto v) { return pollen::dropout(v, 0.3f, key); }, Tensor<double>::ones({100000}));
    std::int64_t dropped = 0;
    for (const float v : y) dropped += v == 0;
    BOOST_TEST(std::abs(static_cast<double>(dropped - 30000)) < 5 * 145);
}

BOOST_AUTO_TEST_CASE(rate_zero_keeps_all_and_errors_say_so) {
    const Tensor<double> x = normals({10});
    BOOST_TEST((value<double>([](auto v) { return pollen::dropout(v, 0, key); }, x) == x));
    for (const float rate : {1.0f, -0.5f})
        BOOST_TEST(
            error_of<ValueError>([&] { value<float>([&](auto v) { return pollen::dropout(v, rate, key); }, x); }) ==
            "dropout: rate is " + std::string(rate == 1 ? "1" : "-0.5") + "; it must be at least 0 and less than 1");
}

BOOST_AUTO_TEST_SUITE_END()
