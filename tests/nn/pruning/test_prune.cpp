#include "../../support.hpp"

#include <pollen/nn/pruning/prune.hpp>

#include <algorithm>
#include <numeric>

using namespace pollen;
using namespace pollen::test;

namespace {

// |mean| / sd: 10, 1, 0.1, 0, 2, 4 in the first layer, 100, 0.5 and 3, 0.01 in the others.
std::vector<WeightPosterior<double>> small() {
    return {{"0.weight", Tensor<double>{{1, -1, 0.1}, {0, -2, 4}}, Tensor<double>{{0.1, 1, 1}, {1, 1, 1}}},
            {"0.bias", Tensor<double>{0.001, 5}, Tensor<double>{1, 1}},
            {"1.weight", Tensor<double>{{10, -0.5}}, Tensor<double>{{0.1, 1}}},
            {"2.weight", Tensor<double>{{3, 0.01}}, Tensor<double>{{1, 1}}}};
}

std::vector<WeightPosterior<float>> large(std::int64_t n) {
    Tensor<double> sd = uniforms({n, 50}, 0.1, 1, 2);
    return {{"a", cast<float>(normals({n, 50}, 1)), cast<float>(sd)},
            {"b", cast<float>(normals({20, n}, 3)), cast<float>(uniforms({20, n}, 0.5, 2, 4))}};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(pruning)

BOOST_AUTO_TEST_CASE(by_threshold) {
    const auto pruned = prune(small(), {.threshold = 0});  // 0 dB: as much signal as noise
    BOOST_TEST((pruned[0].mean == Tensor<double>{{1, -1, 0}, {0, -2, 4}}));
    BOOST_TEST((pruned[0].mask == Tensor<double>{{1, 1, 0}, {0, 1, 1}}));
    BOOST_TEST(pruned[0].left == 4);
    BOOST_TEST(pruned[0].threshold == 0.);
    BOOST_TEST((pruned[1].mean == Tensor<double>{0.001, 5}));  // a bias
    BOOST_TEST(!pruned[1].pruned);
    BOOST_TEST((pruned[2].mean == Tensor<double>{{10, 0}}));
    BOOST_TEST(pruned[2].threshold == 20., boost::test_tools::tolerance(1e-15));
    BOOST_TEST((pruned[3].mean == Tensor<double>{{3, 0}}));
    BOOST_TEST((prune(small(), {.threshold = 0, .biases = true})[1].mean == Tensor<double>{0, 5}));
    BOOST_TEST(report(pruned) ==
               "0.weight  4 of 6 left (66.67 %), at least 0\n"
               "0.bias  2 of 2 left (100.00 %), not pruned\n"
               "1.weight  1 of 2 left (50.00 %), at least 20\n"
               "2.weight  1 of 2 left (50.00 %), at least 4.77\n");
}

BOOST_AUTO_TEST_CASE(by_fraction) {
    // In all ten: 0, 0.01, 0.1, 0.5, 1 go.
    const auto whole = prune(small(), {.fraction = 0.5});
    BOOST_TEST((whole[0].mean == Tensor<double>{{1, 0, 0}, {0, -2, 4}}));
    BOOST_TEST((whole[2].mean == Tensor<double>{{10, 0}}));
    BOOST_TEST((whole[3].mean == Tensor<double>{{3, 0}}));
    const auto layers = prune(small(), {.fraction = 0.5, .scope = Scope::each_layer});
    BOOST_TEST((layers[0].mean == whole[0].mean));
    BOOST_TEST(layers[2].left == 1);
    const auto all = prune(small(), {.fraction = 1});
    BOOST_TEST(all[0].left == 0);
    BOOST_TEST(std::isinf(all[0].threshold));
    BOOST_TEST((prune(small(), {.fraction = 0})[0].mean == small()[0].mean));
}

// Equal weights: the first go first, and exactly as many as were asked for.
BOOST_AUTO_TEST_CASE(ties) {
    const std::vector<WeightPosterior<float>> equal{
        {"w", Tensor<float>::ones({7, 11}), Tensor<float>::full({7, 11}, 0.3f)}};
    for (const double fraction : {0., 0.25, 0.5, 0.95, 1.}) {
        const auto gone = std::llround(fraction * 77);
        const auto pruned = prune(equal, {.fraction = fraction});
        BOOST_TEST(pruned[0].left == 77 - gone);
        for (std::int64_t i = 0; i < 77; ++i) BOOST_TEST((pruned[0].mask.data()[i] == 0.f) == (i < gone));
    }
}

BOOST_AUTO_TEST_CASE(a_large_net) {
    const auto posterior = large(300);
    for (const Criterion by : {Criterion::signal_to_noise, Criterion::kl_change})
        for (const double fraction : {0.5, 0.95, 0.98}) {
            const auto pruned = prune(posterior, {.fraction = fraction, .by = by});
            BOOST_TEST(pruned[0].left + pruned[1].left == 21000 - std::llround(fraction * 21000));
            const auto layers = prune(posterior, {.fraction = fraction, .scope = Scope::each_layer, .by = by});
            BOOST_TEST(layers[0].left == 15000 - std::llround(fraction * 15000));
            BOOST_TEST(layers[1].left == 6000 - std::llround(fraction * 6000));
            // The same cut by its threshold.
            const double cut = std::min(pruned[0].threshold, pruned[1].threshold);
            const auto again = prune(posterior, {.threshold = cut, .by = by});
            for (std::size_t k = 0; k < 2; ++k) BOOST_TEST((again[k].mean == pruned[k].mean));
        }
}

// KL[N(m, s^2) || N(0, p^2)], numbers by SciPy 1.10 (quad of q log(q / p)).
BOOST_AUTO_TEST_CASE(by_the_change_of_kl) {
    const std::vector<WeightPosterior<double>> weights{
        {"w", Tensor<double>{{0.5, -1, 0, 2}}, Tensor<double>{{0.5, 0.1, 2, 1}}}};
    // 0.5 / 0.5: 0.44314718; -1 / 0.1: 2.30758509; 0 / 2: 0.80685282; 2 / 1: 2 nats against N(0, 1)
    BOOST_TEST(
        (prune(weights, {.fraction = 0.25, .by = Criterion::kl_change})[0].mask == Tensor<double>{{0, 1, 1, 1}}));
    const auto half = prune(weights, {.fraction = 0.5, .by = Criterion::kl_change});
    BOOST_TEST((half[0].mean == Tensor<double>{{0, -1, 0, 2}}));
    BOOST_TEST((half[0].mask == Tensor<double>{{0, 1, 0, 1}}));
    BOOST_TEST(half[0].threshold == 2., boost::test_tools::tolerance(1e-14));
    BOOST_TEST(prune(weights, {.fraction = 0.75, .by = Criterion::kl_change})[0].threshold == 2.307585092994046,
               boost::test_tools::tolerance(1e-14));
    BOOST_TEST(prune(weights, {.fraction = 0.25, .by = Criterion::kl_change})[0].threshold == 0.8068528194400547,
               boost::test_tools::tolerance(1e-14));
    // With another prior another order: the wide one goes first.
    const auto wide = prune(weights, {.fraction = 0.25, .by = Criterion::kl_change, .prior_sd = 2});
    BOOST_TEST((wide[0].mask == Tensor<double>{{1, 1, 0, 1}}));
}

BOOST_AUTO_TEST_CASE(signal_to_noise_and_histogram) {
    const std::vector<double> snr = signal_to_noise(small());
    BOOST_TEST(snr.size() == 10u);
    BOOST_TEST(snr[0] == 10., boost::test_tools::tolerance(1e-15));
    BOOST_TEST(snr[1] == 0.);
    BOOST_TEST(snr[2] == -10., boost::test_tools::tolerance(1e-15));
    BOOST_TEST((std::isinf(snr[3]) && snr[3] < 0));
    BOOST_TEST(snr[4] == 3.010299956639812, boost::test_tools::tolerance(1e-15));
    BOOST_TEST(signal_to_noise(small(), true).size() == 12u);

    const Histogram h = histogram({-5, 0, 0.5, 1, 1.5, 2, 3, -std::numeric_limits<double>::infinity()}, 0, 2, 2);
    BOOST_TEST(h.edges == (std::vector<double>{0, 1, 2}), boost::test_tools::per_element());
    BOOST_TEST(h.counts == (std::vector<std::int64_t>{2, 3}), boost::test_tools::per_element());
    BOOST_TEST(h.below == 2);
    BOOST_TEST(h.above == 1);
    BOOST_TEST(h.density() == (std::vector<double>{0.25, 0.375}), boost::test_tools::per_element());
    BOOST_TEST(h.cumulative() == (std::vector<double>{0.25, 0.5, 0.875}), boost::test_tools::per_element());

    const std::vector<double> many = signal_to_noise(large(200));
    const Histogram all = histogram(many, 50);
    BOOST_TEST(all.total() == std::ssize(many));
    BOOST_TEST(all.below + all.above == 0);
    const std::vector<double> density = all.density();
    BOOST_TEST(std::accumulate(density.begin(), density.end(), 0.) * (all.edges[1] - all.edges[0]) == 1.,
               boost::test_tools::tolerance(1e-12));
    for (std::size_t k = 0; k < all.edges.size() - 1; ++k) {
        const double edge = all.edges[k];
        const auto under = std::count_if(many.begin(), many.end(), [&](double v) { return v < edge; });
        BOOST_TEST(all.cumulative()[k] == static_cast<double>(under) / static_cast<double>(many.size()));
    }
    BOOST_TEST(all.cumulative().back() == 1.);
    BOOST_TEST(histogram({}, 3).total() == 0);
    BOOST_TEST(histogram({2, 2}, 1).counts[0] == 2);
}

BOOST_AUTO_TEST_CASE(errors) {
    const auto why = [](const PruneOptions& options) { return error_of<ValueError>([&] { prune(small(), options); }); };
    BOOST_TEST(why({}) == "prune: give either a fraction or a threshold");
    BOOST_TEST(why({.fraction = 0.5, .threshold = 1}) == "prune: give either a fraction or a threshold");
    BOOST_TEST(why({.fraction = 1.5}) == "prune: fraction is 1.5; it must be from 0 to 1");
    BOOST_TEST(why({.threshold = std::nan("")}) == "prune: threshold is nan");
    BOOST_TEST(why({.fraction = 0.5, .prior_sd = 0}) == "prune: prior_sd is 0; it must be greater than 0");
    std::vector<WeightPosterior<double>> bad = small();
    bad[2].sd = Tensor<double>{{1, -1}};
    BOOST_TEST(error_of<ValueError>([&] { prune(bad, {.fraction = 0.5}); }) ==
               "prune: 1.weight: weight 1 has mean -0.5 and standard deviation -1; both must be finite, and the latter "
               "at least 0");
    bad[2].sd = Tensor<double>{1, 1};
    BOOST_TEST(error_of<ShapeError>([&] { signal_to_noise(bad); }) ==
               "prune: 1.weight: the means have shape (1, 2), the standard deviations (2)");
    BOOST_TEST(error_of<ValueError>([] { histogram({1}, 2, 1, 3); }) ==
               "histogram: from 2 to 1; the first must be less");
    BOOST_TEST(error_of<ValueError>([] { histogram({1}, 0); }) == "histogram: 0 bins; at least 1 is needed");
    BOOST_TEST(error_of<ValueError>([] { histogram({std::nan("")}, 0, 1, 3); }) == "histogram: a value is nan");
    BOOST_TEST(error_of<ValueError>([] { prune(std::vector<WeightPosterior<float>>{}, {.fraction = 0.5}); }) ==
               "prune: there are no weights with a posterior; bayesian(net) makes a network that has them");
}

BOOST_AUTO_TEST_SUITE_END()
