#include "../../support.hpp"

#include <pollen/autograd/parallel.hpp>
#include <pollen/nn/prediction/metrics.hpp>
#include <pollen/nn/prediction/predictive.hpp>

#include <algorithm>
#include <limits>

using namespace pollen;
using namespace pollen::test;

BOOST_AUTO_TEST_SUITE(predictive)

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
const double ln2 = std::log(2.0);

template <class T>
Predictive<T> together(const std::vector<Tensor<T>>& draws) {
    Predictive<T> predictive;
    for (const Tensor<T>& logits : draws) predictive.add(logits);
    return predictive;
}

void within(const Tensor<double>& got, const Tensor<double>& expected, double absolute) {
    BOOST_TEST(allclose(got, expected, 0.0, absolute), to_string(got) << " is not " << to_string(expected));
}

std::vector<Tensor<double>> some_logits(int draws, const Shape& shape, double scale = 3) {
    std::vector<Tensor<double>> all;
    for (int s = 0; s < draws; ++s) {
        all.push_back(normals(shape, static_cast<std::uint64_t>(100 + s)));
        for (double& x : all.back().mutable_values()) x *= scale;
    }
    return all;
}

}  // namespace

BOOST_AUTO_TEST_CASE(by_hand) {
    // Sure members that disagree: all entropy is mutual information. Members that agree to be unsure: none of it is.
    const Tensor<double> left{{0, -1e4}, {0, 0}, {5, 5 - ln2}}, right{{-1e4, 0}, {3, 3}, {5, 5 - ln2}};
    const Predictive<double> both = together<double>({left, right});
    BOOST_TEST(both.draws() == 2);
    within(both.probabilities(), Tensor<double>{{0.5, 0.5}, {0.5, 0.5}, {2.0 / 3, 1.0 / 3}}, 1e-15);
    const double third = std::log(3.0) - 2 * ln2 / 3;
    within(both.entropy(), Tensor<double>{ln2, ln2, third}, 1e-15);
    within(both.expected_entropy(), Tensor<double>{0, ln2, third}, 1e-15);
    within(both.mutual_information(), Tensor<double>{ln2, 0, 0}, 1e-15);

    const Predictive<float> floats = together<float>({cast<float>(left), cast<float>(right)});
    within(cast<double>(floats.mutual_information()), Tensor<double>{ln2, 0, 0}, 1e-7);

    // A class that is ruled out, and a draw for no items.
    const Predictive<double> out = together<double>({Tensor<double>{{0, -infinity, 0}}});
    BOOST_TEST(out.probabilities() == (Tensor<double>{{0.5, 0, 0.5}}));
    within(out.expected_entropy(), Tensor<double>{ln2}, 1e-15);
    BOOST_TEST(out.log_probabilities()(0, 1) == -infinity);
    const Predictive<double> nobody = together<double>({Tensor<double>::zeros({0, 3})});
    BOOST_TEST(to_string(nobody.probabilities().shape()) == "(0, 3)");
    BOOST_TEST(nobody.entropy().size() == 0);
}

BOOST_AUTO_TEST_CASE(equal_members_agree) {
    const Tensor<double> logits = some_logits(1, {200, 7})[0];
    const Predictive<double> one = together<double>({logits}), many = together(std::vector<Tensor<double>>(13, logits));
    BOOST_TEST(many.probabilities() == one.probabilities());
    BOOST_TEST(many.expected_entropy() == one.expected_entropy());
    within(many.mutual_information(), Tensor<double>::zeros({200}), 2e-15);
}

