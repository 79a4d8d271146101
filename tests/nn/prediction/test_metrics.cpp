#include "../../support.hpp"

#include <pollen/nn/prediction/metrics.hpp>

#include <algorithm>
#include <limits>

using namespace pollen;
using namespace pollen::test;

BOOST_AUTO_TEST_SUITE(metrics)

namespace {

namespace reference {
#include "metrics_reference.inc"
}

constexpr double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();

const Tensor<double> probabilities(Shape{40, 4}, reference::probabilities);
const Indices labels(Shape{40}, reference::labels);
const Tensor<double> inside(Shape{50}, reference::inside), outside(Shape{30}, reference::outside);

void close(double got, double expected, double relative = 1e-13) {
    BOOST_TEST(std::abs(got - expected) <= relative * std::abs(expected), got << " is not " << expected);
}

Tensor<double> logs_of(const Tensor<double>& p) {
    Tensor<double> logs = p;
    for (double& v : logs.mutable_values()) v = std::log(v);
    return logs;
}

Tensor<double> reversed(const Tensor<double>& x) {
    Tensor<double> y = x;
    std::reverse_copy(x.begin(), x.end(), y.mutable_data());
    return y;
}

}  // namespace

BOOST_AUTO_TEST_CASE(classes_as_scikit_learn_has_them) {
    close(accuracy(probabilities, labels), reference::accuracy_expected);
    close(nll(probabilities, labels), reference::nll_expected);
    close(nll_from_logs(logs_of(probabilities), labels), reference::nll_expected);
    close(brier(probabilities, labels), reference::brier_expected);
    check_close(predictive_entropy(probabilities), Tensor<double>(Shape{40}, reference::entropies), 8);

    const Tensor<float> p = cast<float>(probabilities);
    close(accuracy(p, labels), reference::accuracy_expected);
    close(nll(p, labels), reference::nll_expected);
    close(nll_from_logs(cast<float>(logs_of(probabilities)), labels), reference::nll_expected, 1e-6);
    close(brier(p, labels), reference::brier_expected);
    check_close(predictive_entropy(p), Tensor<double>(Shape{40}, reference::entropies), 1);
}

BOOST_AUTO_TEST_CASE(classes_by_hand) {
    const Tensor<double> p{{1, 0}, {0.5, 0.5}, {0.25, 0.75}};
    const Indices y{0, 0, 0};
    close(accuracy(p, y), 2.0 / 3);  // of equal probabilities the first one counts
    close(nll(p, y), std::log(8.0) / 3);
    close(brier(p, y), (0 + 0.5 + 2 * 0.5625) / 3);
    close(brier(Tensor<double>{{0, 1}}, Indices{0}), 2);
    BOOST_TEST(predictive_entropy(Tensor<double>{{1, 0}, {0, 1}}) == (Tensor<double>{0, 0}));
    BOOST_TEST(predictive_entropy(Tensor<double>::zeros({0, 3})).size() == 0);

    BOOST_TEST(nll(Tensor<double>{{1, 0}}, Indices{1}) == infinity);
    close(nll_from_logs(Tensor<float>{{0, -2000}}, Indices{1}), 2000);
}

BOOST_AUTO_TEST_CASE(reliability_as_scikit_learn_has_it) {
    const std::vector<ReliabilityBin> bins = reliability_bins(probabilities, labels, {.bins = 10});
    BOOST_REQUIRE(bins.size() == 10);
    std::size_t filled = 0;
    std::int64_t items = 0;
    double expected = 0, most = 0;
    for (std::size_t b = 0; b < bins.size(); ++b) {
        close(bins[b].low, 0.1 * static_cast<double>(b));
        close(bins[b].high, 0.1 * static_cast<double>(b + 1));
        items += bins[b].count;
        if (bins[b].count == 0) {
            BOOST_TEST((std::isnan(bins[b].confidence) && std::isnan(bins[b].accuracy)));
            continue;
        }
        BOOST_REQUIRE(filled < reference::bin_accuracies.size());
        const double right = reference::bin_accuracies[filled], sure = reference::bin_confidences[filled];
        BOOST_TEST(std::abs(bins[b].accuracy - right) < 1e-14);
        close(bins[b].confidence, sure);
        expected += static_cast<double>(bins[b].count) / 40 * std::abs(right - sure);
        most = std::max(most, std::abs(right - sure));
        ++filled;
    }
    BOOST_TEST(filled == reference::bin_accuracies.size());
    BOOST_TEST(items == 40);
    close(ece(probabilities, labels, {.bins = 10}), expected, 1e-12);
    close(mce(probabilities, labels, {.bins = 10}), most, 1e-12);
    BOOST_TEST(ece(cast<float>(probabilities), labels, {.bins = 10}) == ece(probabilities, labels, {.bins = 10}));
}

