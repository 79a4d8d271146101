#include "../../support.hpp"
#include "../bytes.hpp"

#include <pollen/data/io/detail/crc32.hpp>

using namespace pollen;
using namespace pollen::test;

BOOST_AUTO_TEST_SUITE(checksums)

BOOST_AUTO_TEST_CASE(as_its_definition_has_it) {
    std::string text;
    Random random(1);
    for (int length = 0; length < 300; ++length) {
        detail::Crc32 whole;
        whole.add(text);
        BOOST_TEST(whole.sum() == crc32_of(bytes_of(text)));
        // In pieces, also empty ones, and from a checksum that was kept.
        const std::size_t at = random.below(text.size() + 1);
        detail::Crc32 first;
        first.add(std::string_view(text).substr(0, at));
        first.add(nullptr, 0);
        detail::Crc32 rest(first.sum());
        rest.add(std::string_view(text).substr(at));
        BOOST_TEST(rest.sum() == whole.sum());
        text += static_cast<char>(random.below(256));
    }
}

BOOST_AUTO_TEST_CASE(texts_have_all_their_digits) {
    BOOST_TEST(detail::crc32_text(0) == "00000000");
    BOOST_TEST(detail::crc32_text(0xcbf43926) == "cbf43926");
    BOOST_TEST(detail::crc32_text(0x1cbf43926) == "1cbf43926");
    BOOST_TEST(detail::hash_text(0xabc) == "0000000000000abc");
    BOOST_TEST(detail::hash_text(~std::uint64_t{0}) == "ffffffffffffffff");
}

BOOST_AUTO_TEST_SUITE_END()
