#include "recurrent_checks.hpp"

using namespace pollen;
using namespace pollen::test;

BOOST_AUTO_TEST_SUITE(gru)

namespace {

const auto op = [](auto... x) { return pollen::gru(x...); };
const auto listed = [](auto x) { return pollen::gru(x[0], x[1], x[2]); };

// The formulas, step by step, in ops of their own.
const auto reference = [](auto x, auto w, auto bias) {
    const std::int64_t items = x.shape()[0], hidden = w.shape()[1];
    auto h = slice(slice(x, 1, 0, 1), 2, 0, hidden) * 0.0;
    h = reshape(h, {items, hidden});
    std::vector<decltype(h)> states;
    for (std::int64_t t = 0; t < x.shape()[1]; ++t) {
        const auto p = matmul(h, w, {.transpose_y = true});
        const auto of = [&](std::int64_t k) { return slice(p, 1, k * hidden, (k + 1) * hidden); };
        const auto xr = recurrent::gate(x, t, 0, hidden), pr = of(0), r = sigmoid(xr + pr);
        const auto xz = recurrent::gate(x, t, 1, hidden), pz = of(1), z = sigmoid(xz + pz);
        const auto xn = recurrent::gate(x, t, 2, hidden), pn = of(2), n = tanh(xn + r * (pn + bias));
        const auto fresh = (1 - z) * n, kept = z * h;
        h = fresh + kept;
        states.push_back(h);
    }
    return stack(std::span<const decltype(h)>(states), 1);
};

const auto listed_reference = [](auto x) { return reference(x[0], x[1], x[2]); };

}  // namespace

BOOST_AUTO_TEST_CASE(values_and_gradients) { recurrent::check_values(listed, listed_reference, 3, true); }

// One step of one number: x = (0, log 3, 0) gives z = 3/4, r = 1/2, n = tanh(bias / 2), h = n / 4.
BOOST_AUTO_TEST_CASE(by_hand) {
    const Tensor<double> x({1, 1, 3}, {0, std::log(3.0), 0}), w({3, 1}, {1, 2, 3}), bias({1}, {std::log(4.0)});
    BOOST_TEST(value<double>(op, x, w, bias).item() == 0.6 / 4, boost::test_tools::tolerance(1e-15));
}

BOOST_AUTO_TEST_CASE(gradients) {
    const auto in = recurrent::sequences({2, 3, 4}, 3, true);
    check_gradients(op, in[0], in[1], in[2]);
    const auto one = recurrent::sequences({1, 1, 1}, 3, true);
    check_gradients(op, one[0], one[1], one[2]);
}

BOOST_AUTO_TEST_CASE(no_items_and_no_steps) { recurrent::check_no_items_and_no_steps(listed, 3, true); }

BOOST_AUTO_TEST_CASE(gradients_that_are_not_wanted) { recurrent::check_gradients_not_wanted(listed, 3, true); }

BOOST_AUTO_TEST_CASE(items_by_themselves) { recurrent::check_items_by_themselves(listed, 3, true); }

BOOST_AUTO_TEST_CASE(same_bits_on_any_number_of_threads) {
    const auto in = recurrent::sequences({300, 5, 96}, 3, true);
    check_same_bits<float>(op, in[0], in[1], in[2]);
    check_same_bits<double>(op, in[0], in[1], in[2]);
}

// From its step on, and in its item alone.
BOOST_AUTO_TEST_CASE(not_a_number) {
    auto in = recurrent::sequences({2, 3, 2}, 3, true);
    in[0].mutable_at(0, 1, 4) = std::numeric_limits<double>::quiet_NaN();
    const Tensor<double> y = value<double>(op, in[0], in[1], in[2]);
    for (std::int64_t i = 0; i < y.size(); ++i)
        BOOST_TEST(std::isnan(y.data()[i]) == (i == 2 || i == 4 || i == 5), "element " << i);
}

BOOST_AUTO_TEST_CASE(errors) {
    const auto error = [](const Shape& x, const Shape& w, const Shape& bias) {
        return error_of<ShapeError>([&] {
            Tape<float> tape;
            const auto zeros = [&](const Shape& shape) { return tape.variable(Tensor<float>::zeros(shape)); };
            const auto a = zeros(x), b = zeros(w), c = zeros(bias);
            pollen::gru(a, b, c);
        });
    };
    BOOST_TEST(error({2, 3, 6}, {6}, {2}) == "gru: w has shape (6); (3 hidden, hidden) is needed");
    BOOST_TEST(error({2, 3, 6}, {8, 2}, {2}) == "gru: w has shape (8, 2); (3 hidden, hidden) is needed");
    BOOST_TEST(error({2, 6}, {6, 2}, {2}) == "gru: x has shape (2, 6) for w (6, 2); (items, steps, 6) is needed");
    BOOST_TEST(error({2, 3, 5}, {6, 2}, {2}) == "gru: x has shape (2, 3, 5) for w (6, 2); (items, steps, 6) is needed");
    BOOST_TEST(error({2, 3, 6}, {6, 2}, {6}) == "gru: bias has shape (6) for w (6, 2); (2) is needed");
}

BOOST_AUTO_TEST_SUITE_END()
