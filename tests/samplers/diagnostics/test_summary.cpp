#include "../../support.hpp"
#include "../full_batch/exact_draws.hpp"

#include <pollen/autograd/parallel.hpp>
#include <pollen/samplers/diagnostics/function_space.hpp>
#include <pollen/samplers/diagnostics/summary.hpp>

#include <limits>

using namespace pollen;
using namespace pollen::test;

BOOST_AUTO_TEST_SUITE(summary_table)

namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

// Quantity k of chain c is exact_chain(100 k + c + 1, draws, rho[k]).
Tensor<double> draws_of(int chains, int draws, const std::vector<double>& rho) {
    const auto quantities = static_cast<std::int64_t>(rho.size());
    Tensor<double> x = Tensor<double>::zeros({chains, draws, quantities});
    for (std::int64_t k = 0; k < quantities; ++k) {
        for (int c = 0; c < chains; ++c) {
            const std::vector<double> row =
                exact_chain(100 * static_cast<double>(k) + c + 1, draws, rho[static_cast<std::size_t>(k)]);
            for (int t = 0; t < draws; ++t) x.mutable_at(c, t, k) = row[static_cast<std::size_t>(t)];
        }
    }
    return x;
}

void change(Tensor<double>& x, std::int64_t quantity, auto f) {
    for (std::int64_t c = 0; c < x.shape()[0]; ++c) {
        for (std::int64_t t = 0; t < x.shape()[1]; ++t) x.mutable_at(c, t, quantity) = f(c, t, x(c, t, quantity));
    }
}

bool same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }
bool same(const QuantitySummary& a, const QuantitySummary& b) {
    return same(a.mean, b.mean) && same(a.sd, b.sd) && same(a.mcse, b.mcse) && same(a.q5, b.q5) && same(a.q50, b.q50) &&
           same(a.q95, b.q95) && same(a.ess_bulk, b.ess_bulk) && same(a.ess_tail, b.ess_tail) && same(a.rhat, b.rhat) &&
           a.not_finite == b.not_finite && a.constant == b.constant;
}

using Names = std::vector<std::string>;

}  // namespace

// The numbers are those of posterior's summarise_draws().
BOOST_AUTO_TEST_CASE(good_draws) {
    Tensor<double> x = draws_of(4, 1000, {0, 0.5, -0.5});
    change(x, 1, [](auto, auto, double v) { return 1000 * v + 50000; });
    change(x, 2, [](auto, auto, double v) { return v / 65536; });
    const Names names{"mu", "theta.1", "τ"};
    BOOST_TEST(summary(names, x) ==
               R"(              mean         sd       mcse          5%        50%        95%  ess_bulk  ess_tail  r_hat
mu       -0.009357     0.4993   0.007804     -0.8326   -0.01406     0.8199      4088      4074  1.000
theta.1      49986      577.6      15.93       49051      49989      50949      1311      2224  1.001
τ        4.448e-09  8.732e-06  7.476e-08  -1.468e-05  7.381e-08  1.428e-05     13618      3987  1.000

4 chains of 1000 draws
)");
    BOOST_TEST(warnings(names, x).empty());
}

BOOST_AUTO_TEST_CASE(what_the_sampler_says) {
    const Tensor<double> x = draws_of(2, 1000, {0});
    const std::vector<double> energy0 = exact_chain(5, 1000, 0), energy1 = exact_chain(6, 1000, 0.5);
    const std::vector<double> accept0(1000, 0.75), accept1(1000, 1);
    const std::vector<std::uint8_t> divergent(1000, 0);
    const std::vector<std::int32_t> depth(1000, 9);
    const std::vector<ChainStatistics> statistics{{energy0, divergent, depth, accept0},
                                                  {energy1, divergent, depth, accept1}};
    const std::string text = summary(Names{"x"}, x, {.statistics = statistics});
    BOOST_TEST(text.substr(text.find("\n\n")) ==
               "\n\n2 chains of 1000 draws; acceptance 0.88 (0.75 to 1.00); 0 divergences; E-BFMI at least 1.00\n");
}

BOOST_AUTO_TEST_CASE(all_of_them) {
    const Tensor<double> x = draws_of(2, 1000, {0});
    const std::vector<std::int32_t> depth(1000, 9);
    const std::vector<ChainStatistics> statistics{{.tree_depth = depth}, {.tree_depth = depth}};
    const std::vector<std::string> said = warnings(Names{"x"}, x, {.statistics = statistics, .max_tree_depth = 9});
    BOOST_TEST_REQUIRE(said.size() == 1U);
    BOOST_TEST(said[0].starts_with("Tree depth: 2000 of 2000 draws (100 %) reached the limit of 9. "));
}