BOOST_AUTO_TEST_CASE(reliability_by_hand) {
    // A confidence on an edge belongs to the bin below it: 0.5 and 0.75 with four bins.
    const Tensor<double> p{{0.5, 0.5}, {0.25, 0.75}, {0.75, 0.25}, {0, 1}};
    const Indices y{0, 1, 1, 1};
    const std::vector<ReliabilityBin> bins = reliability_bins(p, y, {.bins = 4});
    BOOST_TEST((bins[0].count == 0 && bins[1].count == 1 && bins[2].count == 2 && bins[3].count == 1));
    BOOST_TEST((bins[2].accuracy == 0.5 && bins[2].confidence == 0.75));
    BOOST_TEST(ece(bins) == 0.25 * 0.5 + 0.5 * 0.25);
    BOOST_TEST(mce(bins) == 0.5);

    // One bin: the difference of the means. Confidences a little above 1 are in the last bin.
    BOOST_TEST(ece(p, y, {.bins = 1}) == 0);
    BOOST_TEST(reliability_bins(Tensor<double>{{1.0005, 0}}, Indices{0})[14].count == 1);

    // Equal mass: 5 items of the same confidence stay together, and the order of the items does not matter.
    Tensor<double> q = Tensor<double>::zeros({8, 2});
    const std::vector<double> sure{0.9, 0.8, 0.8, 0.8, 0.8, 0.8, 0.6, 0.55};
    for (std::int64_t i = 0; i < 8; ++i) {
        q.mutable_at(i, 0) = sure[static_cast<std::size_t>(i)];
        q.mutable_at(i, 1) = 1 - q(i, 0);
    }
    const Indices z{0, 0, 1, 0, 0, 1, 1, 0};
    using enum ReliabilityOptions::Cut;
    const auto mass = reliability_bins(q, z, {.bins = 4, .cut = equal_mass});
    BOOST_REQUIRE(mass.size() == 3);
    BOOST_TEST((mass[0].count == 2 && mass[1].count == 5 && mass[2].count == 1));
    BOOST_TEST((mass[0].low == 0.55 && mass[0].high == 0.6 && mass[1].low == 0.8 && mass[1].high == 0.8));
    close(mass[0].confidence, 0.575);
    close(mass[1].accuracy, 0.6);
    close(ece(mass), (2 * 0.075 + 5 * 0.2 + 0.1) / 8, 1e-12);
    close(mce(mass), 0.2, 1e-12);
    // As many bins as items with distinct confidences: the mean of |right - confidence|.
    close(ece(p, y, {.bins = 100, .cut = equal_mass}), (0.5 + std::abs(0.5 - 0.75) * 2 + 0) / 4, 1e-12);

    Tensor<double> backwards = q;
    Indices backwards_labels = z;
    for (std::int64_t i = 0; i < 8; ++i) {
        for (std::int64_t c = 0; c < 2; ++c) backwards.mutable_at(i, c) = q(7 - i, c);
        backwards_labels.mutable_at(i) = z(7 - i);
    }
    for (const auto cut : {equal_width, equal_mass})
        BOOST_TEST(ece(backwards, backwards_labels, {.bins = 4, .cut = cut}) == ece(q, z, {.bins = 4, .cut = cut}));
}

BOOST_AUTO_TEST_CASE(areas_as_scikit_learn_has_them) {
    close(auroc(inside, outside), reference::auroc_expected);
    close(aupr(inside, outside), reference::aupr_expected);
    close(auroc(cast<float>(inside), cast<float>(outside)), reference::auroc_expected);
    close(aupr(cast<float>(inside), cast<float>(outside)), reference::aupr_expected);
    // The order of the items does not change a bit; swapping the sets turns the area round.
    BOOST_TEST(auroc(reversed(inside), reversed(outside)) == auroc(inside, outside));
    BOOST_TEST(aupr(reversed(inside), reversed(outside)) == aupr(inside, outside));
    close(auroc(outside, inside), 1 - reference::auroc_expected);
}

BOOST_AUTO_TEST_CASE(areas_by_hand) {
    const Tensor<double> low{1, 2, 3}, high{4, 5}, same{7, 7, 7}, alike{7, 7};
    BOOST_TEST(auroc(low, high) == 1);
    BOOST_TEST(auroc(high, low) == 0);
    BOOST_TEST(auroc(same, alike) == 0.5);
    BOOST_TEST(auroc_standard_error(same, alike) == 0);
    BOOST_TEST(auroc_standard_error(low, high) == 0);
    BOOST_TEST(std::isnan(auroc_standard_error(low, Tensor<double>{2})));
    BOOST_TEST(aupr(low, high) == 1);
    close(aupr(same, alike), 0.4);
    close(aupr(high, low), (1.0 / 3 + 2.0 / 4 + 3.0 / 5) / 3);
    // Infinite scores have an order too.
    BOOST_TEST(auroc(Tensor<double>{-infinity, 0}, Tensor<double>{infinity, 0}) == 0.875);
    close(auroc(Tensor<double>{1, 2}, Tensor<double>{2}), 0.75);
}

