#include "../../support.hpp"
#include "../hostile.hpp"
#include "../limit_texts.hpp"
#include "../temporary_directory.hpp"

#include <pollen/data/formats/image.hpp>

using namespace pollen;
using namespace pollen::test;

namespace {

template <class T = double>
Tensor<T> parse(const std::string& text, const ImageLimits& limits = {}) {
    return parse_pgm<T>(from_text(text), "x.pgm", limits);
}

std::string error(const std::string& text, const ImageLimits& limits = {}) {
    return error_of<FileError>([&] { parse(text, limits); });
}

// Numbers as an image of one channel.
Tensor<double> image(std::int64_t height, std::int64_t width, const std::vector<double>& values, double largest) {
    Tensor<double> tensor(Shape{1, height, width}, values);
    for (double& x : tensor.mutable_values()) x /= largest;
    return tensor;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(pgm)

BOOST_AUTO_TEST_CASE(plain) {
    const Tensor<double> expected = image(2, 3, {0, 1, 2, 3, 14, 15}, 15);
    BOOST_TEST(parse("P2\n3 2\n15\n0 1 2\n3 14 15\n") == expected);
    BOOST_TEST(parse("P2 3 2 15 0 1 2 3 14 15") == expected);
    BOOST_TEST(parse("P2\n# a comment 7\n3 # another\n2\n#\n15\r\n00 1\t2#x\r3 14\v15 # the end") == expected);
    BOOST_TEST(parse<float>("P2 3 2 15 0 1 2 3 14 15") == cast<float>(expected));
    BOOST_TEST(parse("P2 1 2 65535 65535 256\n") == image(2, 1, {65535, 256}, 65535));
}

BOOST_AUTO_TEST_CASE(raw) {
    BOOST_TEST(parse("P5\n3 2\n255\n\x01\x02\x03\n\xff#") == image(2, 3, {1, 2, 3, 10, 255, 35}, 255));
    BOOST_TEST(parse("P5 # by hand\n2 1 # 255\n7 \x01\x07") == image(1, 2, {1, 7}, 7));
    BOOST_TEST(parse("P5 2 1 256 \x01" + std::string(2, '\0') + "\xff") == image(1, 2, {256, 255}, 256));
    BOOST_TEST(parse("P5 1 1 65535\n\xff\xfe") == image(1, 1, {65534}, 65535));
}

BOOST_AUTO_TEST_CASE(what_is_written_is_read) {
    const TemporaryDirectory directory;
    const std::string path = directory / "x.pgm";
    const Tensor<double> written{{-1, 0.2, 0.4}, {0.6, 1, 7}};
    write_pgm(path, written.reshaped({1, 2, 3}));
    BOOST_TEST(contents(path) == "P5\n3 2\n255\n" + std::string("\0\x33\x66\x99\xff\xff", 6));
    BOOST_TEST(read_pgm<double>(path) == image(2, 3, {0, 51, 102, 153, 255, 255}, 255));
    BOOST_TEST(error_of<ShapeError>([&] {
                   pgm_bytes(Tensor<float>::zeros({3, 2, 2}));
               }) == "write_pgm: the image has shape (3, 2, 2); (channels, height, width) with 1 channel is expected");
    BOOST_TEST(error_of<ValueError>([&] {
                   pgm_bytes(Tensor<float>::full({1, 2, 2}, NAN));
               }) == "write_pgm: pixel (0, 0, 0) is NaN");
    BOOST_TEST(error_of<FileError>([&] { read_pgm<float>(path + "?"); }) ==
               path + "?: cannot be opened: No such file or directory");
}

BOOST_AUTO_TEST_CASE(files_that_are_wrong) {
    for (const std::string text : {"", "P", "P6 1 1 255 x", "P1 1 1 1", "p5"})
        BOOST_TEST(error(text) == "x.pgm: offset 0: magic: not a PGM file, which starts with P2 or P5");
    BOOST_TEST(error("P53 2 255 ") == "x.pgm: offset 2: width: white space is expected before it");
    BOOST_TEST(error("P5 -3 2 255 ") == "x.pgm: offset 3: width: a number is expected");
    BOOST_TEST(error("P5 3") == "x.pgm: offset 4: height: the file ends where a number is expected");
    BOOST_TEST(error("P5 3 2 # 255") == "x.pgm: offset 12: largest value: the file ends where a number is expected");
    BOOST_TEST(error("P5 3x2 255 ") == "x.pgm: offset 4: height: white space is expected before it");
    BOOST_TEST(error("P5 1 1 255") == "x.pgm: offset 10: largest value: white space is expected behind it");
    BOOST_TEST(error("P5 1 1 0 x") == "x.pgm: offset 8: largest value: 0 is not from 1 to 65535");
    BOOST_TEST(error("P5 1 1 65536 xx") == "x.pgm: offset 12: largest value: 65536 is not from 1 to 65535");
    BOOST_TEST(error("P5 2 2 255 xxx") == "x.pgm: offset 11: data: 3 bytes for 4 pixels, which take 4");
    BOOST_TEST(error("P5 2 2 255 xxxxx") == "x.pgm: offset 11: data: 5 bytes for 4 pixels, which take 4");
    BOOST_TEST(error("P5 2 2 256 xxxx") == "x.pgm: offset 11: data: 4 bytes for 4 pixels, which take 8");
    BOOST_TEST(error("P2 2 2 255 1 2 3") == "x.pgm: offset 11: data: 5 bytes for 4 pixels, which take at least 7");
    BOOST_TEST(error("P2 2 2 255 1 2 34 ") == "x.pgm: offset 18: data: the file ends where a number is expected");
    BOOST_TEST(error("P2 1 2 255 1 2 3") == "x.pgm: offset 15: data: there is more behind the last pixel");
    BOOST_TEST(error("P2 1 2 255 1 256") == "x.pgm: offset 16: pixel (1, 0): 256 is above the largest value, 255");
    BOOST_TEST(error("P2 1 2 255 1 99999999999999999999") ==
               "x.pgm: offset 33: pixel (1, 0): 4294967296 is above the largest value, 255");
    BOOST_TEST(error("P2 1 2 255 1 1.5") == "x.pgm: offset 14: data: there is more behind the last pixel");
    BOOST_TEST(error("P5 1 2 7 \x07\x08") == "x.pgm: offset 10: pixel (1, 0): 8 is above the largest value, 7");
    BOOST_TEST(error("P5 2 1 300 " + std::string("\x01\x2c\x01\x2d")) ==
               "x.pgm: offset 13: pixel (0, 1): 301 is above the largest value, 300");
    BOOST_TEST(error("P5 1 1 255 xP5 1 1 255 x") == "x.pgm: offset 11: data: 13 bytes for 1 pixels, which take 1");
}

BOOST_AUTO_TEST_CASE(sizes_that_are_wrong) {
    BOOST_TEST(error("P5 0 1 255 ") == "x.pgm: offset 4: width: is 0; an image has at least one pixel");
    BOOST_TEST(error("P5 16385 1 255 ") == "x.pgm: offset 8: width: 16385 is more than the limit of 16384");
    BOOST_TEST(error("P5 1 99999999999999999999 255 ") ==
               "x.pgm: offset 25: height: 4294967296 is more than the limit of 16384");
    const ImageLimits loose{std::int64_t{1} << 40, std::int64_t{1} << 40, {.max_memory = ~std::uint64_t{0}}};
    BOOST_TEST(error("P5 4294967295 4294967295 255 ", loose) ==
               "x.pgm: image: 4294967295 x 4294967295 x 8 bytes, beside the 29 taken before, are more than the limit "
               "of 1152921504606846976 (ReadLimits::max_memory)");
    BOOST_TEST(error("P2 16384 16384 255 1", {.limits = {.max_memory = std::uint64_t{1} << 40}}) ==
               "x.pgm: offset 19: data: 1 bytes for 268435456 pixels, which take at least 536870911");
    BOOST_TEST(error("P5 2 2 255 xxxx", {2, 2, {31}}) ==
               "x.pgm: image: 2 x 2 x 8 bytes, beside the 15 taken before, are more than the limit of 46" +
                   by_max_bytes(31, 15));
    BOOST_TEST(parse("P5 2 2 255 xxxx", {2, 2, {32}}).size() == 4);
}

BOOST_AUTO_TEST_CASE(broken_in_every_place) {
    const auto size = [](Bytes bytes) { return parse_pgm<float>(bytes, "x.pgm").size(); };
    const std::vector<std::byte> raw = from_text("P5 # x\n3 2 300 \x01\x02\x01\x03\x01\x04\x01\x05\x01\x06\x01\x07");
    BOOST_TEST(size(raw) == 6);
    check_every_prefix(raw, raw.size(), size);
    BOOST_TEST(check_every_flip(raw, size) > 50);
    // Without its last number; that one may lose digits unseen.
    const std::vector<std::byte> plain = from_text("P2 # x\n3 2 300 10 11 12 13 14 156\n");
    BOOST_TEST(size(plain) == 6);
    check_every_prefix(plain, plain.size() - 4, size);
    BOOST_TEST(check_every_flip(plain, size) > 50);
}

BOOST_AUTO_TEST_SUITE_END()
