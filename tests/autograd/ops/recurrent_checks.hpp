#pragma once

#include "same_bits.hpp"

#include <algorithm>
#include <limits>
#include <utility>

// What gru and lstm both have to do. f is the op and `reference` the same in ops of its own; both take a list of Vars.
namespace pollen::test::recurrent {

// x (items, steps, gates hidden), w (gates hidden, hidden) and, where there is one, a bias.
inline std::vector<Tensor<double>> sequences(const Shape& states, std::int64_t gates, bool with_bias) {
    const std::int64_t hidden = states[2];
    std::vector<Tensor<double>> all{normals({states[0], states[1], gates * hidden}, 1),
                                    uniforms({gates * hidden, hidden}, -0.6, 0.6, 2)};
    if (with_bias) all.push_back(normals({hidden}, 3));
    return all;
}

// Step t of x (items, steps, width), gate k of it.
template <class V>
V gate(const V& x, std::int64_t step, std::int64_t k, std::int64_t hidden) {
    const V all = reshape(slice(x, 1, step, step + 1), {x.shape()[0], x.shape()[2]});
    return slice(all, 1, k * hidden, (k + 1) * hidden);
}

// f(list of Vars) and its gradients, as in value_and_gradients.
template <class T, class F>
std::vector<Tensor<T>> evaluated(const F& f, const std::vector<Tensor<double>>& in) {
    Tape<T> tape;
    std::vector<Var<T>> x;
    for (const Tensor<double>& numbers : in) x.push_back(tape.variable(cast<T>(numbers)));
    const Var<T> y = f(std::span<const Var<T>>(x));
    tape.backward(y, cast<T>(normals(y.shape(), 11)));
    std::vector<Tensor<T>> all{y.value()};
    for (const Var<T>& input : x) all.push_back(input.grad());
    return all;
}

// Values and all gradients, to 100 units in the last place of the largest number.
template <class T, class F, class Reference>
void check_against(const F& f, const Reference& reference, const std::vector<Tensor<double>>& inputs) {
    std::vector<Tensor<double>> in;
    for (const Tensor<double>& x : inputs) in.push_back(cast<double>(cast<T>(x)));
    const auto got = evaluated<T>(f, in);
    const auto exact = evaluated<double>(reference, in);
    for (std::size_t k = 0; k < got.size(); ++k)
        BOOST_TEST_CONTEXT(to_string(in[0].shape()) << ", " << (k == 0 ? "value" : "gradient of input ") << k)
    check_near(got[k], exact[k], 100 * static_cast<double>(std::numeric_limits<T>::epsilon()));
}

template <class F, class Reference>
void check_values(const F& f, const Reference& reference, std::int64_t gates, bool with_bias) {
    for (const Shape& states :
         {Shape{2, 3, 4}, Shape{1, 1, 1}, Shape{3, 5, 1}, Shape{1, 7, 17}, Shape{40, 4, 33}, Shape{130, 2, 64}}) {
        const auto in = sequences(states, gates, with_bias);
        check_against<float>(f, reference, in);
        check_against<double>(f, reference, in);
    }
}

template <class F>
void check_no_items_and_no_steps(const F& f, std::int64_t gates, bool with_bias) {
    for (const Shape& states : {Shape{0, 3, 4}, Shape{2, 0, 4}, Shape{2, 3, 0}}) {
        const auto all = evaluated<float>(f, sequences(states, gates, with_bias));
        BOOST_TEST(to_string(all[0].shape()) == to_string(states));
        for (std::size_t k = 1; k < all.size(); ++k)
            for (const float number : all[k]) BOOST_TEST(number == 0);
    }
}

// Each set of inputs that need a gradient, and none: the values have the same bits.
template <class F>
void check_gradients_not_wanted(const F& f, std::int64_t gates, bool with_bias) {
    const auto in = sequences({3, 4, 5}, gates, with_bias);
    const auto all = evaluated<float>(f, in);
    for (unsigned wanted = 0; wanted < (1u << in.size()); ++wanted) {
        Tape<float> tape;
        std::vector<Var<float>> x;
        for (std::size_t k = 0; k < in.size(); ++k)
            x.push_back(wanted >> k & 1 ? tape.variable(cast<float>(in[k])) : tape.constant(cast<float>(in[k])));
        const Var<float> y = f(std::span<const Var<float>>(x));
        BOOST_TEST(y.value() == all[0]);
        if (wanted == 0) continue;
        tape.backward(y, cast<float>(normals(y.shape(), 11)));
        for (std::size_t k = 0; k < in.size(); ++k)
            if (wanted >> k & 1) BOOST_TEST(x[k].grad() == all[k + 1], "input " << k << " of those in " << wanted);
    }
}

// The states of an item do not depend on the others, nor those of a step on later steps.
template <class F>
void check_items_by_themselves(const F& f, std::int64_t gates, bool with_bias) {
    const auto in = sequences({5, 4, 19}, gates, with_bias);
    const auto at = [&](const Tensor<double>& x) {
        Tape<float> tape;
        std::vector<Var<float>> v{tape.constant(cast<float>(x))};
        for (std::size_t k = 1; k < in.size(); ++k) v.push_back(tape.constant(cast<float>(in[k])));
        return f(std::span<const Var<float>>(v)).value();
    };
    const Tensor<float> all = at(in[0]);
    const std::int64_t numbers = 4 * gates * 19, two_steps = 2 * gates * 19;
    for (std::int64_t item = 0; item < 5; ++item) {
        const Tensor<float> alone =
            at(Tensor<double>({1, 4, gates * 19}, in[0].values().subspan(static_cast<std::size_t>(item * numbers),
                                                                         static_cast<std::size_t>(numbers))));
        BOOST_TEST(std::equal(alone.begin(), alone.end(), all.data() + item * 4 * 19));
        const Tensor<float> first =
            at(Tensor<double>({1, 2, gates * 19}, in[0].values().subspan(static_cast<std::size_t>(item * numbers),
                                                                         static_cast<std::size_t>(two_steps))));
        BOOST_TEST(std::equal(first.begin(), first.end(), all.data() + item * 4 * 19));
    }
}

}  // namespace pollen::test::recurrent
