#include "../../support.hpp"

#include <pollen/data/sets/batch_draw.hpp>

#include <algorithm>
#include <set>

using namespace pollen;
using namespace pollen::test;

namespace {

// n of the items, from the random numbers of one seed, stream and step.
std::vector<std::int64_t> drawn(std::uint64_t seed, std::uint32_t stream, int step, std::int64_t n,
                                std::int64_t items) {
    Random random(seed, stream, static_cast<std::uint64_t>(step));
    std::vector<std::int64_t> out;
    BatchDraw()(random, n, items, out);
    return out;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(batch_draw)

// Every item, and every pair, is drawn equally often. For n of N items the counts of items have the variance
// steps n/N (1 - n/N); their normalised sum of squares times (N - 1) / N is chi-squared with N - 1 degrees of freedom.
// With mean k and sd sqrt(2k), six standard deviations are a false alarm in fewer than one of 10^5 tests.
BOOST_AUTO_TEST_CASE(all_items_equally_often) {
    for (const auto& [n, items] : {std::pair{1, 5}, {3, 7}, {10, 50}, {49, 50}, {130, 300}}) {
        const int steps = 20000;
        std::vector<double> counts(static_cast<std::size_t>(items));
        double pairs = 0;
        for (int t = 0; t < steps; ++t) {
            const std::vector<std::int64_t> out = drawn(3, 1, t, n, items);
            BOOST_REQUIRE_EQUAL(std::ssize(out), n);
            for (const std::int64_t k : out) ++counts.at(static_cast<std::size_t>(k));
            pairs += static_cast<double>(std::count(out.begin(), out.end(), 0) *
                                         std::count(out.begin(), out.end(), items - 1));
        }
        const double p = double(n) / items, variance = steps * p * (1 - p);
        double sum = 0;
        for (const double count : counts) sum += (count - steps * p) * (count - steps * p) / variance;
        sum *= (items - 1.0) / items;
        BOOST_TEST(std::abs(sum - (items - 1)) < 6 * std::sqrt(2 * (items - 1.0)), n << " of " << items << ": " << sum);
        const double both = p * (n - 1) / (items - 1);
        BOOST_TEST(std::abs(pairs - steps * both) <= 5 * std::sqrt(steps * both));
    }
}

BOOST_AUTO_TEST_CASE(no_item_twice_and_the_same_again) {
    std::vector<std::int64_t> again;
    BatchDraw draw;
    for (const std::int64_t items : {128LL, 200LL, 60000LL, 4294967296LL})
        for (int t = 0; t < 200; ++t) {
            const std::vector<std::int64_t> out = drawn(7, 2, t, 128, items);
            Random random(7, 2, static_cast<std::uint64_t>(t));
            draw(random, 128, items, again);
            BOOST_TEST((out == again));
            BOOST_TEST(std::set<std::int64_t>(out.begin(), out.end()).size() == 128u);
            BOOST_TEST(*std::min_element(out.begin(), out.end()) >= 0);
            BOOST_TEST(*std::max_element(out.begin(), out.end()) < items);
        }
    BOOST_TEST((drawn(7, 3, 0, 128, 60000) != drawn(7, 2, 0, 128, 60000)));
    BOOST_TEST((drawn(7, 2, 0, 128, 60000) != drawn(7, 2, 1, 128, 60000)));
}

BOOST_AUTO_TEST_CASE(errors) {
    BOOST_TEST(error_of<ValueError>([&] { drawn(0, 0, 0, 0, 5); }) ==
               "BatchDraw: a batch of 0 out of 5 items; it must have at least 1 and at most all of them");
    BOOST_TEST(error_of<ValueError>([&] { drawn(0, 0, 0, 6, 5); }) ==
               "BatchDraw: a batch of 6 out of 5 items; it must have at least 1 and at most all of them");
    BOOST_TEST(error_of<ValueError>([&] { drawn(0, 0, 0, 1, 4294967297); }) ==
               "BatchDraw: 4294967297 items; at most 2^32 can be drawn from");
}

BOOST_AUTO_TEST_SUITE_END()
