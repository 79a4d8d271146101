#include "../../support.hpp"

#include <pollen/autograd/support/thread_group.hpp>
#include <pollen/data/sets/spread.hpp>

#include <numeric>

using namespace pollen;
using namespace pollen::test;

BOOST_AUTO_TEST_SUITE(spreads)

BOOST_AUTO_TEST_CASE(every_item_is_in_one_block) {
    for (std::int64_t items = 1; items <= 130; ++items)
        for (std::int64_t blocks = 1; blocks <= items; ++blocks) {
            const Spread spread(Group::alone(), items, blocks);
            std::int64_t smallest = items, largest = 0, wrong = 0;
            for (std::int64_t k = 0; k < blocks; ++k) {
                const std::int64_t size = spread.begin(k + 1) - spread.begin(k);
                smallest = std::min(smallest, size);
                largest = std::max(largest, size);
                for (std::int64_t item = spread.begin(k); item < spread.begin(k + 1); ++item)
                    wrong += spread.block_of(item) != k;
            }
            BOOST_REQUIRE_EQUAL(wrong, 0);
            BOOST_REQUIRE_EQUAL(spread.begin(blocks), items);
            BOOST_REQUIRE(smallest >= 1 && largest - smallest <= 1);
        }
}

// All ranks together have each item of the batch once, in an order that does not depend on their number.
BOOST_AUTO_TEST_CASE(a_batch_in_parts) {
    const std::vector<std::int64_t> batch{17, 3, 99, 0, 18, 55, 54, 3, 98};
    const auto row_of_each = [&](int ranks) {
        std::vector<std::int64_t> rows(batch.size(), -1);
        std::vector<std::int64_t> found(batch.size());
        run_group(ranks, [&](Group& group) {
            const Spread spread(group, 100, 8);
            for (const Spread::Part& part : spread.parts(batch))
                for (std::size_t k = 0; k < part.items.size(); ++k) {
                    const auto place = static_cast<std::size_t>(part.places[k]);
                    rows[place] = part.first_row + static_cast<std::int64_t>(k);
                    found[place] = spread.first() + part.items[k];
                }
        });
        BOOST_TEST(found == batch, boost::test_tools::per_element());
        return rows;
    };
    // Blocks of 12 or 13 items: 0 to 11, 12 to 24, ..., 87 to 99.
    const std::vector<std::int64_t> rows{3, 0, 7, 1, 4, 5, 6, 2, 8};
    for (const int ranks : {1, 2, 3, 7, 8}) BOOST_TEST(row_of_each(ranks) == rows, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(errors) {
    const auto error_for = [](std::int64_t items, std::int64_t blocks) {
        return error_of<ValueError>([&] { Spread(Group::alone(), items, blocks); });
    };
    const std::string limits = "; 1 to 2^40 items and 1 to 2^20 blocks are possible";
    BOOST_TEST(error_for(0, 1) == "Spread: 0 items in 1 blocks" + limits);
    BOOST_TEST(error_for(9, 0) == "Spread: 9 items in 0 blocks" + limits);
    BOOST_TEST(error_for(9, 10) == "Spread: 9 items in 10 blocks; a block must have an item");
    const Spread spread(Group::alone(), 10, 5);
    BOOST_TEST(error_of<ValueError>([&] { spread.begin(6); }) == "Spread: there is no block 6 of 5");
    BOOST_TEST(error_of<ValueError>([&] { spread.block_of(10); }) == "Spread: there is no item 10 of 10");
    const std::vector<std::int64_t> batch{3, -1};
    BOOST_TEST(error_of<ValueError>([&] { spread.parts(batch); }) == "Spread: there is no item -1 of 10");
    std::vector<std::string> texts(3);
    run_group(3, [&](Group& group) {
        texts[static_cast<std::size_t>(group.rank())] = error_of<ValueError>([&] { Spread(group, 9, 2); });
    });
    for (const std::string& text : texts)
        BOOST_TEST(text == "Spread: 9 items in 2 blocks for 3 ranks; each rank must have a block");
    BOOST_TEST(
        error_of<GroupError>([] { run_group(3, [](Group& group) { Spread(group, 9 + group.rank() / 2, 3); }); }) ==
        "the ranks do not agree on the items of a Spread: ranks 0 and 1: \"9 items in 3 blocks\"; rank 2: \"10 items "
        "in 3 blocks\"");
}

BOOST_AUTO_TEST_SUITE_END()