// Every pair looked at; the variance of the structural components as DeLong et al. write them.
BOOST_AUTO_TEST_CASE(standard_error_by_pairs) {
    const auto kernel = [](double x, double y) { return x > y ? 1.0 : x == y ? 0.5 : 0.0; };
    const double m = 30, n = 50;
    std::vector<double> v10, v01;
    double area = 0;
    for (const double x : outside) {
        double total = 0;
        for (const double y : inside) total += kernel(x, y);
        v10.push_back(total / n);
        area += total / (m * n);
    }
    for (const double y : inside) {
        double total = 0;
        for (const double x : outside) total += kernel(x, y);
        v01.push_back(total / m);
    }
    double s10 = 0, s01 = 0;
    for (const double v : v10) s10 += (v - area) * (v - area) / (m - 1);
    for (const double v : v01) s01 += (v - area) * (v - area) / (n - 1);
    close(auroc(inside, outside), area);
    close(auroc_standard_error(inside, outside), std::sqrt(s10 / m + s01 / n), 1e-12);
    close(auroc_standard_error(outside, inside), std::sqrt(s10 / m + s01 / n), 1e-12);
}

// The error bar is the spread of the area over fresh data. 4000 repetitions give the spread to 1.1 % (one standard
// error), and DeLong's estimate is nearly unbiased at these sizes: 5 % off would be a false alarm of 1e-5.
BOOST_AUTO_TEST_CASE(standard_error_is_the_spread) {
    Random random(11);
    const int repetitions = 4000;
    double total = 0, squares = 0, estimated = 0;
    for (int r = 0; r < repetitions; ++r) {
        Tensor<double> in = Tensor<double>::zeros({60}), out = Tensor<double>::zeros({40});
        for (double& v : in.mutable_values()) v = random.normal<double>();
        for (double& v : out.mutable_values()) v = 1 + 1.5 * random.normal<double>();
        const double area = auroc(in, out), error = auroc_standard_error(in, out);
        total += area;
        squares += area * area;
        estimated += error * error;
    }
    const double mean = total / repetitions, spread = std::sqrt(squares / repetitions - mean * mean);
    // P(1 + 1.5 a > b) = Phi(1 / sqrt(1 + 1.5^2)), within 4.5 standard errors.
    const double truth = 0.5 * std::erfc(-1 / std::sqrt(3.25) / std::sqrt(2.0));
    BOOST_TEST(std::abs(mean - truth) < 4.5 * spread / std::sqrt(repetitions));
    BOOST_TEST(std::abs(std::sqrt(estimated / repetitions) / spread - 1) < 0.05);
}

BOOST_AUTO_TEST_CASE(numbers) {
    const Tensor<double> targets(Shape{5, 2}, reference::targets), means(Shape{3, 5, 2}, reference::means),
        sds(Shape{3, 5, 2}, reference::sds);
    const Tensor<double> first(Shape{5, 2}, means.values().first(10));
    close(rmse(first, targets), reference::rmse_expected);
    close(mean_absolute_error(first, targets), reference::mean_absolute_error_expected);
    close(mixture_log_likelihood(means, sds, targets), reference::mixture_expected);
    close(mixture_log_likelihood(cast<float>(means), cast<float>(sds), cast<float>(targets)),
          reference::mixture_expected);
    close(mixture_log_likelihood(means, 0.5, targets),
          mixture_log_likelihood(means, Tensor<double>::full(means.shape(), 0.5), targets));
    // Equal members are one normal distribution; far tails do not underflow.
    const Tensor<double> zeros = Tensor<double>::zeros({7, 1}), far{100};
    close(mixture_log_likelihood(zeros, 1, far), -5000 - 0.5 * std::log(2 * std::acos(-1.0)));
    BOOST_TEST(mixture_log_likelihood(zeros, 1, Tensor<double>{1e200}) == -infinity);
}

