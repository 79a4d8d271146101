#include "../support.hpp"
#include "support/group_checks.hpp"

#include <pollen/autograd/ordered_sum.hpp>
#include <pollen/autograd/support/thread_group.hpp>

#include <atomic>

using namespace pollen;
using namespace pollen::test;

BOOST_AUTO_TEST_SUITE(ordered_sums)

// How many sums of 0 to 70 leaves are wrong, on any of the ranks.
template <Real T, class Sum>
std::int64_t wrong_on(int ranks, const Sum& sum) {
    std::atomic<std::int64_t> wrong = 0;
    run_group(ranks, [&](Group& group) { wrong += wrong_sums<T>(group, sum); });
    return wrong;
}

BOOST_AUTO_TEST_CASE(the_bits_of_a_single_process_on_any_number_of_ranks) {
    for (int ranks = 1; ranks <= 17; ++ranks) {
        BOOST_TEST(wrong_on<float>(ranks, in_tree_order) == 0, ranks << " ranks, float");
        BOOST_TEST(wrong_on<double>(ranks, in_tree_order) == 0, ranks << " ranks, double");
        BOOST_TEST(wrong_on<double>(ranks, into_first_row) == 0, ranks << " ranks, in place");
    }
    BOOST_TEST(wrong_sums<double>(Group::alone(), in_tree_order) == 0);
}

