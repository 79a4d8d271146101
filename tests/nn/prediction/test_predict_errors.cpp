#include "../../support.hpp"

#include <pollen/autograd/support/interrupt.hpp>
#include <pollen/nn/layers.hpp>
#include <pollen/nn/module/sequential.hpp>
#include <pollen/nn/prediction/predictive.hpp>

#include <csignal>

using namespace pollen;
using namespace pollen::test;

// A message about an input has the number of its row among all, not in a piece.
BOOST_AUTO_TEST_SUITE(predict_errors)

namespace {

constexpr std::int64_t items = 40;

Sequential<double> network() {
    Sequential<double> net{Embedding<double>(4, 3), Flatten<double>(), Dropout<double>(0.2), Dense<double>(6, 2)};
    initialise<double>(net, 1);
    return net;
}

Tensor<double> inputs(const std::vector<std::int64_t>& wrong_rows) {
    Tensor<double> x = Tensor<double>::ones({items, 2});
    for (const std::int64_t row : wrong_rows) x.mutable_at(row, 1) = 7;
    return x;
}

std::string error(const Tensor<double>& x, std::optional<std::int64_t> batch, Mode mode = Mode::predict) {
    return error_of<ValueError>([&] { predict(network(), x, {.batch = batch, .mode = mode}); });
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_wrong_row_is_named) {
    const std::string says = " of the inputs, alone: Embedding: input 1 is 7; whole numbers from 0 to 3 are needed";
    for (const std::optional<std::int64_t> batch : {std::optional<std::int64_t>(), {1}, {3}, {16}, {1000}})
        for (const Mode mode : {Mode::predict, Mode::sample}) {
            BOOST_TEST(error(inputs({29}), batch, mode) == "item 29" + says);
            BOOST_TEST(error(inputs({0}), batch, mode) == "item 0" + says);
            BOOST_TEST(error(inputs({17, 38}), batch, mode) == "item 17" + says);
            BOOST_TEST(error(inputs({}), batch, mode) == "");
        }
    BOOST_TEST(error_of<ValueError>([&] {
                   each_sample<double>(network(), inputs({29}), {.samples = 2, .batch = 16}, [](const auto&) {});
               }) == "item 29" + says);
    BOOST_TEST(error_of<ValueError>([&] {
                   predict(network(), Tensor<double>::full({1, 2}, 9));
               }) == "Embedding: input 0 is 9; whole numbers from 0 to 3 are needed");
}

// If more is wrong than a row, the message has the rows that were evaluated together.
BOOST_AUTO_TEST_CASE(wrong_rows_are_named) {
    const std::string says = "Embedding: input 1 is 7; whole numbers from 0 to 3 are needed";
    BOOST_TEST(error(inputs({0, 1}), 1000) == says);
    BOOST_TEST(error(inputs({0, 1}), 20) == "rows 0 to 19 of the inputs: " + says);
    BOOST_TEST(error(inputs({20, 21, 30}), 20) == "rows 20 to 39 of the inputs: " + says);
    // After Ctrl-C the rows are not evaluated one by one.
    const Interrupt interrupt;
    std::raise(SIGINT);
    BOOST_TEST(error(inputs({29}), 20) ==
               "rows 20 to 39 of the inputs: Embedding: input 19 is 7; whole numbers from "
               "0 to 3 are needed");
}

// Beyond it draws would share their random numbers.
BOOST_AUTO_TEST_CASE(the_number_of_a_draw) {
    const auto error = [](std::uint64_t draw, Mode mode) {
        return error_of<ValueError>([&] { predict(network(), inputs({}), {.mode = mode, .draw = draw}); });
    };
    BOOST_TEST(error(4294967295, Mode::sample) == "");
    BOOST_TEST(error(4294967296, Mode::sample) == "predict: draw 4294967296; it must be below 4294967296");
    BOOST_TEST(error(4294967296, Mode::predict) == "");
}

BOOST_AUTO_TEST_SUITE_END()
