#include "recurrent_checks.hpp"

using namespace pollen;
using namespace pollen::test;

BOOST_AUTO_TEST_SUITE(lstm)

namespace {

const auto op = [](auto... x) { return pollen::lstm(x...); };
const auto listed = [](auto x) { return pollen::lstm(x[0], x[1]); };

// The formulas, step by step, in ops of their own.
const auto reference = [](auto x, auto w) {
    const std::int64_t items = x.shape()[0], hidden = w.shape()[1];
    auto h = slice(slice(x, 1, 0, 1), 2, 0, hidden) * 0.0;
    h = reshape(h, {items, hidden});
    auto c = h * 1.0;
    std::vector<decltype(h)> states;
    for (std::int64_t t = 0; t < x.shape()[1]; ++t) {
        const auto p = matmul(h, w, {.transpose_y = true});
        const auto of = [&](std::int64_t k) {
            const auto from_input = recurrent::gate(x, t, k, hidden);
            return from_input + slice(p, 1, k * hidden, (k + 1) * hidden);
        };
        const auto i = sigmoid(of(0)), f = sigmoid(of(1)), g = tanh(of(2)), o = sigmoid(of(3));
        const auto kept = f * c, fresh = i * g;
        c = kept + fresh;
        h = o * tanh(c);
        states.push_back(h);
    }
    return stack(std::span<const decltype(h)>(states), 1);
};

const auto listed_reference = [](auto x) { return reference(x[0], x[1]); };

}  // namespace

BOOST_AUTO_TEST_CASE(values_and_gradients) { recurrent::check_values(listed, listed_reference, 4, false); }

// Two steps of one number. All gates are 1/2 but g = tanh(log 2) = 3/5: the cells are 3/10 and 9/20.
BOOST_AUTO_TEST_CASE(by_hand) {
    const Tensor<double> x({1, 2, 4}, {0, 0, std::log(2.0), 0, 0, 0, std::log(2.0), 0}),
        w = Tensor<double>::zeros({4, 1});
    const Tensor<double> y = value<double>(op, x, w);
    BOOST_TEST(y.data()[0] == std::tanh(0.3) / 2, boost::test_tools::tolerance(1e-15));
    BOOST_TEST(y.data()[1] == std::tanh(0.45) / 2, boost::test_tools::tolerance(1e-15));
}

BOOST_AUTO_TEST_CASE(gradients) {
    const auto in = recurrent::sequences({2, 3, 4}, 4, false);
    check_gradients(op, in[0], in[1]);
    const auto one = recurrent::sequences({1, 1, 1}, 4, false);
    check_gradients(op, one[0], one[1]);
}

BOOST_AUTO_TEST_CASE(no_items_and_no_steps) { recurrent::check_no_items_and_no_steps(listed, 4, false); }

BOOST_AUTO_TEST_CASE(gradients_that_are_not_wanted) { recurrent::check_gradients_not_wanted(listed, 4, false); }

BOOST_AUTO_TEST_CASE(items_by_themselves) { recurrent::check_items_by_themselves(listed, 4, false); }

BOOST_AUTO_TEST_CASE(same_bits_on_any_number_of_threads) {
    const auto in = recurrent::sequences({300, 5, 96}, 4, false);
    check_same_bits<float>(op, in[0], in[1]);
    check_same_bits<double>(op, in[0], in[1]);
}

// From its step on, and in its item alone.
BOOST_AUTO_TEST_CASE(not_a_number) {
    auto in = recurrent::sequences({2, 3, 2}, 4, false);
    in[0].mutable_at(0, 1, 4) = std::numeric_limits<double>::quiet_NaN();
    const Tensor<double> y = value<double>(op, in[0], in[1]);
    for (std::int64_t i = 0; i < y.size(); ++i)
        BOOST_TEST(std::isnan(y.data()[i]) == (i == 2 || i == 4 || i == 5), "element " << i);
}

BOOST_AUTO_TEST_CASE(errors) {
    const auto error = [](const Shape& x, const Shape& w) {
        return error_of<ShapeError>([&] {
            Tape<float> tape;
            const auto zeros = [&](const Shape& shape) { return tape.variable(Tensor<float>::zeros(shape)); };
            const auto a = zeros(x), b = zeros(w);
            pollen::lstm(a, b);
        });
    };
    BOOST_TEST(error({2, 3, 8}, {8, 2, 1}) == "lstm: w has shape (8, 2, 1); (4 hidden, hidden) is needed");
    BOOST_TEST(error({2, 3, 8}, {6, 2}) == "lstm: w has shape (6, 2); (4 hidden, hidden) is needed");
    BOOST_TEST(error({2, 3, 6}, {8, 2}) == "lstm: x has shape (2, 3, 6) for w (8, 2); (items, steps, 8) is needed");
}

BOOST_AUTO_TEST_SUITE_END()
