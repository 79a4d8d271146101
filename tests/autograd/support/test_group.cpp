#include "../../support.hpp"
#include "group_checks.hpp"

#include <pollen/autograd/support/thread_group.hpp>

#include <atomic>

using namespace pollen;
using namespace pollen::test;

BOOST_AUTO_TEST_SUITE(group)

// What f throws on each rank, and what the caller of run_group gets.
struct Outcome {
    std::vector<std::string> ranks;
    std::string caller;
};

template <class F>
Outcome outcome_of(int ranks, const F& f) {
    Outcome outcome{std::vector<std::string>(static_cast<std::size_t>(ranks)), ""};
    outcome.caller = thrown_by([&] {
        run_group(ranks, [&](Group& group) {
            try {
                f(group);
            } catch (...) {
                outcome.ranks[static_cast<std::size_t>(group.rank())] = thrown_by([] { throw; });
                throw;
            }
        });
    });
    return outcome;
}

// All ranks of three, and the caller, get the same.
template <class F>
void check_alike(const F& f, const std::string& expected) {
    const Outcome outcome = outcome_of(3, f);
    for (const std::string& text : outcome.ranks) BOOST_TEST(text == expected);
    BOOST_TEST(outcome.caller == expected);
}

BOOST_AUTO_TEST_CASE(messages_arrive) {
    for (const int ranks : {1, 2, 3, 4, 7, 16, 64}) BOOST_CHECK_NO_THROW(run_group(ranks, check_messages));
    BOOST_CHECK_NO_THROW(check_messages(Group::alone()));
}

BOOST_AUTO_TEST_CASE(nobody_passes_a_barrier_before_all_have_come) {
    std::atomic<int> come = 0;
    BOOST_CHECK_NO_THROW(run_group(7, [&](Group& group) {
        for (int round = 1; round <= 50; ++round) {
            ++come;
            group.barrier();
            require(come == 7 * round, "barrier");
            group.barrier();
        }
    }));
}

BOOST_AUTO_TEST_CASE(ranks_that_agree) {
    run_group(4, [](Group& group) {
        for (const std::string& text : {std::string(), std::string("1"), std::string(100000, 'x')})
            group.agree("the seed", text);
    });
    Group::alone().agree("the seed", "1");
}