// The weights of a network are not what has to agree.
BOOST_AUTO_TEST_CASE(networks_are_compared_by_what_they_compute) {
    Tensor<double> x = draws_of(4, 200, {0});
    change(x, 0, [](auto c, auto, double v) { return v + static_cast<double>(c); });
    const std::string hint = " Weights of a network are not identified: look at function_space.";
    BOOST_TEST(warnings(Names{"w"}, x, {.network = true})[0].ends_with(hint));
    BOOST_TEST(!warnings(Names{"w"}, x)[0].ends_with(hint));
}

BOOST_AUTO_TEST_CASE(one_quantity) {
    const Tensor<double> x = draws_of(4, 200, {0}).reshaped({4, 200});
    BOOST_TEST(summarise(Chains(x)).ess_bulk == ess_bulk(x));
    BOOST_TEST(error_of<ShapeError>([&] { summarise(x); }) ==
               "summarise: draws are (4, 200); (chains, draws, quantities) is expected, or one quantity as Chains: "
               "summarise(Chains(x))");
}

BOOST_AUTO_TEST_CASE(every_warning) {
    Tensor<double> x = draws_of(4, 200, {0, 0.5, 0.9375, 0, 0, 0, 0, 0, 0, 0, 0});
    change(x, 1, [](auto c, auto, double v) { return v + static_cast<double>(c); });
    change(x, 3, [](auto, auto, double) { return 0.1; });
    change(x, 4, [](auto c, auto t, double v) { return c == 0 && t < 3 ? nan : v; });
    change(x, 5, [](auto c, auto, double) { return static_cast<double>(c); });
    for (std::int64_t k = 6; k < 10; ++k)
        change(x, k, [&](auto c, auto, double v) { return v + 0.5 * static_cast<double>(c * k); });
    change(x, 10, [](auto, auto, double v) { return v > 0 ? 1 : 0; });
    const Names names{"good", "moved", "slow", "fixed", "broken", "stuck", "a", "b", "c", "d", "binary"};
    const std::vector<double> still = exact_chain(5, 200, 1), lively = exact_chain(6, 200, 0);
    std::vector<std::uint8_t> divergent(200, 0);
    divergent[3] = divergent[77] = divergent[199] = 1;
    std::vector<std::int32_t> depth(200, 4);
    depth[0] = 6;
    const std::vector<ChainStatistics> statistics{{.energy = lively, .divergent = divergent, .tree_depth = depth},
                                                  {.energy = still, .divergent = divergent, .tree_depth = depth},
                                                  {.energy = lively},
                                                  {.energy = still}};
    const std::string text = summary(names, x, {.statistics = statistics, .max_tree_depth = 6});
    BOOST_TEST(text ==
               R"(            mean      sd     mcse       5%       50%     95%  ess_bulk  ess_tail  r_hat
good    -0.02106  0.4969  0.01737  -0.8387  -0.02874  0.7983       817       812  1.001
moved      1.558   1.305   0.5727  -0.6114     1.568   3.589         5        40  2.160
slow      0.3131   1.319   0.3005   -1.978    0.2876   2.538        19        85  1.218
fixed     0.1000       0      nan   0.1000    0.1000  0.1000       nan       nan    nan
broken       nan     nan      nan      nan       nan     nan       nan       nan    nan
stuck      1.500   1.119   0.5481        0     1.500   3.000         4       nan    inf
a          4.508   3.410    1.655  -0.3915     4.496   9.523         5        34  2.845
b          5.274   3.932    1.910  -0.3520     5.277   10.96         5        37  2.847
c          5.971   4.533    2.210  -0.4740     5.947   12.39         5        32  2.854
d          6.768   5.089    2.482  -0.4983     6.778   14.05         5        34  2.853
binary    0.4850  0.5001  0.01805        0         0   1.000       768       nan  1.003

4 chains of 200 draws; 6 divergences; E-BFMI at least 0.04
Warning: NaN or infinite in some of 800 draws: broken (3). Nothing computed from these draws can be trusted.
Warning: The same in every draw: fixed. Unless that is meant, the chains did not move.
Warning: R-hat above 1.01 for 7 of 11 quantities: stuck (inf), c (2.854), d (2.853), b (2.847), a (2.845) and 2 more. The chains do not agree yet; run them longer, or reparameterise the model.
Warning: ESS below 100 a chain (400 in all) for 7 of 11 quantities: stuck (4), c (5), d (5), b (5), a (5) and 2 more. Means and quantiles are rough, and so are the diagnostics; draw more.
Warning: R-hat or ESS cannot be computed for stuck, binary: the draws take too few different values.
Warning: Divergences: 6 of 400 draws (1.5 %). The sampler cannot follow the posterior there and the draws are biased away from it; raise the target acceptance towards 1 (smaller steps), or reparameterise the model.
Warning: Tree depth: 2 of 400 draws (0.5 %) reached the limit of 6. Trajectories are cut short there, which is no error but makes the draws less independent; raise the limit, or rescale the parameters.
Warning: E-BFMI below 0.3 in chain 2 (0.04), chain 4 (0.04). The energy changes too slowly to reach the tails; reparameterise the model.
)");
    const std::vector<std::string> found = warnings(names, x, {.statistics = statistics, .max_tree_depth = 6});
    BOOST_TEST(found.size() == 8U);
    for (const std::string& warning : found) BOOST_TEST(text.find("Warning: " + warning + "\n") != text.npos);
}

