#include "../support.hpp"

using namespace pollen;
using namespace pollen::test;

BOOST_AUTO_TEST_SUITE(tape)

// L = sum(tanh(x w)): by hand, dL/dx = w (1 - tanh^2), dL/dw = sum x (1 - tanh^2).
BOOST_AUTO_TEST_CASE(a_worked_example) {
    Tape<double> tape;
    const auto x = tape.variable({0.5, -1});
    const auto w = tape.variable(Tensor<double>::scalar(2));
    tape.backward(sum(tanh(x * w)));
    const double d0 = 1 - std::tanh(1.0) * std::tanh(1.0), d1 = 1 - std::tanh(2.0) * std::tanh(2.0);
    check_close(x.grad(), Tensor<double>{2 * d0, 2 * d1}, 4);
    check_close(w.grad(), Tensor<double>::scalar(0.5 * d0 - d1), 8);
}

BOOST_AUTO_TEST_CASE(gradients_add_up_until_zeroed) {
    Tape<double> tape;
    const auto x = tape.variable({1, 2});
    const auto y = sum(x * x);
    tape.backward(y);
    const Tensor<double> first = x.grad();
    BOOST_TEST((first == Tensor<double>{2, 4}));
    tape.backward(y);
    BOOST_TEST((x.grad() == Tensor<double>{4, 8}));
    BOOST_TEST((first == Tensor<double>{2, 4}), "a gradient that was taken away must not change");
    tape.zero_grad();
    BOOST_TEST((x.grad() == Tensor<double>{0, 0}));
    tape.backward(y);
    BOOST_TEST((x.grad() == Tensor<double>{2, 4}));
}

BOOST_AUTO_TEST_CASE(seeds_and_several_outputs) {
    Tape<double> tape;
    const auto x = tape.variable({1, 2, 3});
    const auto y = x * x;
    const auto z = sum(x);
    tape.backward(y, Tensor<double>{1, 0, 10});
    BOOST_TEST((x.grad() == Tensor<double>{2, 0, 60}));
    tape.zero_grad();
    tape.backward({{y, Tensor<double>{1, 1, 1}}, {z, Tensor<double>::scalar(100)}});
    BOOST_TEST((x.grad() == Tensor<double>{102, 104, 106}));
}

BOOST_AUTO_TEST_CASE(a_number_as_a_seed) {
    Tape<double> tape;
    const auto x = tape.variable({1, 2});
    const auto y = x * x;
    tape.backward(sum(y), -3);
    BOOST_TEST((x.grad() == Tensor<double>{-6, -12}));
    BOOST_TEST(error_of<TapeError>([&] { tape.backward(y, -3); }) ==
               "backward: the output has shape (2); give a seed of that shape, or reduce it to one number, for example "
               "by sum()");
}

BOOST_AUTO_TEST_CASE(gradients_are_added_to_numbers_of_one_s_own) {
    Tape<double> tape;
    const auto x = tape.variable({1, 2}), w = tape.variable(Tensor<double>::scalar(3)), c = tape.constant({5, 6});
    const auto y = x * w + x * c;
    std::vector<double> gradient{100, 200};
    tape.accumulate_into(x, gradient);
    tape.backward(sum(y));
    BOOST_TEST((gradient == std::vector<double>{108, 209}));
    tape.backward(sum(y));
    BOOST_TEST((gradient == std::vector<double>{116, 218}));
    BOOST_TEST((x.grad() == Tensor<double>{0, 0}));
    BOOST_TEST(w.grad().item() == 6);
    BOOST_TEST(error_of<TapeError>([&] { tape.accumulate_into(y, gradient); }) ==
               "accumulate_into: node 5 (add, shape (2)) is no variable");
    BOOST_TEST(error_of<TapeError>([&] { tape.accumulate_into(c, gradient); }) ==
               "accumulate_into: node 2 (constant, shape (2)) is no variable");
    BOOST_TEST(error_of<ShapeError>([&] { tape.accumulate_into(w, gradient); }) ==
               "accumulate_into: there is room for 2 numbers; node 1 (variable, shape ()) has 1");
    tape.clear();
    const auto again = tape.variable({1, 2});
    tape.backward(sum(again));
    BOOST_TEST((again.grad() == Tensor<double>{1, 1}));
    BOOST_TEST((gradient == std::vector<double>{116, 218}));
}