BOOST_AUTO_TEST_CASE(ranks_that_do_not_agree_say_who_has_what) {
    const auto seeds = [](const std::vector<std::string>& texts) {
        return outcome_of(static_cast<int>(texts.size()),
                          [=](Group& group) { group.agree("the seed", texts[static_cast<std::size_t>(group.rank())]); })
            .caller;
    };
    const std::string begin = "GroupError: the ranks do not agree on the seed";
    BOOST_TEST(seeds({"1", "2"}) == begin + ": rank 0: \"1\"; rank 1: \"2\"");
    BOOST_TEST(seeds({"1", "1", "2", "1"}) == begin + ": ranks 0, 1 and 3: \"1\"; rank 2: \"2\"");
    BOOST_TEST(seeds({"1", "1", "1", "1", "2", "", "1"}) ==
               begin + ": ranks 0 to 3 and 6: \"1\"; rank 4: \"2\"; rank 5: \"\"");
    BOOST_TEST(
        seeds({"1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "1"}) ==
        begin +
            ": ranks 0 and 10: \"1\"; rank 1: \"2\"; rank 2: \"3\"; rank 3: \"4\"; rank 4: \"5\"; rank 5: \"6\"; "
            "rank 6: \"7\"; rank 7: \"8\"; and others on 2 ranks");

    // Of long texts the place where they differ is shown: across the pieces in which they are sent, and at their ends.
    const auto text = [](std::size_t length, std::size_t place) {
        std::string made(length, '-');
        if (place < length) made[place] = 'x';
        return made;
    };
    const std::string with = "\"..." + text(60, 20) + "...\"", without = "\"..." + text(60, 60) + "...\"",
                      end = "\"..." + text(20, 20) + "\"";
    const auto expected = [&](std::size_t place, const std::string& ranks, const std::string& a, const std::string& b) {
        return begin + ", from byte " + std::to_string(place) + " on: " + ranks + ": " + a + "; rank 1: " + b;
    };
    for (const std::size_t place : {150U, 4095U, 4096U, 8999U})
        BOOST_TEST(seeds({text(10000, place), text(10000, 9500), text(10000, place)}) ==
                   expected(place, "ranks 0 and 2", with, without));
    BOOST_TEST(seeds({text(300, 300), text(8192, 8192)}) == expected(300, "rank 0", end, without));
    BOOST_TEST(seeds({text(4096, 4096), text(300, 300)}) == expected(300, "rank 0", without, end));
    BOOST_TEST(seeds({text(4096, 4096), text(8000, 8000)}) == expected(4096, "rank 0", end, without));
}

// The rank that throws keeps its exception, and so does the caller; the others are told, whatever they call.
BOOST_AUTO_TEST_CASE(a_rank_that_throws_does_not_leave_the_others_waiting) {
    const std::vector<std::function<void(Group&)>> calls{
        [](Group& group) { group.barrier(); },
        [](Group& group) { group.broadcast("text", group.size() - 1); },
        [](Group& group) { group.gather("text"); },
        [](Group& group) { group.all_gather("text"); },
        [](Group& group) { group.agree("the seed", std::to_string(group.rank())); },
        [](Group& group) { group.together([] {}); },
        [](Group& group) { group.together([&] { throw ValueError("also " + std::to_string(group.rank())); }); },
        [](Group& group) { wrong_columns<double>(group, Shares::cut(40, group.size()), 3, in_tree_order); },
        [](Group&) {},
    };
    for (std::size_t call = 0; call < calls.size(); ++call)
        for (const int ranks : {2, 5})
            for (int bad = 0; bad < ranks; ++bad) {
                const Outcome outcome = outcome_of(ranks, [&](Group& group) {
                    group.barrier();
                    if (group.rank() == bad) throw DomainError("scale is 0");
                    calls[call](group);
                });
                const std::string told = "GroupError: rank " + std::to_string(bad) + ": scale is 0";
                for (int rank = 0; rank < ranks; ++rank)
                    BOOST_TEST(outcome.ranks[static_cast<std::size_t>(rank)] == (rank == bad ? "DomainError: scale is 0"
                                                                                 : call == 8 ? ""
                                                                                             : told),
                               "call " << call << ", rank " << rank << " of " << ranks << ", " << bad
                                       << " is bad: " << outcome.ranks[static_cast<std::size_t>(rank)]);
                BOOST_TEST(outcome.caller == "DomainError: scale is 0");
            }
}

BOOST_AUTO_TEST_CASE(of_several_ranks_that_throw_the_first_is_heard) {
    const Outcome outcome = outcome_of(6, [](Group& group) {
        if (group.rank() % 2 == 1) throw std::out_of_range("at rank " + std::to_string(group.rank()));
        group.barrier();
    });
    const std::vector<std::string> expected{"GroupError: rank 1: at rank 1", "exception: at rank 1",
                                            "GroupError: rank 1: at rank 1", "exception: at rank 3",
                                            "GroupError: rank 1: at rank 1", "exception: at rank 5"};
    BOOST_TEST(outcome.ranks == expected, boost::test_tools::per_element());
    BOOST_TEST(outcome.caller == "exception: at rank 1");

    BOOST_CHECK_THROW(run_group(3,
                                [](Group& group) {
                                    if (group.rank() == 2) throw 1;
                                    group.barrier();
                                }),
                      int);
    BOOST_TEST(outcome_of(1, [](Group&) { throw DomainError("alone"); }).caller == "DomainError: alone");
}

BOOST_AUTO_TEST_CASE(a_group_that_has_failed_stays_failed) {
    const std::string expected = "GroupError: rank 1: the disk is full";
    check_alike(
        [&](Group& group) {
            const auto call = [&](const auto& f) { return thrown_by(f) == expected; };
            require(!group.failed(), "failed() too early");
            require(group.rank() == 1 ? call([&] { group.fail("the disk is full"); }) : call([&] { group.barrier(); }),
                    "the first call");
            require(group.failed(), "failed()");
            require(call([&] { group.barrier(); }), "barrier");
            require(call([&] { group.fail("later"); }), "fail");
            require(call([&] { group.together([] {}); }), "together");
            group.gather("text");
        },
        expected);
    const Outcome long_one = outcome_of(2, [](Group& group) {
        if (group.rank() == 1) group.fail(std::string(5000, 'x'));
        group.barrier();
    });
    BOOST_TEST(long_one.ranks[0] == "GroupError: rank 1: " + std::string(4093, 'x') + "...");
}

BOOST_AUTO_TEST_CASE(together_all_throw_and_go_on) {
    for (const int ranks : {1, 2, 5}) BOOST_CHECK_NO_THROW(run_group(ranks, check_together));
    BOOST_CHECK_NO_THROW(check_together(Group::alone()));
    check_alike(
        [](Group& group) {
            group.together([&] {
                if (group.rank() == 2) throw 1;
            });
        },
        "GroupError: rank 2: an exception that is no std::exception");
}

BOOST_AUTO_TEST_CASE(ranks_that_call_different_functions_are_told) {
    check_alike(
        [](Group& group) {
            if (group.rank() == 1) return group.barrier();
            group.broadcast("text");
        },
        "GroupError: the ranks make different calls: ranks 0 and 2: broadcast of 8 bytes from rank 0; rank 1: barrier");
    check_alike(
        [](Group& group) {
            std::vector<float> numbers(group.rank() == 2 ? 10 : 20);
            group.broadcast(std::span(numbers), 1);
        },
        "GroupError: the ranks make different calls: ranks 0 and 1: broadcast of 80 bytes from rank 1; rank 2: "
        "broadcast "
        "of 40 bytes from rank 1");
    const Outcome early = outcome_of(3, [](Group& group) {
        if (group.rank() > 0) group.barrier();
    });
    BOOST_TEST(early.caller ==
               "GroupError: the ranks make different calls: rank 0: the end of run_group; ranks 1 and 2: barrier");
}

BOOST_AUTO_TEST_CASE(calls_are_made_one_at_a_time) {
    check_alike(
        [](Group& group) { group.together([&] { group.barrier(); }); },
        "GroupError: rank 0: Group: barrier while another call of the group is under way; one thread at a time makes "
        "calls, and the function that together() calls makes none");
}

BOOST_AUTO_TEST_CASE(wrong_arguments) {
    check_alike([](Group& group) { group.broadcast("text", 3); },
                "GroupError: rank 0: broadcast from rank 3; ranks are 0 to 2");
    BOOST_TEST(thrown_by([] { Group::alone().broadcast("text", -1); }) ==
               "ValueError: broadcast from rank -1; ranks are 0 to 0");
    for (const int ranks : {-1, 0, 1025})
        BOOST_TEST(error_of<ValueError>([&] { run_group(ranks, [](Group&) {}); }) ==
                   "run_group: " + std::to_string(ranks) + " ranks; a group has 1 to 1024");
}

BOOST_AUTO_TEST_CASE(a_group_of_one_forgets_that_it_failed) {
    Group& alone = Group::alone();
    BOOST_TEST(alone.rank() == 0);
    BOOST_TEST(alone.size() == 1);
    BOOST_TEST(error_of<GroupError>([&] { alone.fail("the disk is full"); }) == "rank 0: the disk is full");
    BOOST_TEST(!alone.failed());
    alone.barrier();
}

BOOST_AUTO_TEST_SUITE_END()
