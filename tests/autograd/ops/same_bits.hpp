#pragma once

#include "../../support.hpp"

#include <pollen/autograd/parallel.hpp>

#include <cstring>

namespace pollen::test {

// f(Vars...) and its gradients, for one seed dL/df, as one list of tensors.
template <class T, class F, class... Inputs>
std::vector<Tensor<T>> value_and_gradients(const F& f, const Inputs&... inputs) {
    Tape<T> tape;
    const std::vector<Var<T>> x{tape.variable(cast<T>(inputs))...};
    const Var<T> y = [&]<std::size_t... k>(std::index_sequence<k...>) { return f(x[k]...); }
    (std::index_sequence_for<Inputs...>{});
    tape.backward(y, cast<T>(normals(y.shape(), 11)));
    std::vector<Tensor<T>> all{y.value()};
    for (const Var<T>& input : x) all.push_back(input.grad());
    return all;
}

// The value and all gradients have the same bits on 1, 2, 4 and 8 threads.
template <class T, class F, class... Inputs>
void check_same_bits(const F& f, const Inputs&... inputs) {
    std::vector<Tensor<T>> one;
    with_threads(1, [&] { one = value_and_gradients<T>(f, inputs...); });
    for (const int threads : {2, 4, 8}) {
        std::vector<Tensor<T>> many;
        with_threads(threads, [&] { many = value_and_gradients<T>(f, inputs...); });
        for (std::size_t k = 0; k < one.size(); ++k) {
            const bool same =
                std::memcmp(one[k].data(), many[k].data(), static_cast<std::size_t>(one[k].size()) * sizeof(T)) == 0;
            BOOST_TEST(same, (k == 0 ? "the value" : "a gradient") << " differs at " << threads << " threads");
        }
    }
}

// Shapes equal and every number within rtol of the largest expected one: for sums, whose rounding errors are relative
// to their terms.
template <class T>
void check_near(const Tensor<T>& got, const Tensor<double>& expected, double rtol) {
    BOOST_REQUIRE_EQUAL(to_string(got.shape()), to_string(expected.shape()));
    double largest = 0, worst = 0;
    for (const double x : expected) largest = std::max(largest, std::abs(x));
    for (std::int64_t i = 0; i < got.size(); ++i) {
        const double error = std::abs(static_cast<double>(got.data()[i]) - expected.data()[i]);
        worst = error > worst || std::isnan(error) ? error : worst;
    }
    BOOST_TEST(worst <= rtol * largest, "off by " << worst << " where the largest number is " << largest);
}

}  // namespace pollen::test
