#include "replay_check.hpp"

using namespace pollen;
using namespace pollen::test;
using pollen::test::replay::same_bits;

BOOST_AUTO_TEST_SUITE(replay)

BOOST_AUTO_TEST_CASE(every_op) {
    for (const OpCase<double>& c : op_cases<double>()) pollen::test::replay::check(c);
}

BOOST_AUTO_TEST_CASE(a_model_again_and_again) {
    Tensor<double> mu = Tensor<double>::scalar(0.2), sd = Tensor<double>::scalar(0.5), w = normals({3}, 2);
    const auto model = [&](Tape<double>& tape, std::vector<Var<double>>& x) {
        x = {tape.borrow_variable(mu), tape.borrow_variable(sd), tape.borrow_variable(w)};
        const Var<double> prior = normal_lpdf(x[0], 0, 1) + gamma_lpdf(x[1], 2, 2);
        const Var<double> fit = matmul(condition<double>, x[2]) * tanh(x[0]);
        return prior + normal_lpdf(Tensor<double>{0.3, -0.2}, fit, x[1]);
    };
    Tape<double> tape(Recording::replay);
    std::vector<Var<double>> x;
    const Var<double> y = model(tape, x);
    const std::size_t nodes = tape.size();
    for (const double step : {0.1, -0.4, 0.7}) {
        mu.mutable_at() += step;
        sd.mutable_at() *= 1.3;
        w.mutable_at(1) -= step;
        tape.zero_grad();
        tape.replay();
        tape.backward(y);
        Tape<double> fresh;
        std::vector<Var<double>> z;
        const Var<double> expected = model(fresh, z);
        fresh.backward(expected);
        BOOST_TEST(same_bits(y.value(), expected.value()));
        for (std::size_t k = 0; k < 3; ++k) BOOST_TEST(same_bits(x[k].grad(), z[k].grad()));
    }
    BOOST_TEST(tape.size() == nodes);
}

BOOST_AUTO_TEST_CASE(constants_are_kept_and_not_computed_again) {
    Tensor<double> at{1, 2};
    int calls = 0;
    const auto twice = [&](Var<double> x) {
        return record(
            "twice", {x}, x.shape(),
            [&calls](Forward<double>& node) {
                ++calls;
                for (int i = 0; i < 2; ++i) node.value()[i] = 2 * node.input(0).data()[i];
            },
            [](Backward<double>& node) {
                for (int i = 0; i < 2; ++i) node.accumulate(0)[i] += 2 * node.grad()[i];
            });
    };
    Tape<double> tape(Recording::replay);
    const auto x = tape.borrow_variable(at);
    const auto y = [&] {
        Tensor<double> data{3, 4};  // gone before the replay
        return twice(twice(tape.constant(data)) * x) + data;
    }();
    BOOST_TEST(calls == 2);
    at.mutable_at(0) = 10;
    tape.replay();
    BOOST_TEST(calls == 3);
    BOOST_TEST((y.value() == Tensor<double>{123, 36}));
}

BOOST_AUTO_TEST_CASE(nodes_after_a_mark_are_forgotten) {
    Tensor<double> at{1, 2};
    Tape<double> tape(Recording::replay);
    const auto x = tape.borrow_variable(at);
    const auto y = exp(x);
    const auto mark = tape.mark();
    (void)record("odd", {y}, Tensor<double>{1, 2}, [](Backward<double>&) {});
    BOOST_TEST(error_of<TapeError>([&] { tape.replay(); }) ==
               "replay: node 2 (odd, shape (2)) has no forward; clear the tape and record it again, or give the op a "
               "forward");
    tape.rewind(mark);
    at.mutable_at(0) = 0;
    tape.replay();
    BOOST_TEST(y.value()(0) == 1);
}

BOOST_AUTO_TEST_CASE(errors_at_the_new_numbers_go_through) {
    Tensor<double> sd = Tensor<double>::scalar(1);
    Tape<double> tape(Recording::replay);
    const auto y = normal_lpdf(Tensor<double>{1, 2}, 0, tape.borrow_variable(sd));
    sd.mutable_at() = -1;
    BOOST_TEST(error_of<DomainError>([&] { tape.replay(); }) == "Normal: sd is -1; it must be positive");
    sd.mutable_at() = 1;
    tape.replay();
    BOOST_TEST(y.item() == value<double>([](auto x) { return normal_lpdf(Tensor<double>{1, 2}, 0, x); }, sd).item());
}

BOOST_AUTO_TEST_CASE(other_tapes_keep_no_forwards) {
    Tape<double> tape;
    (void)exp(tape.variable({1, 2}));
    BOOST_TEST(error_of<TapeError>([&] { tape.replay(); }) ==
               "replay: the tape keeps no forwards; make it with Recording::replay");
}

BOOST_AUTO_TEST_SUITE_END()