BOOST_AUTO_TEST_CASE(errors_of_classes) {
    const Tensor<double> p{{0.5, 0.5}, {0.25, 0.75}};
    const Indices y{0, 1};
    BOOST_TEST(error_of<ShapeError>([&] { accuracy(Tensor<double>{1}, Indices{0}); }) ==
               "accuracy: probabilities have shape (1); (n, classes) is needed");
    BOOST_TEST(error_of<ShapeError>([&] {
                   brier(Tensor<float>::zeros({2, 0}), Indices{0, 0});
               }) == "brier: probabilities have shape (2, 0); (n, classes) is needed");
    BOOST_TEST(error_of<ShapeError>([&] {
                   nll(p, Indices{0, 1, 0});
               }) == "nll: probabilities have shape (2, 2), labels (3); one label for each row, (2), is needed");
    BOOST_TEST(error_of<ValueError>([&] {
                   nll(Tensor<double>::zeros({0, 2}), Indices());
               }) == "nll: there are no items");
    BOOST_TEST(error_of<ValueError>([&] {
                   nll_from_logs(p, Indices{0, 2});
               }) == "nll_from_logs: the label of item 1 is 2; log-probabilities (2, 2) have classes 0 to 1");
    BOOST_TEST(error_of<ValueError>([&] {
                   accuracy(p, Indices{-1, 0});
               }) == "accuracy: the label of item 0 is -1; probabilities (2, 2) have classes 0 to 1");
    BOOST_TEST(error_of<ValueError>([&] {
                   accuracy(Tensor<float>{{1, 0}, {1.5, -0.5}}, y);
               }) == "accuracy: the probability of class 1 of item 1 is -0.5; it must be between 0 and 1");
    BOOST_TEST(error_of<ValueError>([&] {
                   brier(Tensor<double>{{0.5, 0.5}, {nan, 1}}, y);
               }) == "brier: the probability of class 0 of item 1 is nan; it must be between 0 and 1");
    BOOST_TEST(error_of<ValueError>([&] {
                   predictive_entropy(Tensor<double>{{0.5, 0.4}});
               }) == "predictive_entropy: the probabilities of item 0 sum to 0.9; they must sum to 1 within 0.001");
    BOOST_TEST(error_of<ValueError>([&] {
                   nll(Tensor<double>{{0.5, infinity}}, Indices{0});
               }) == "nll: the probabilities of item 0 sum to inf; they must sum to 1 within 0.001");
    // Logits instead of log-probabilities are noticed.
    BOOST_TEST(
        error_of<ValueError>([&] {
            nll_from_logs(Tensor<double>{{0, 0}}, Indices{0});
        }) ==
        "nll_from_logs: the exponentials of item 0's log-probabilities sum to 2; they must sum to 1 within 0.001");
    BOOST_TEST(error_of<ValueError>([&] { ece(p, y, {.bins = 0}); }) ==
               "reliability_bins: 0 bins; at least 1 is needed");
    BOOST_TEST(error_of<ValueError>([&] { ece(std::span<const ReliabilityBin>()); }) == "ece: there are no items");
    BOOST_TEST(error_of<ValueError>([&] { mce(std::span<const ReliabilityBin>()); }) == "mce: there are no items");
}

BOOST_AUTO_TEST_CASE(errors_of_scores_and_numbers) {
    const Tensor<double> x{1, 2};
    BOOST_TEST(error_of<ShapeError>([&] {
                   auroc(Tensor<double>{{1, 2}}, x);
               }) == "auroc: the scores `in` have shape (1, 2); (n) is needed");
    BOOST_TEST(error_of<ValueError>([&] { aupr(x, Tensor<double>()); }) == "aupr: there are no scores `out`");
    BOOST_TEST(error_of<ValueError>([&] {
                   auroc_standard_error(x, Tensor<double>{0, nan});
               }) == "auroc_standard_error: score 1 of `out` is NaN");
    BOOST_TEST(error_of<ShapeError>([&] {
                   rmse(x, Tensor<double>{1, 2, 3});
               }) == "rmse: predictions have shape (2), targets (3); they must be equal");
    BOOST_TEST(error_of<ValueError>([&] { mean_absolute_error(Tensor<float>(), Tensor<float>()); }) ==
               "mean_absolute_error: there are no items");
    BOOST_TEST(error_of<ShapeError>([&] { mixture_log_likelihood(x, 1, x); }) ==
               "mixture_log_likelihood: means have shape (2), targets (2); (draws, n) and (n), or (draws, n, k) and "
               "(n, k), are needed");
    BOOST_TEST(error_of<ShapeError>([&] {
                   mixture_log_likelihood(Tensor<double>{{1, 2}}, x, x);
               }) == "mixture_log_likelihood: means have shape (1, 2), sds (2); they must be equal");
    BOOST_TEST(error_of<ValueError>([&] {
                   mixture_log_likelihood(Tensor<double>::zeros({0, 2}), 1, x);
               }) == "mixture_log_likelihood: there are no draws");
    BOOST_TEST(error_of<ValueError>([&] {
                   mixture_log_likelihood(Tensor<double>{{1, 2}}, -1, x);
               }) == "mixture_log_likelihood: the sd is -1; it must be positive and finite");
    BOOST_TEST(error_of<ValueError>([&] {
                   mixture_log_likelihood(Tensor<double>{{1, 2}}, Tensor<double>{{1, 0}}, x);
               }) == "mixture_log_likelihood: sd 1 is 0; it must be positive and finite");
}

BOOST_AUTO_TEST_SUITE_END()