// One draw after the other is the same as all at once, in long double, which is how the definitions read.
BOOST_AUTO_TEST_CASE(streaming_is_the_batch) {
    const std::int64_t n = 50, classes = 6;
    const auto draws = some_logits(9, {n, classes});
    const Predictive<double> predictive = together(draws);
    Tensor<double> p = Tensor<double>::zeros({n, classes}), logs = p, entropy = Tensor<double>::zeros({n}),
                   expected = entropy, information = entropy;
    for (std::int64_t i = 0; i < n; ++i) {
        std::vector<long double> mean(static_cast<std::size_t>(classes), 0.0L);
        long double inner = 0, outer = 0;
        for (const auto& logits : draws) {
            long double total = 0;
            for (std::int64_t c = 0; c < classes; ++c) total += std::exp(static_cast<long double>(logits(i, c)));
            for (std::int64_t c = 0; c < classes; ++c) {
                const long double q = std::exp(static_cast<long double>(logits(i, c))) / total;
                mean[static_cast<std::size_t>(c)] += q / 9;
                inner -= q * std::log(q) / 9;
            }
        }
        for (std::int64_t c = 0; c < classes; ++c) {
            const long double q = mean[static_cast<std::size_t>(c)];
            outer -= q * std::log(q);
            p.mutable_at(i, c) = static_cast<double>(q);
            logs.mutable_at(i, c) = static_cast<double>(std::log(q));
        }
        entropy.mutable_at(i) = static_cast<double>(outer);
        expected.mutable_at(i) = static_cast<double>(inner);
        information.mutable_at(i) = static_cast<double>(outer - inner);
    }
    check_close(predictive.probabilities(), p, 16);
    within(predictive.log_probabilities(), logs, 1e-14);
    within(predictive.entropy(), entropy, 1e-14);
    within(predictive.expected_entropy(), expected, 1e-14);
    within(predictive.mutual_information(), information, 1e-14);
    BOOST_TEST(predictive.entropy() == predictive_entropy(predictive.probabilities()));

    // Floats are averaged in double: the only rounding is that of the logits and of the answer.
    std::vector<Tensor<float>> floats;
    std::vector<Tensor<double>> rounded;
    for (const auto& logits : draws) {
        floats.push_back(cast<float>(logits));
        rounded.push_back(cast<double>(floats.back()));
    }
    check_close(together(floats).probabilities(), together(rounded).probabilities(), 1);
    check_close(together(floats).mutual_information(), together(rounded).mutual_information(), 1);
}

BOOST_AUTO_TEST_CASE(parts_add_up_in_any_order) {
    const auto draws = some_logits(20, {3000, 10}, 8);
    const Predictive<double> forward = together(draws),
                             backward = together(std::vector<Tensor<double>>(draws.rbegin(), draws.rend()));
    within(backward.probabilities(), forward.probabilities(), 1e-14);
    within(backward.mutual_information(), forward.mutual_information(), 1e-13);
    const Tensor<double> whole = forward.entropy(), inner = forward.expected_entropy(),
                         between = forward.mutual_information();
    for (std::int64_t i = 0; i < 3000; ++i) {
        BOOST_TEST(std::abs(whole(i) - inner(i) - between(i)) < 1e-14);
        BOOST_TEST((inner(i) >= 0 && between(i) >= 0 && whole(i) <= std::log(10.0) + 1e-14));
    }
    // The number of threads does not matter.
    for (const int threads : {1, 4})
        with_threads(threads, [&] {
            const Predictive<double> again = together(draws);
            BOOST_TEST(again.probabilities() == forward.probabilities());
            BOOST_TEST(again.expected_entropy() == inner);
        });
}

BOOST_AUTO_TEST_CASE(small_probabilities_stay_finite) {
    // exp(-1000) is 0 in double, its logarithm is not; averaging halves it where the other draw has less.
    const Predictive<double> predictive =
        together<double>({Tensor<double>{{0, -1000, -2000, -690}}, Tensor<double>{{0, -1001, -infinity, -710}},
                          Tensor<double>{{0, 0, -2000, 0}}});
    const Tensor<double> logs = predictive.log_probabilities();
    // The third draw has probability 1/3 for three of the classes.
    within(logs,
           Tensor<double>{{std::log((2 + 1.0 / 3) / 3), std::log(1.0 / 9),
                           -2000 + std::log(1 + 1.0 / 3) - std::log(3.0), std::log(1.0 / 9)}},
           1e-12);
    const Predictive<double> tails = together<double>({Tensor<double>{{0, -690}}, Tensor<double>{{0, -710}}});
    within(tails.log_probabilities(), Tensor<double>{{0, -690 + std::log1p(std::exp(-20.0)) - ln2}}, 1e-12);
    const Predictive<float> floats = together<float>({Tensor<float>{{0, -3e5F}}});
    BOOST_TEST(nll_from_logs(floats.log_probabilities(), Indices{1}) == 3e5F);
    BOOST_TEST(nll(floats.probabilities(), Indices{1}) == infinity);
}