BOOST_AUTO_TEST_CASE(intermediate_gradients_are_kept_on_request) {
    Tape<double> tape;
    const auto x = tape.variable({1, 2});
    const auto y = x * x;
    const auto z = y + x;
    tape.keep_grad(y);
    tape.backward(sum(z * 3.0));
    BOOST_TEST((y.grad() == Tensor<double>{3, 3}));
    BOOST_TEST((x.grad() == Tensor<double>{9, 15}));
    BOOST_TEST(error_of<TapeError>([&] { z.grad(); }) ==
               "grad: node 2 (add, shape (2)) is an intermediate result whose gradient is not kept; call "
               "Tape::keep_grad before backward()");
}

BOOST_AUTO_TEST_CASE(detach_stops_gradients) {
    Tape<double> tape;
    const auto x = tape.variable({1, 2});
    const auto y = x * x.detach();
    tape.backward(sum(y));
    BOOST_TEST((x.grad() == Tensor<double>{1, 2}));
}

BOOST_AUTO_TEST_CASE(nothing_is_recorded_without_variables) {
    Tape<double> tape;
    const auto c = tape.constant({1, 2});
    const auto y = sum(c * c);
    BOOST_TEST(y.item() == 5);
    BOOST_TEST(!y.needs_grad());
    BOOST_TEST(error_of<TapeError>([&] { tape.backward(y); }) ==
               "backward: node 2 (sum, shape ()) does not depend on any variable");
    BOOST_TEST(error_of<TapeError>([&] { c.grad(); }) == "grad: node 0 (constant, shape (2)) needs no gradient");

    Tape<double> predicting(Recording::off);
    const auto x = predicting.variable({1, 2});
    BOOST_TEST(!sum(x * x).needs_grad());
    BOOST_TEST(sum(x * x).item() == 5);
}

BOOST_AUTO_TEST_CASE(stale_handles_are_errors) {
    const std::string stale =
        "this Var refers to node 0 of a tape that was cleared, rewound or destroyed since; make it again";
    Tape<double> tape;
    const auto x = tape.variable({1, 2});
    tape.clear();
    BOOST_TEST(error_of<TapeError>([&] { x.value(); }) == stale);
    const auto again = tape.variable({3, 4});
    BOOST_TEST(again.index() == x.index());
    BOOST_TEST(error_of<TapeError>([&] { x.value(); }) == stale);
    BOOST_TEST(error_of<TapeError>([&] { x + again; }) == stale);
    BOOST_TEST(error_of<TapeError>([&] { again + x; }) == stale);

    Var<double> orphan;
    {
        Tape<double> other;
        orphan = other.variable({1});
        BOOST_TEST(error_of<TapeError>([&] { again + orphan; }) ==
                   "add: the inputs are on different tapes; an op works on one tape");
        BOOST_TEST(error_of<TapeError>([&] { tape.backward(orphan); }) == "backward: this Var belongs to another tape");
    }
    BOOST_TEST(error_of<TapeError>([&] { orphan.value(); }) == stale);
    Tape<double> next;
    next.variable({1});
    BOOST_TEST(error_of<TapeError>([&] { orphan.value(); }) == stale);
    BOOST_TEST(error_of<TapeError>([&] { Var<double>().value(); }) ==
               "this Var was never given a value; make one with Tape::variable or by an op");
}

BOOST_AUTO_TEST_CASE(backward_needs_a_number_or_a_seed) {
    Tape<double> tape;
    const auto x = tape.variable({1, 2});
    BOOST_TEST(error_of<TapeError>([&] { tape.backward(x * x); }) ==
               "backward: the output has shape (2); give a seed of that shape, or reduce it to one number, for example "
               "by sum()");
    BOOST_TEST(error_of<ShapeError>([&] { tape.backward(x * x, Tensor<double>{1}); }) ==
               "backward: the seed has shape (1), the output (2); they must be equal");
}

BOOST_AUTO_TEST_CASE(marks) {
    Tape<double> tape;
    const auto x = tape.variable({1, 2});
    const auto mark = tape.mark();
    for (int i = 0; i < 3; ++i) {
        const auto y = sum(x * x);
        tape.backward(y);
        BOOST_TEST((x.grad() == Tensor<double>{2, 4}));
        tape.zero_grad();
        tape.rewind(mark);
        BOOST_TEST(tape.size() == 1u);
        BOOST_TEST(error_of<TapeError>([&] { y.value(); }) != "");
    }
    BOOST_TEST((x.value() == Tensor<double>{1, 2}));
    tape.clear();
    BOOST_TEST(error_of<TapeError>([&] { tape.rewind(mark); }) ==
               "rewind: the tape was rewound past this mark or cleared since it was made");
}

