#include "../support.hpp"

#include <Random123/philox.h>
#include <boost/test/unit_test.hpp>

#include <cmath>
#include <cstdint>
#include <locale>
#include <string>
#include <vector>

// What is refused, and in which words: bad arguments, numbers beyond the end of a stream, states that were not saved.

using namespace pollen;
using namespace pollen::test;

BOOST_AUTO_TEST_SUITE(random_errors)

BOOST_AUTO_TEST_CASE(a_saved_state_does_not_depend_on_the_locale) {
    struct Thousands : std::numpunct<char> {
        char do_thousands_sep() const override { return '.'; }
        std::string do_grouping() const override { return "\3"; }
    };
    const std::locale before = std::locale::global(std::locale(std::locale(), new Thousands));
    const std::string line = Random(1234567).save();
    std::locale::global(before);
    BOOST_TEST((Random::restore(line) == Random(1234567)));
}

BOOST_AUTO_TEST_CASE(restore_refuses_what_it_did_not_save) {
    const auto error = [](const std::string& line) { return error_of<ValueError>([&] { Random::restore(line); }); };
    const std::string good = Random(1).save();
    BOOST_TEST(error("") == "Random::restore: expected \"philox4x32-10\", found \"\"");
    BOOST_TEST(error("mt19937 5489") == "Random::restore: expected \"philox4x32-10\", found \"mt19937 5489\"");
    BOOST_TEST(
        error("philox4x32-10 seed=-1") ==
        "Random::restore: expected \" seed=\" and a whole number up to 18446744073709551615, found \" seed=-1\"");
    BOOST_TEST(error("philox4x32-10 seed=18446744073709551616") ==
               "Random::restore: expected \" seed=\" and a whole number up to 18446744073709551615, found "
               "\" seed=18446744073709551616\"");
    BOOST_TEST(
        error("philox4x32-10 seed=1 stream=4294967296") ==
        "Random::restore: expected \" stream=\" and a whole number up to 4294967295, found \" stream=4294967296\"");
    BOOST_TEST(error("philox4x32-10 seed=1 stream=1 step=72057594037927936") ==
               "Random::restore: expected \" step=\" and a whole number up to 72057594037927935, found "
               "\" step=72057594037927936\"");
    BOOST_TEST(error("philox4x32-10 seed=1 stream=0 step=0 bits=x") ==
               "Random::restore: expected \" bits=\" and a whole number up to 17179869184, found \" bits=x\"");
    BOOST_TEST(error(good + "1").empty());  // one more digit of the last number
    BOOST_TEST(error(good + " ") == "Random::restore: expected the end of the line, found \" \"");
    for (std::size_t length = 0; length < good.size(); ++length) BOOST_TEST(!error(good.substr(0, length)).empty());
    BOOST_TEST(error(std::string(1000, 'a')) ==
               "Random::restore: expected \"philox4x32-10\", found \"" + std::string(40, 'a') + "...\"");
}

BOOST_AUTO_TEST_CASE(the_end_of_a_stream) {
    const std::uint64_t words = std::uint64_t{1} << 34, pairs = std::uint64_t{1} << 33;
    const RandomKey key{3, 4, 5};
    std::vector<std::uint32_t> last(3);
    fill_bits(key, words - 3, last);
    const r123::Philox4x32::ctr_type counter{{~0u, 4, 5, 0}};
    BOOST_TEST(last[2] == r123::Philox4x32{}(counter, {{3, 0}})[3]);
    BOOST_TEST(normal_at(key, pairs - 1) != normal_at(key, pairs - 2));
    BOOST_TEST(error_of<ValueError>([&] { fill_bits(key, words - 2, last); }) ==
               "random: 3 numbers of kind bits from number 17179869182 on; a stream has 17179869184 in each step, take "
               "another stream or step");
    BOOST_TEST(
        error_of<ValueError>([&] { normal_at<double>(key, pairs); }) ==
        "random: 1 numbers of kind normal_double from number 8589934592 on; a stream has 8589934592 in each step, "
        "take another stream or step");
    BOOST_TEST(
        error_of<ValueError>([&] { bits_at(key, ~std::uint64_t{0}); }).starts_with("random: 1 numbers of kind bits"));

    Random random(RandomState{key, {words, words, pairs, words - 1, pairs}});
    random.normal<float>();
    BOOST_TEST(!error_of<ValueError>([&] { random.normal<float>(); }).empty());
    BOOST_TEST(!error_of<ValueError>([&] { random.below(6); }).empty());
    BOOST_TEST(random.state().drawn[3] == words);  // what failed took nothing
    BOOST_TEST(!error_of<ValueError>([&] { Random(RandomState{key, {words + 1, 0, 0, 0, 0}}); }).empty());
}

BOOST_AUTO_TEST_CASE(bad_arguments) {
    const double nan = std::nan(""), infinity = INFINITY;
    Random random(1);
    BOOST_TEST(error_of<ValueError>([&] { Random(1, 0, std::uint64_t{1} << 56); }) ==
               "random: step 72057594037927936; a step must be below 2^56");
    BOOST_TEST(error_of<ValueError>([&] {
                   bits_at({0, 0, ~std::uint64_t{0}}, 0);
               }) == "random: step 18446744073709551615; a step must be below 2^56");
    BOOST_TEST(error_of<ValueError>([&] { random.normal(0.5, -1.0); }) ==
               "normal: mean 0.5, standard deviation -1; both must be finite and the deviation not negative");
    BOOST_TEST(error_of<ValueError>([&] { random.normal(nan, 1.0); }) ==
               "normal: mean nan, standard deviation 1; both must be finite and the deviation not negative");
    BOOST_TEST(error_of<ValueError>([&] { random.uniform(2.0, 2.0); }) ==
               "uniform: from 2 to 2; the first must be below the second, at a finite distance");
    BOOST_TEST(error_of<ValueError>([&] { random.uniform(0.0, infinity); }) ==
               "uniform: from 0 to inf; the first must be below the second, at a finite distance");
    BOOST_TEST(error_of<ValueError>([&] { random.below(0); }) == "below: n is 0; it must be from 1 to 4294967296");
    BOOST_TEST(error_of<ValueError>([&] { random.below((std::uint64_t{1} << 32) + 1); }) ==
               "below: n is 4294967297; it must be from 1 to 4294967296");
    BOOST_TEST(error_of<ValueError>([&] { random.permutation(-1); }) ==
               "permutation: n is -1; it must not be negative");
    BOOST_TEST(error_of<ValueError>([&] { random.permutation(std::int64_t{1} << 40); }) ==
               "shuffle: 1099511627776 values; at most 4294967296 can be put in random order");
    BOOST_TEST((random == Random(1)));  // nothing was drawn
    BOOST_TEST(random.normal(3.0, 0.0) == 3.0);
}

BOOST_AUTO_TEST_SUITE_END()