BOOST_AUTO_TEST_CASE(numbers) {
    PredictiveNumbers<double> by_hand;
    by_hand.add(Tensor<double>{1, 1e9}, 2);
    by_hand.add(Tensor<double>{3, 1e9 + 1}, Tensor<double>{4, 0});
    BOOST_TEST(by_hand.draws() == 2);
    BOOST_TEST(by_hand.mean() == (Tensor<double>{2, 1e9 + 0.5}));
    BOOST_TEST(by_hand.aleatoric() == (Tensor<double>{10, 2}));
    BOOST_TEST(by_hand.epistemic() == (Tensor<double>{1, 0.25}));
    BOOST_TEST(by_hand.variance() == (Tensor<double>{11, 2.25}));
    BOOST_TEST(by_hand.sd() == (Tensor<double>{std::sqrt(11.0), 1.5}));

    const std::int64_t draws = 25;
    PredictiveNumbers<double> forward, backward, plain;
    std::vector<Tensor<double>> means, sds;
    for (std::uint64_t s = 0; s < draws; ++s) {
        means.push_back(normals({30, 2}, 10 + s));
        sds.push_back(uniforms({30, 2}, 0.1, 2, 60 + s));
        forward.add(means.back(), sds.back());
        plain.add(means.back());
    }
    for (std::size_t s = means.size(); s-- > 0;) backward.add(means[s], sds[s]);
    Tensor<double> mean = Tensor<double>::zeros({30, 2}), within_draws = mean, between = mean;
    for (std::int64_t i = 0; i < 60; ++i) {
        long double m = 0, w = 0, b = 0;
        for (const auto& v : means) m += static_cast<long double>(v.data()[i]) / draws;
        for (const auto& v : means) b += (v.data()[i] - m) * (v.data()[i] - m) / draws;
        for (const auto& v : sds) w += static_cast<long double>(v.data()[i]) * v.data()[i] / draws;
        mean.mutable_data()[i] = static_cast<double>(m);
        within_draws.mutable_data()[i] = static_cast<double>(w);
        between.mutable_data()[i] = static_cast<double>(b);
    }
    within(forward.mean(), mean, 1e-14);
    within(forward.aleatoric(), within_draws, 1e-14);
    within(forward.epistemic(), between, 1e-14);
    within(backward.variance(), forward.variance(), 1e-13);
    BOOST_TEST(plain.variance() == forward.epistemic());

    // Equal draws have no variance between them, exactly.
    PredictiveNumbers<float> equal;
    for (int s = 0; s < 7; ++s) equal.add(Tensor<float>{0.1F, 1e6F}, 0.5);
    BOOST_TEST(equal.epistemic() == (Tensor<float>{0, 0}));
    BOOST_TEST(equal.variance() == (Tensor<float>{0.25F, 0.25F}));

    PredictiveNumbers<double> predicted;
    predicted.add_predicted(Tensor<double>{{1, 2, 0, 800}, {3, 4, -800, 1}});
    BOOST_TEST(predicted.mean() == (Tensor<double>{{1, 2}, {3, 4}}));
    within(predicted.sd(), Tensor<double>{{ln2 + 1e-6, 800 + 1e-6}, {1e-6, std::log1p(std::exp(1.0)) + 1e-6}}, 1e-12);
}