BOOST_AUTO_TEST_CASE(subtrees_that_ranks_have_added_up) {
    for (int ranks = 1; ranks <= 17; ++ranks) {
        BOOST_TEST(wrong_on<float>(ranks, by_subtrees) == 0, ranks << " ranks, float");
        BOOST_TEST(wrong_on<double>(ranks, by_subtrees) == 0, ranks << " ranks, double");
    }
    std::atomic<std::int64_t> wrong = 0;
    run_group(4, [&](Group& group) {
        wrong += wrong_columns<double>(group, uneven_shares(7, 4, 5), 300000, by_subtrees);
        wrong += wrong_columns<double>(group, Shares({0, 0, 0, 5, 7}), 300000, by_subtrees);
        wrong += wrong_columns<double>(group, uneven_shares(7, 4, 5), 0, by_subtrees);
    });
    BOOST_TEST(wrong == 0);
    const Shares shares({0, 3, 16, 16, 23});
    BOOST_TEST(subtrees_of(shares, 0) == (std::vector<std::int64_t>{0, 2}), boost::test_tools::per_element());
    BOOST_TEST(subtrees_of(shares, 1) == (std::vector<std::int64_t>{3, 4, 8}), boost::test_tools::per_element());
    BOOST_TEST(subtrees_of(shares, 2).empty());
    BOOST_TEST(subtrees_of(shares, 3) == (std::vector<std::int64_t>{16}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(the_order_of_the_ranks_is_another_one) {
    for (const int ranks : {2, 3, 8}) {
        BOOST_TEST(wrong_on<float>(ranks, in_rank_order) > 0, ranks << " ranks, float");
        BOOST_TEST(wrong_on<double>(ranks, in_rank_order) > 0, ranks << " ranks, double");
    }
}

BOOST_AUTO_TEST_CASE(many_ranks) {
    std::atomic<std::int64_t> wrong = 0;
    run_group(64, [&](Group& group) {
        wrong += wrong_columns<float>(group, Shares::cut(1000, 64), 5, in_tree_order);
        wrong += wrong_columns<float>(group, uneven_shares(1000, 64, 3), 5, in_tree_order);
        wrong += wrong_columns<float>(group, Shares::cut(37, 64), 5, in_tree_order);
    });
    BOOST_TEST(wrong == 0);
}

// Rows that are sent in several pieces, and rows of nothing.
BOOST_AUTO_TEST_CASE(long_rows_and_empty_ones) {
    std::atomic<std::int64_t> wrong = 0;
    run_group(4, [&](Group& group) {
        wrong += wrong_columns<double>(group, uneven_shares(7, 4, 5), 300000, in_tree_order);
        wrong += wrong_columns<double>(group, uneven_shares(7, 4, 5), 0, in_tree_order);
    });
    BOOST_TEST(wrong == 0);
}

BOOST_AUTO_TEST_CASE(errors) {
    std::vector<double> leaves(12), sum(3);
    Group& alone = Group::alone();
    const auto message = [&](const Shares& shares, std::size_t numbers, std::size_t width) {
        return error_of<ValueError>(
            [&] { ordered_sum(alone, shares, std::span(leaves).first(numbers), std::span(sum).first(width)); });
    };
    BOOST_TEST(message(Shares({0, 4}), 12, 3).empty());
    BOOST_TEST(message(Shares({0, 4}), 11, 3) == "ordered_sum: 11 numbers for a share of 4 leaves of 3 numbers each");
    BOOST_TEST(message(Shares({0, 3}), 12, 3) == "ordered_sum: 12 numbers for a share of 3 leaves of 3 numbers each");
    BOOST_TEST(message(Shares({0, 4}), 12, 0) == "ordered_sum: 12 numbers for a share of 4 leaves of 0 numbers each");
    BOOST_TEST(message(Shares({0, 2, 4}), 12, 3) == "ordered_sum: shares for 2 ranks; the group has 1");

    std::vector<std::span<double>> rows{std::span(leaves).first(3), std::span(leaves).subspan(3, 3)};
    const auto of_rows = [&](const Shares& shares, std::int64_t width, std::size_t to) {
        return error_of<ValueError>(
            [&] { add_ordered_sum<double>(alone, shares, rows, width, std::span(sum).first(to)); });
    };
    BOOST_TEST(of_rows(Shares({0, 2}), 3, 3) ==
               "add_ordered_sum: 1 row of 3 numbers needed, and on rank 0 as many numbers to add them to");
    BOOST_TEST(of_rows(Shares({0, 1, 2}), 3, 3) == "add_ordered_sum: shares for 2 ranks; the group has 1");

    // One rank of three has too few.
    std::vector<std::string> thrown(3);
    run_group(3, [&](Group& group) {
        std::vector<double> own(group.rank() == 1 ? 5 : 6), all(3);
        thrown[static_cast<std::size_t>(group.rank())] = error_of<GroupError>([&] {
            ordered_sum(group, Shares({0, 2, 4, 6}), std::span(own), std::span(all));
        });
    });
    for (const std::string& text : thrown)
        BOOST_TEST(text == "rank 1: ordered_sum: 5 numbers for a share of 2 leaves of 3 numbers each");

    // Shares for fewer ranks than there are.
    run_group(3, [&](Group& group) {
        std::vector<double> own(6), all(3);
        thrown[static_cast<std::size_t>(group.rank())] = error_of<GroupError>([&] {
            ordered_sum(group, Shares({0, 2, 4}), std::span(own), std::span(all));
        });
    });
    for (const std::string& text : thrown)
        BOOST_TEST(text == "rank 0: ordered_sum: shares for 2 ranks; the group has 3");

    // Ranks that do not agree on the shares.
    const std::vector<Shares> shares{Shares({0, 2, 5}), Shares({0, 3, 5})};
    const auto call = [&](std::size_t rank) {
        return "ordered_sum of 5 leaves of 1 floats in shares with the checksum " +
               std::to_string(shares[rank].checksum());
    };
    BOOST_TEST(error_of<GroupError>([&] {
                   run_group(2, [&](Group& group) {
                       const Shares& here = shares[static_cast<std::size_t>(group.rank())];
                       std::vector<float> own(2), all(1);
                       ordered_sum(group, here, std::span(own), std::span(all));
                   });
               }) == "the ranks make different calls: rank 0: " + call(0) + "; rank 1: " + call(1));
}

BOOST_AUTO_TEST_SUITE_END()
