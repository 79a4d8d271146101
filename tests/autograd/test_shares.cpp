#include "../support.hpp"

#include <pollen/autograd/shares.hpp>

#include <bit>

using namespace pollen;
using namespace pollen::test;

BOOST_AUTO_TEST_SUITE(shares)

// The parts of tree_sum()'s tree that a share consists of: [k 2^e, (k + 1) 2^e), or less at the end of the leaves.
std::int64_t subtrees(std::int64_t first, std::int64_t last, std::int64_t leaves) {
    std::int64_t count = 0;
    for (std::int64_t size = 1; first < last; first += size, ++count) {
        size = 1;
        while (first % (2 * size) == 0 && (first + 2 * size <= last || (last == leaves && first + size < last)))
            size *= 2;
    }
    return count;
}

BOOST_AUTO_TEST_CASE(cuts_are_balanced) {
    for (std::int64_t leaves = 0; leaves <= 1500; ++leaves)
        for (int ranks = 1; ranks <= 40; ++ranks) {
            const Shares shares = Shares::cut(leaves, ranks);
            std::int64_t most = 0, all = 0;
            for (int rank = 0; rank < ranks; ++rank) {
                most = std::max(most, shares.count(rank));
                all += shares.count(rank);
            }
            BOOST_REQUIRE_EQUAL(all, leaves);
            BOOST_REQUIRE_EQUAL(shares.ranks(), ranks);
            const bool even = most <= (leaves + ranks - 1) / ranks, close = most * ranks * 20 <= leaves * 21;
            BOOST_REQUIRE_MESSAGE(even || close,
                                  "the largest of " << ranks << " shares of " << leaves << " has " << most);
        }
}

BOOST_AUTO_TEST_CASE(a_share_is_a_few_subtrees) {
    std::int64_t most = 0;
    for (const std::int64_t leaves : {1000, 4096, 20000, 50000, 1 << 20})
        for (int ranks = 1; ranks <= 128; ++ranks) {
            const Shares shares = Shares::cut(leaves, ranks);
            if (leaves < 40 * ranks) continue;  // 5 % is less than two leaves
            for (int rank = 0; rank < ranks; ++rank)
                most = std::max(most, subtrees(shares.first(rank), shares.last(rank), leaves));
            if (std::has_single_bit(static_cast<unsigned>(ranks)) &&
                std::has_single_bit(static_cast<std::uint64_t>(leaves)))
                for (int rank = 0; rank < ranks; ++rank)
                    BOOST_TEST(subtrees(shares.first(rank), shares.last(rank), leaves) == 1);
        }
    BOOST_TEST(most <= 9);
}

BOOST_AUTO_TEST_CASE(very_many_leaves) {
    const std::int64_t leaves = std::int64_t{1} << 62;
    const Shares shares = Shares::cut(leaves, 3);
    BOOST_TEST(shares.first(1) == std::int64_t{21} << 56);  // 21/64 of them
    BOOST_TEST(shares.owner(leaves - 1) == 2);
}

BOOST_AUTO_TEST_CASE(owners) {
    const Shares shares({0, 0, 3, 3, 5, 5});
    const std::vector<int> expected{1, 1, 1, 3, 3};
    for (std::int64_t leaf = 0; leaf < 5; ++leaf)
        BOOST_TEST(shares.owner(leaf) == expected[static_cast<std::size_t>(leaf)]);
    BOOST_TEST(shares.count(0) == 0);
    BOOST_TEST(shares.first(3) == 3);
    BOOST_TEST(shares.last(3) == 5);
    BOOST_TEST(shares.checksum() != Shares({0, 3, 3, 3, 5, 5}).checksum());
}

BOOST_AUTO_TEST_CASE(errors) {
    const auto message = [](const auto& f) { return error_of<ValueError>(f); };
    BOOST_TEST(message([] { Shares({0}); }) == "Shares: 1 numbers; one share needs two, 0 and its end");
    BOOST_TEST(message([] { Shares({1, 2}); }) == "Shares: the first share begins at 1 instead of 0");
    BOOST_TEST(message([] { Shares({0, 4, 3}); }) == "Shares: the share of rank 1 begins at 4 and ends at 3");
    BOOST_TEST(message([] {
                   Shares({0, (std::int64_t{1} << 62) + 1});
               }) == "Shares: 4611686018427387905 leaves for 1 ranks; at most 2^62 and 2^24 are possible");
    BOOST_TEST(message([] { Shares::cut(-1, 2); }) ==
               "Shares::cut: -1 leaves for 2 ranks; it takes 0 to 2^62 leaves and 1 to 2^24 ranks");
    BOOST_TEST(message([] { Shares::cut(5, 0); }) ==
               "Shares::cut: 5 leaves for 0 ranks; it takes 0 to 2^62 leaves and 1 to 2^24 ranks");
    const Shares shares = Shares::cut(5, 2);
    BOOST_TEST(message([&] { shares.first(2); }) == "Shares: there is no rank 2 of 2");
    BOOST_TEST(message([&] { shares.owner(5); }) == "Shares: there is no leaf 5 of 5");
}

BOOST_AUTO_TEST_SUITE_END()