BOOST_AUTO_TEST_CASE(errors) {
    Predictive<double> p;
    BOOST_TEST(error_of<ValueError>([&] { p.entropy(); }) == "Predictive: entropy() of no draws; add() one first");
    BOOST_TEST(error_of<ValueError>([&] { p.probabilities(); }) ==
               "Predictive: probabilities() of no draws; add() one first");
    BOOST_TEST(error_of<ShapeError>([&] {
                   p.add(Tensor<double>{1, 2});
               }) == "Predictive: logits have shape (2); (n, classes) is needed");
    BOOST_TEST(error_of<ShapeError>([&] {
                   p.add(Tensor<double>::zeros({5, 1}));
               }) ==
               "Predictive: logits have shape (5, 1), but one class always has the probability 1; for numbers there is "
               "PredictiveNumbers");
    p.add(Tensor<double>{{1, 2}});
    const Tensor<double> before = p.probabilities();
    BOOST_TEST(error_of<ShapeError>([&] {
                   p.add(Tensor<double>{{1, 2, 3}});
               }) == "Predictive: the logits of draw 1 have shape (1, 3), those before it have (1, 2)");
    BOOST_TEST(error_of<ValueError>([&] {
                   p.add(Tensor<double>{{0, std::nan("")}});
               }) == "Predictive: the logit of class 1 of item 0 in draw 1 is NaN");
    BOOST_TEST(error_of<ValueError>([&] {
                   p.add(Tensor<double>{{infinity, 0}});
               }) == "Predictive: the logit of class 0 of item 0 in draw 1 is infinity");
    BOOST_TEST(error_of<ValueError>([&] {
                   p.add(Tensor<double>{{-infinity, -infinity}});
               }) == "Predictive: all logits of item 0 in draw 1 are -infinity");
    // A draw that was refused leaves no trace.
    BOOST_TEST(p.draws() == 1);
    BOOST_TEST(p.probabilities() == before);

    PredictiveNumbers<double> m;
    BOOST_TEST(error_of<ValueError>([&] { m.variance(); }) ==
               "PredictiveNumbers: variance() of no draws; add() one first");
    BOOST_TEST(error_of<ShapeError>([&] {
                   m.add(Tensor<double>{1, 2}, Tensor<double>{1});
               }) == "PredictiveNumbers: means have shape (2), sds (1); they must be equal");
    BOOST_TEST(error_of<ValueError>([&] {
                   m.add(Tensor<double>{1, 2}, Tensor<double>{1, -1});
               }) == "PredictiveNumbers: sd 1 of draw 0 is -1; it must be finite and not negative");
    BOOST_TEST(error_of<ValueError>([&] {
                   m.add(Tensor<double>{1, infinity});
               }) == "PredictiveNumbers: mean 1 of draw 0 is not finite");
    BOOST_TEST(error_of<ShapeError>([&] {
                   m.add_predicted(Tensor<double>{{1, 2, 3}});
               }) == "PredictiveNumbers: outputs have shape (1, 3); (n, 2k), k means and then k noises, is needed");
    m.add(Tensor<double>{1});
    BOOST_TEST(error_of<ShapeError>([&] {
                   m.add(Tensor<double>{1, 2});
               }) == "PredictiveNumbers: the means of draw 1 have shape (2), those before it have (1)");
}

// A draw of weight 2 counts as two draws; a draw of weight 0 is ignored.
BOOST_AUTO_TEST_CASE(weights) {
    const Tensor<double> a = normals({3, 4}, 1), b = normals({3, 4}, 2),
                         far{{0, -2000, -800, 1}, {1, 0, 0, -900}, {0, 0, 0, 0}};
    Predictive<double> weighted, repeated;
    weighted.add(b, 0);
    weighted.add(a, 1);
    weighted.add(far, 4);
    weighted.add(b, 0.5);
    for (const Tensor<double>* x : {&a, &a, &b}) repeated.add(*x);
    for (int k = 0; k < 8; ++k) repeated.add(far);
    BOOST_TEST(weighted.draws() == 3);
    BOOST_TEST(allclose(weighted.probabilities(), repeated.probabilities(), 1e-12, 1e-12));
    BOOST_TEST(allclose(weighted.log_probabilities(), repeated.log_probabilities(), 1e-12, 1e-12));
    BOOST_TEST(allclose(weighted.expected_entropy(), repeated.expected_entropy(), 1e-12, 1e-12));
    BOOST_TEST(allclose(weighted.mutual_information(), repeated.mutual_information(), 1e-12, 1e-12));
    BOOST_TEST(error_of<ValueError>([&] { weighted.add(a, -1); }) ==
               "Predictive: a weight is -1; it must be finite and not negative");

    Tensor<double> sds = a;
    for (double& x : sds.mutable_values()) x = std::exp(x);
    PredictiveNumbers<double> some, all;
    some.add(b, 7.0, 0);
    some.add(a, 0.5, 1);
    some.add(b, sds, 3);
    all.add(a, 0.5);
    for (int k = 0; k < 3; ++k) all.add(b, sds);
    BOOST_TEST(some.draws() == 2);
    BOOST_TEST(allclose(some.mean(), all.mean(), 1e-12, 1e-12));
    BOOST_TEST(allclose(some.aleatoric(), all.aleatoric(), 1e-12, 1e-12));
    BOOST_TEST(allclose(some.epistemic(), all.epistemic(), 1e-12, 1e-12));
    BOOST_TEST(error_of<ValueError>([&] { some.add(a, 1.0, NAN); }) ==
               "PredictiveNumbers: a weight is nan; it must be finite and not negative");
}

BOOST_AUTO_TEST_SUITE_END()
