#include "../../support.hpp"

#include <pollen/autograd/support/detail/all_gathered.hpp>
#include <pollen/autograd/support/thread_group.hpp>
#include <pollen/samplers/run/detail/run_watch.hpp>

using namespace pollen;

// What ranks tell each other while chains run.
BOOST_AUTO_TEST_SUITE(run_watch)

BOOST_AUTO_TEST_CASE(numbers_of_all_ranks) {
    for (const int ranks : {1, 2, 3, 7}) {
        std::vector<std::int64_t> expected;  // rank r has r of them
        for (int rank = 0; rank < ranks; ++rank) expected.insert(expected.end(), static_cast<std::size_t>(rank), rank);
        run_group(ranks, [&](Group& group) {
            const auto rank = static_cast<std::size_t>(group.rank());
            const std::vector<std::int64_t> mine(rank, group.rank());
            if (detail::all_gathered(group, mine) != expected) throw Error("the numbers differ");
            if (detail::total(group, 0.5) != 0.5 * ranks) throw Error("the sum differs");
        });
    }
}

// Chains of which no step is made, since they are finished, keep their steps; and what a chain says comes to rank 0.
BOOST_AUTO_TEST_CASE(rank_0_knows_how_far_all_chains_are) {
    const std::vector<std::int64_t> first = {3, 100, 40, 100, 7};
    const Shares shares({0, 1, 3, 5});
    std::vector<detail::ChainStatus> seen;
    run_group(3, [&](Group& group) {
        const auto begin = first.begin() + shares.first(group.rank());
        detail::RunProgress progress(
            Show::nothing, detail::all_gathered(group, std::vector(begin, begin + shares.count(group.rank()))), 100);
        detail::RunWatch watch(group, shares, progress, [] { return detail::RunNews(); });
        watch.start();
        if (group.rank() == 2)
            progress.update(4, {.steps = 50, .warmup = false, .acceptance = 0.8, .step_size = 0.25, .divergences = 2});
        watch.finish();
        for (std::size_t c = 0; group.rank() == 0 && c < first.size(); ++c) seen.push_back(progress.status(c));
    });
    BOOST_REQUIRE(seen.size() == first.size());
    for (std::size_t c = 0; c < 4; ++c) BOOST_TEST(seen[c].steps == first[c]);
    BOOST_TEST(seen[4].steps == 50);
    BOOST_TEST(!seen[4].warmup);
    BOOST_TEST(seen[4].acceptance == 0.8);
    BOOST_TEST(seen[4].step_size == 0.25);
    BOOST_TEST((seen[4].divergences == 2));
}

BOOST_AUTO_TEST_SUITE_END()