BOOST_AUTO_TEST_CASE(borrowed_leaves_read_the_original) {
    Tensor<double> data{1, 2, 3};
    Tape<double> tape;
    const auto x = tape.borrow_variable(data);
    BOOST_TEST(x.value().data() == data.data());
    tape.backward(sum(x * x));
    data.mutable_at(0) = 10;  // not shared by count, so no copy is made
    BOOST_TEST(x.value().data() == data.data());
    BOOST_TEST((x.grad() == Tensor<double>{2, 4, 6}));
}

BOOST_AUTO_TEST_CASE(borrowed_constants_may_go_out_of_scope) {
    Tape<double> tape;
    const auto x = tape.variable({1, 2});
    Var<double> y;
    {
        const Tensor<double> data{3, 4};
        y = x * tape.borrow(data);
    }
    const Tensor<double> other{7, 7};  // in the same buffer, were it free
    tape.backward(sum(y));
    BOOST_TEST((x.grad() == Tensor<double>{3, 4}));
    const double outside[2] = {5, 6};
    const Tensor<double> view = Tensor<double>::borrow(outside, {2});
    BOOST_TEST(tape.borrow(view).value().data() == outside);  // not copied
}

BOOST_AUTO_TEST_CASE(a_million_nodes) {
    Tape<double> tape;
    const auto x = tape.variable(Tensor<double>::scalar(1));
    Var<double> y = x;
    for (int i = 0; i < 1000000; ++i) y = y + x;
    tape.backward(y);
    BOOST_TEST(y.item() == 1000001);
    BOOST_TEST(x.grad().item() == 1000001);
}

BOOST_AUTO_TEST_CASE(large_closures_work_too) {
    struct Counter {
        std::shared_ptr<int> alive;
        std::array<double, 40> numbers;
    };
    const auto alive = std::make_shared<int>(0);
    {
        Tape<double> tape;
        const auto x = tape.variable({1, 2});
        Counter big{alive, {}};
        big.numbers[39] = 5;
        const auto y = record("scale", {x}, Tensor<double>{5, 10}, [big](Backward<double>& b) {
            double* dx = b.accumulate(0);
            for (int i = 0; i < 2; ++i) dx[i] += b.grad()[i] * big.numbers[39];
        });
        tape.backward(y, Tensor<double>{1, 1});
        BOOST_TEST((x.grad() == Tensor<double>{5, 5}));
        tape.clear();
        big.alive.reset();
        BOOST_TEST(alive.use_count() == 1);
    }
}

BOOST_AUTO_TEST_CASE(printed) {
    Tape<double> tape;
    const auto x = tape.variable({1, 2, 3, 4});
    const auto c = tape.constant(2.0);
    const auto y = sum(x * c);
    tape.backward(y);
    BOOST_TEST(tape.to_string() ==
               "node  op              inputs      shape         value                       gradient\n"
               "0     variable                    (4)           [1, 2, 3, ...]              [2, 2, 2, ...]\n"
               "1     constant                    ()            2                           not needed\n"
               "2     mul             0, 1        (4)           [2, 4, 6, ...]              -\n"
               "3     sum             2           ()            20                          -\n");
    BOOST_TEST(tape.to_dot() ==
               "digraph tape {\n  rankdir=LR;\n  node [shape=box, style=rounded, fontname=\"sans-serif\"];\n"
               "  n0 [label=\"0: variable (4)\\nvalue [1, 2, 3, ...]\\ngradient [2, 2, 2, ...]\"];\n"
               "  n1 [label=\"1: constant ()\\nvalue 2\", style=\"rounded,dashed\"];\n"
               "  n2 [label=\"2: mul (4)\\nvalue [2, 4, 6, ...]\"];\n"
               "  n0 -> n2;\n  n1 -> n2;\n"
               "  n3 [label=\"3: sum ()\\nvalue 20\"];\n"
               "  n2 -> n3;\n}\n");
}

BOOST_AUTO_TEST_SUITE_END()
