#include "../../support.hpp"

#include <pollen/nn/training/schedule.hpp>

using namespace pollen;
using namespace pollen::test;

BOOST_AUTO_TEST_SUITE(schedule)

namespace {

void check(const Schedule& s, std::initializer_list<std::pair<std::int64_t, double>> values) {
    for (const auto& [t, expected] : values)
        BOOST_TEST(std::abs(s(t) - expected) <= 1e-12 * std::abs(expected) + 1e-18,
                   s.describe() << " at " << t << " is " << s(t) << ", expected " << expected);
}

}  // namespace

BOOST_AUTO_TEST_CASE(values_by_hand) {
    check(0.5, {{0, 0.5}, {1000000, 0.5}});
    check(Schedule::polynomial(2, 4, 0.5), {{0, 1}, {12, 0.5}, {60, 0.25}});
    check(Schedule::polynomial(2, 4, 0.5, 10), {{0, 1}, {10, 1}, {22, 0.5}});
    check(Schedule::steps(1, 10, 0.5), {{0, 1}, {9, 1}, {10, 0.5}, {29, 0.25}});
    check(Schedule::cosine(1, 100), {{0, 1}, {50, 0.5}, {100, 0}, {1000, 0}});
    check(Schedule::cosine(1, 60, 0.1), {{0, 1}, {20, 0.1 + 0.9 * 0.75}, {40, 0.1 + 0.9 * 0.25}, {61, 0.1}});
    check(Schedule::cyclical_cosine(1, 200, 2), {{0, 1}, {50, 0.5}, {100, 1}, {150, 0.5}});
    check(Schedule::cyclical_cosine(1, 5, 2), {{0, 1}, {1, 0.75}, {2, 0.25}, {3, 1}});
    check(Schedule::warm_up(4, 1.0), {{0, 0.25}, {3, 1}, {4, 1}});
    check(Schedule::warm_up(2, Schedule::cosine(1, 100)), {{0, 0.5}, {1, 1}, {2, 1}, {52, 0.5}});
}

// Welling & Teh's mixture: from 0.01 to 0.0001 in 10^6 steps with gamma 0.55 means a = 0.19955, b = 231.07.
BOOST_AUTO_TEST_CASE(polynomial_by_its_ends) {
    const Schedule ends = Schedule::polynomial_between(0.01, 0.0001, 0.55, 1000000),
                   law = Schedule::polynomial(0.19955, 231.07, 0.55);
    check(ends, {{0, 0.01}, {999999, 0.0001}});
    for (const std::int64_t t : {1, 100, 10000, 500000}) BOOST_TEST(std::abs(ends(t) / law(t) - 1) < 1e-4);
}

BOOST_AUTO_TEST_CASE(descriptions_and_errors) {
    BOOST_TEST(Schedule::warm_up(5, Schedule::cosine(0.1, 100)).describe() == "warm_up(5, cosine(0.1, 100, 0))");
    BOOST_TEST(Schedule::polynomial(1, 2, 0.55).describe() == "polynomial(1, 2, 0.55, 0)");
    BOOST_TEST(error_of<ValueError>([] { Schedule("mine", nullptr); }) == "Schedule mine: the function is empty");
    BOOST_TEST(error_of<ValueError>([] { Schedule s(-1.0); }) ==
               "a step size of -1: it must be finite and not negative");
    BOOST_TEST(error_of<ValueError>([] { Schedule::polynomial(1, 0, 0.5); }) ==
               "polynomial(1, 0, 0.5, 0): a must not be negative and b must be positive");
    BOOST_TEST(error_of<ValueError>([] { Schedule::steps(1, 0, 0.5); }) ==
               "steps(1, 0, 0.5): first and factor must not be negative, every must be positive");
    BOOST_TEST(error_of<ValueError>([] { Schedule::cosine(1, 0); }) ==
               "cosine(1, 0, 0): first and last must not be negative, steps must be positive");
    BOOST_TEST(error_of<ValueError>([] { Schedule::cyclical_cosine(1, 10, 0); }) ==
               "cyclical_cosine(1, 10, 0): first must not be negative, steps and cycles must be positive");
    BOOST_TEST(error_of<ValueError>([] { Schedule::polynomial_between(1, 2, 0.5, 10); }) ==
               "polynomial_between(1, 2, 0.5, 10): first > last > 0, gamma > 0 and steps > 1 are needed");
}

BOOST_AUTO_TEST_CASE(a_plain_number_is_constant) {
    BOOST_TEST(Schedule(0.1).constant());
    BOOST_TEST(!Schedule::polynomial(1, 10, 0.6).constant());
    BOOST_TEST(!Schedule("0.1, but who knows", [](std::int64_t) { return 0.1; }).constant());
}

BOOST_AUTO_TEST_SUITE_END()