BOOST_AUTO_TEST_CASE(few_draws) {
    BOOST_TEST(summary(Names{"x"}, draws_of(1, 1, {0})) ==
               R"(      mean   sd  mcse       5%      50%      95%  ess_bulk  ess_tail  r_hat
x  -0.6129  nan   nan  -0.6129  -0.6129  -0.6129       nan       nan    nan

1 chain of 1 draw
Warning: 1 draw a chain: too few for the diagnostics. R-hat needs 4 and ESS 6; hundreds are usual.
Warning: One chain: R-hat can only compare its two halves. Run at least 4 chains.
)");
    BOOST_TEST(warnings(Names{"x"}, draws_of(4, 5, {0}))[0] ==
               "5 draws a chain: too few for the diagnostics. R-hat needs 4 and ESS 6; hundreds are usual.");
    BOOST_TEST(summary(Names{}, Tensor<double>::zeros({4, 1000, 0})) ==
               "  mean  sd  mcse  5%  50%  95%  ess_bulk  ess_tail  r_hat\n\n4 chains of 1000 draws\n");
}

BOOST_AUTO_TEST_CASE(together_as_one_by_one) {
    Tensor<double> x = draws_of(3, 51, {0, 0.5, -0.5, 0.875, 1, 0, 0, 0, 0});
    change(x, 5, [](auto, auto t, double v) { return t == 7 ? nan : v; });
    change(x, 6, [](auto, auto t, double v) { return t == 7 ? -1 / 0.0 : v; });
    change(x, 7, [](auto, auto, double) { return 0.1; });
    change(x, 8, [](auto, auto, double v) { return std::floor(v); });
    const std::vector<QuantitySummary> all = summarise(x);
    for (std::int64_t k = 0; k < 9; ++k) {
        Tensor<double> one = Tensor<double>::zeros({3, 51});
        for (std::int64_t c = 0; c < 3; ++c) {
            for (std::int64_t t = 0; t < 51; ++t) one.mutable_at(c, t) = x(c, t, k);
        }
        const QuantitySummary& s = all[static_cast<std::size_t>(k)];
        BOOST_TEST(same(s, summarise(Chains(one))));
        BOOST_TEST(same(s.rhat, rhat(one)));
        BOOST_TEST(same(s.ess_bulk, ess_bulk(one)));
        BOOST_TEST(same(s.ess_tail, ess_tail(one)));
        BOOST_TEST(same(s.mcse, mcse_mean(one)));
        BOOST_TEST(same(s.q5, quantile(one.values(), 0.05)));
        BOOST_TEST(same(s.q50, quantile(one.values(), 0.5)));
        BOOST_TEST(same(s.q95, quantile(one.values(), 0.95)));
        BOOST_TEST(s.not_finite == (k == 5 || k == 6 ? 3 : 0));
        BOOST_TEST(s.constant == (k == 7));
    }
    for (const int threads : {1, 2, 4, 8}) {
        with_threads(threads, [&] {
            const std::vector<QuantitySummary> again = summarise(x);
            for (std::size_t k = 0; k < all.size(); ++k) BOOST_TEST(same(again[k], all[k]));
        });
    }
    // These draws are exact in float.
    BOOST_TEST(same(summarise(cast<float>(x))[1], all[1]));
}

