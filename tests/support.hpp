#pragma once

#include <pollen/autograd/gradcheck.hpp>
#include <pollen/autograd/ops.hpp>
#include <pollen/autograd/random.hpp>
#include <pollen/autograd/support/error.hpp>
#include <pollen/autograd/tape.hpp>

#include <boost/test/unit_test.hpp>

#include <cmath>
#include <string>
#include <vector>

// The namespace of a suite is NAME_suite instead of Boost's NAME: several tests are compiled together, and a suite has
// the name of what it tests.
#undef BOOST_AUTO_TEST_SUITE_WITH_DECOR
#define BOOST_AUTO_TEST_SUITE_WITH_DECOR(name, decorators) \
    namespace name##_suite {                               \
        BOOST_AUTO_TU_REGISTRAR(name)(BOOST_STRINGIZE(name), __FILE__, __LINE__, decorators);

// What every test of an op needs.
namespace pollen::test {

// Normal numbers, the same in every run.
inline Tensor<double> normals(const Shape& shape, std::uint64_t seed = 1) {
    Random random(seed);
    Tensor<double> tensor = Tensor<double>::zeros(shape);
    for (double& x : tensor.mutable_values()) x = random.normal<double>();
    return tensor;
}

// Uniform numbers between low and high: inside the domain of a function, away from a kink.
inline Tensor<double> uniforms(const Shape& shape, double low, double high, std::uint64_t seed = 1) {
    Random random(seed);
    Tensor<double> tensor = Tensor<double>::zeros(shape);
    for (double& x : tensor.mutable_values()) x = low + (high - low) * random.uniform<double>();
    return tensor;
}

// The value of a function of variables, without gradients. f is a generic callable on Vars.
template <class T, class F, class... Inputs>
Tensor<T> value(const F& f, const Inputs&... inputs) {
    Tape<T> tape;
    return f(tape.variable(cast<T>(inputs))...).value();
}

// Shapes equal and every number within `ulps` units of the last place of T (relative to the expected number), or equal,
// or both NaN.
template <class T>
void check_close(const Tensor<T>& got, const Tensor<double>& expected, double ulps) {
    BOOST_REQUIRE_EQUAL(to_string(got.shape()), to_string(expected.shape()));
    for (std::int64_t i = 0; i < got.size(); ++i) {
        const double a = static_cast<double>(got.data()[i]), b = expected.data()[i];
        if ((std::isnan(a) && std::isnan(b)) || static_cast<T>(a) == static_cast<T>(b)) continue;
        const double unit = std::max(std::abs(b), static_cast<double>(std::numeric_limits<T>::min())) *
                            static_cast<double>(std::numeric_limits<T>::epsilon());
        BOOST_TEST(std::abs(a - b) <= ulps * unit, "element " << i << ": got " << a << ", expected " << b << ", off by "
                                                              << std::abs(a - b) / unit << " ulp");
    }
}

// Gradients of a generic callable f(x...): the tape against central differences in double; float against double; and,
// for what an op does when it is not the first to write a gradient, every input used a second time beside f.
template <class F, class... Inputs>
void check_gradients(const F& f, const Inputs&... inputs) {
    const std::vector<Tensor<double>> points{inputs...};
    const auto call = [&](auto x) {
        return [&]<std::size_t... k>(std::index_sequence<k...>) { return f(x[k]...); }
        (std::index_sequence_for<Inputs...>{});
    };
    const auto once = [&](std::span<const Var<double>> x) { return call(x); };
    const GradcheckResult plain = gradcheck(once, points);
    BOOST_TEST(plain.ok, plain.message);

    const auto again = [&](std::span<const Var<double>> x) {
        Var<double> y = sum(call(x));
        for (const Var<double>& input : x) y = y + sum(input * input);
        return y;
    };
    const GradcheckResult shared = gradcheck(again, points);
    BOOST_TEST(shared.ok, "with every input used twice: " << shared.message);

    Tape<double> tape;
    Tape<float> tape_float;
    std::vector<Var<double>> x;
    std::vector<Var<float>> x_float;
    for (const Tensor<double>& point : points) {
        x.push_back(tape.variable(point));
        x_float.push_back(tape_float.variable(cast<float>(point)));
    }
    const Var<double> y = call(x);
    const Var<float> y_float = call(x_float);
    const Tensor<double> seed = normals(y.shape(), 7);
    tape.backward(y, seed);
    tape_float.backward(y_float, cast<float>(seed));
    BOOST_TEST(allclose(cast<double>(y_float.value()), y.value(), 2e-4, 2e-4), "float and double values differ");
    for (std::size_t k = 0; k < points.size(); ++k)
        BOOST_TEST(allclose(cast<double>(x_float[k].grad()), x[k].grad(), 1e-3, 1e-3),
                   "float and double gradients of input " << k << " differ");
}

// The message of the exception that f() throws, of type E exactly as named; empty if there is none.
template <class E, class F>
std::string error_of(const F& f) {
    try {
        f();
    } catch (const E& error) {
        return error.what();
    }
    return "";
}

}  // namespace pollen::test
