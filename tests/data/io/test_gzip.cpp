#include "../bytes.hpp"
#include "support.hpp"

#include <pollen/data/io/gzip.hpp>

using namespace pollen;
using namespace pollen::test;

namespace {

constexpr std::uint64_t plenty = 1 << 20;

// printf hello | gzip -n -9
const std::string hello =
    "\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\xcb\x48\xcd\xc9\xc9\x07\x00\x86\xa6\x10\x36\x05\x00\x00\x00"s;

std::string unzip(const std::string& text, std::uint64_t limit = plenty) {
    return text_of(gunzip(bytes_of(text), "f.gz", limit));
}
std::string error(const std::string& text, std::uint64_t limit = plenty) {
    return error_of<FileError>([&] { unzip(text, limit); });
}

}  // namespace

BOOST_AUTO_TEST_SUITE(gzip_files)

BOOST_AUTO_TEST_CASE(what_the_program_gzip_makes) {
    BOOST_TEST(is_gzip(bytes_of(hello)));
    BOOST_TEST(!is_gzip(bytes_of("\x1f")));
    BOOST_TEST(!is_gzip(bytes_of("hello")));
    BOOST_TEST(unzip(hello) == "hello");
    BOOST_TEST(unzip(hello + hello + hello) == "hellohellohello");
    BOOST_TEST((text_of(gzip(bytes_of("hello"))) == hello));
}

BOOST_AUTO_TEST_CASE(there_and_back) {
    std::string noise;
    Random random(1);
    for (std::size_t size : {0, 1, 255, 4096, 4097, 300000}) {
        while (noise.size() < size) noise += static_cast<char>(random.below(256));
        const std::string repeated(size, 'x');
        BOOST_TEST((unzip(text_of(gzip(bytes_of(noise)))) == noise));
        BOOST_TEST((unzip(text_of(gzip(bytes_of(repeated)))) == repeated));
    }
}

BOOST_AUTO_TEST_CASE(nothing) {
    BOOST_TEST(gunzip(gzip({}), "f", 0).empty());
    BOOST_TEST(error_of<FileError>([] { gunzip({}, "f", 0); }) != "");
}

BOOST_AUTO_TEST_CASE(a_prefix) {
    const std::string many = text_of(gzip(bytes_of(std::string(100000, 'a') + "b")));
    for (std::size_t count : {0, 1, 5000, 100000})
        BOOST_TEST((text_of(gunzip_prefix(bytes_of(many), "f", count)) == std::string(count, 'a')));
    BOOST_TEST(gunzip_prefix(bytes_of(many), "f", 200000).size() == 100001u);
}

BOOST_AUTO_TEST_CASE(truncated_at_every_byte) {
    for (std::size_t size = 0; size < hello.size(); ++size) {
        const std::string at = std::to_string(size);
        BOOST_TEST(error(hello.substr(0, size)) ==
                   "f.gz: offset " + at + ": gzip: the file ends before the compressed data does");
        if (size > 0) BOOST_TEST(error(hello + hello.substr(0, size)) != "");
    }
}

BOOST_AUTO_TEST_CASE(damaged) {
    const auto with = [](std::size_t at, char c) {
        std::string text = hello;
        text[at] = c;
        return text;
    };
    BOOST_TEST(error("hello") == "f.gz: offset 2: gzip: incorrect header check");
    BOOST_TEST(error(with(17, 'x')) == "f.gz: offset 21: gzip: incorrect data check");
    BOOST_TEST(error(with(21, 'x')) == "f.gz: offset 25: gzip: incorrect length check");
    BOOST_TEST(error(hello + "more") == "f.gz: offset 25: gzip: 4 bytes follow the end of the compressed data");
    BOOST_TEST(error(hello + "\0"s) == "f.gz: offset 25: gzip: 1 bytes follow the end of the compressed data");
    // No single damaged byte changes what comes out without an error; some, like the time, mean nothing.
    int harmless = 0;
    for (std::size_t at = 0; at < hello.size(); ++at) {
        for (int c = 0; c < 256; ++c) {
            const std::string text = with(at, static_cast<char>(c));
            if (error(text) != "") continue;
            BOOST_TEST(unzip(text) == "hello");
            harmless += text != hello;
        }
    }
    BOOST_TEST(harmless < 7 * 256);
}

// A thousandfold expansion stops at the limit.
BOOST_AUTO_TEST_CASE(bombs) {
    const std::string bomb = text_of(gzip(bytes_of(std::string(10000000, '\0'))));
    BOOST_TEST(bomb.size() < 20000u);
    BOOST_TEST(unzip(bomb, 10000000).size() == 10000000u);
    BOOST_TEST(error(bomb, 9999999) == "f.gz: gzip: expands to more than the limit of 9999999 bytes");
    BOOST_TEST(error(bomb, 0) == "f.gz: gzip: expands to more than the limit of 0 bytes");
    BOOST_TEST(unzip(hello, UINT64_MAX) == "hello");
}

BOOST_AUTO_TEST_SUITE_END()