BOOST_AUTO_TEST_CASE(predictions) {
    Tensor<double> x = draws_of(4, 100, {0, 0.5, 0.9375, 0, 0, -0.5});
    change(x, 3, [](auto, auto, double) { return 1; });
    change(x, 4, [](auto c, auto, double v) { return v + 2 * static_cast<double>(c); });
    const std::vector<QuantitySummary> all = summarise(x);
    const FunctionSpace found = function_space(x.reshaped({4, 100, 2, 3}));
    BOOST_TEST(found.outputs == 6);
    BOOST_TEST(found.left_out == 1);
    BOOST_TEST(found.rhat.worst == all[4].rhat);
    BOOST_TEST(found.rhat.worst_output == 4);
    BOOST_TEST(found.ess_bulk.worst == std::min(all[4].ess_bulk, all[2].ess_bulk));
    const std::vector<double> rhats{all[0].rhat, all[1].rhat, all[2].rhat, all[4].rhat, all[5].rhat};
    BOOST_TEST(found.rhat.q5 == quantile(rhats, 0.05));
    BOOST_TEST(found.rhat.q50 == quantile(rhats, 0.5));
    BOOST_TEST(found.rhat.q95 == quantile(rhats, 0.95));
    const std::vector<double> tails{all[0].ess_tail, all[1].ess_tail, all[2].ess_tail, all[4].ess_tail,
                                    all[5].ess_tail};
    BOOST_TEST(found.ess_tail.worst == quantile(tails, 0));
    BOOST_TEST(found.ess_tail.q50 == quantile(tails, 0.5));
    const FunctionSpace some{.rhat = {1.0525, 1, 1.001, 1.02, 4},
                             .ess_bulk = {80, 90, 350.4, 400, 2},
                             .ess_tail = {70, 85, 300, 390, 2},
                             .outputs = 6,
                             .left_out = 1};
    BOOST_TEST(summary(some) ==
               "6 outputs, 1 of them constant or not finite\n"
               "r_hat     at most  1.052 (output 4); 5 %, 50 % and 95 % of outputs: 1.000, 1.001, 1.020\n"
               "ess_bulk  at least 80 (output 2); 5 %, 50 % and 95 % of outputs: 90, 350, 400\n"
               "ess_tail  at least 70 (output 2); 5 %, 50 % and 95 % of outputs: 85, 300, 390\n");
    const FunctionSpace nothing = function_space(Tensor<float>::zeros({2, 10, 3}));
    BOOST_TEST(summary(nothing) == "3 outputs, 3 of them constant or not finite\n");
    BOOST_TEST(nothing.left_out == 3);
    BOOST_TEST((std::isnan(nothing.rhat.worst) && nothing.rhat.worst_output == -1));
}

BOOST_AUTO_TEST_CASE(errors) {
    const Tensor<double> x = draws_of(2, 10, {0, 0});
    const auto text_of = [&](const Names& names, const Tensor<double>& draws, const SummaryOptions& options = {}) {
        return error_of<ShapeError>([&] { summary(names, draws, options); });
    };
    const Names two{"a", "b"};
    BOOST_TEST(text_of({"a"}, x) == "summary: 1 name for draws (2, 10, 2), which hold 2 quantities");
    BOOST_TEST(text_of(two, normals({2, 10})) == "summary: draws are (2, 10); (chains, draws, quantities) is expected");
    BOOST_TEST(text_of(two, normals({0, 10, 2})) ==
               "summary: draws are (0, 10, 2); at least one chain of one draw is needed");
    BOOST_TEST(text_of(two, normals({2, 0, 2})) ==
               "summary: draws are (2, 0, 2); at least one chain of one draw is needed");
    const std::vector<double> three(3);
    const std::vector<std::uint8_t> one(1);
    const std::vector<ChainStatistics> single(1), energies{{}, {.energy = three}}, divergent{{}, {.divergent = one}};
    BOOST_TEST(text_of(two, x, {.statistics = single}) == "summary: statistics of 1 chain for draws (2, 10, 2)");
    BOOST_TEST(text_of(two, x, {.statistics = energies}) == "summary: energy of chain 2 has 3 numbers for 10 draws");
    BOOST_TEST(text_of(two, x, {.statistics = divergent}) == "summary: divergent of chain 2 has 1 number for 10 draws");
    BOOST_TEST(error_of<ShapeError>([&] {
                   summarise(normals({2, 10}));
               }) ==
               "summarise: draws are (2, 10); (chains, draws, quantities) is expected, or one quantity as Chains: "
               "summarise(Chains(x))");
    BOOST_TEST(error_of<ShapeError>([&] {
                   summarise(normals({2, 0, 3}));
               }) == "summarise: draws are (2, 0, 3); at least one chain of one draw is needed");
    BOOST_TEST(
        error_of<ShapeError>([&] {
            function_space(normals({2, 10}));
        }) == "function_space: predictions are (2, 10); (chains, draws, outputs...) is expected, at least one of each");
    BOOST_TEST(error_of<ValueError>([&] {
                   function_space(normals({2, 5, 3}));
               }) == "function_space: 5 draws a chain; at least 6 are needed");
}

BOOST_AUTO_TEST_SUITE_END()
