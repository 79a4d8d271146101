#include "../../support.hpp"
#include "../hostile.hpp"
#include "../limit_texts.hpp"
#include "../temporary_directory.hpp"

#include <pollen/data/formats/image.hpp>

using namespace pollen;
using namespace pollen::test;

namespace {

// Files made with nothing but struct and zlib of Python; sample i of an image is sample(i), in the order of the file.
struct Example {
    int channels, depth;
    bool interlaced;
    std::string hex;
};
const std::vector<Example> examples = {
    {1, 1, false,
     "89504e470d0a1a0a0000000d4948445200000003000000020100000000b50f5bb70000000c4944415478da63706070000001"
     "04008156f0d1030000000049454e44ae426082"},
    {1, 2, false,
     "89504e470d0a1a0a0000000d4948445200000003000000020200000000f2af21670000000c4944415478da63306150010000"
     "c40059e13293600000000049454e44ae426082"},
    {1, 4, false,
     "89504e470d0a1a0a0000000d49484452000000030000000204000000007defd4c70000000e4944415478da63b04960e07200"
     "00030600e72b5bf7a30000000049454e44ae426082"},
    {1, 8, false,
     "89504e470d0a1a0a0000000d4948445200000003000000020800000000b81f39c6000000104944415478da63303897c3c0b5"
     "d21d0009ff0265eeaa6d690000000049454e44ae426082"},
    {1, 16, false,
     "89504e470d0a1a0a0000000d4948445200000003000000021000000000e88fe585000000164944415478da6330b03c5790b3"
     "9c81ebde4a51771f0023b704f41ec868a50000000049454e44ae426082"},
    {3, 8, false,
     "89504e470d0a1a0a0000000d49484452000000030000000208020000001216f14d0000001d4944415478da63303897c3b5d2"
     "fd69b322c381b83fb32caf970a6f040055c408eb5a5229a30000000049454e44ae426082"},
    {3, 16, false,
     "89504e470d0a1a0a0000000d494844520000000300000002100200000042862d0e000000314944415478da012600d9ff0030"
     "39ce706ca70adea915474ce58383ba21f100c0285e5ffc969acd3904d73b757213a9b1e0460811cca8d1c11f000000004945"
     "4e44ae426082"},
    {2, 8, false,
     "89504e470d0a1a0a0000000d4948445200000003000000020804000000377dae91000000164944415478da63303897c3b5d2"
     "9de169b3e281b83f0025c006082a0c4b940000000049454e44ae426082"},
    {2, 16, false,
     "89504e470d0a1a0a0000000d494844520000000300000002100400000067ed72d2000000234944415478da6330b03c5790b3"
     "9cebde4a51771f86a7cdcdbb143f1ed0888bff330d008f6f0be29f8f63030000000049454e44ae426082"},
    {4, 8, false,
     "89504e470d0a1a0a0000000d49484452000000030000000208060000009d74661a000000234944415478da63303897c3b5d2"
     "fd69b3e281b83f0cb32caf970a6f0c78d7a375221d00988b0c0ee5cb527e0000000049454e44ae426082"},
    {4, 16, false,
     "89504e470d0a1a0a0000000d4948445200000003000000021006000000cde4ba590000003d4944415478da013200cdff0030"
     "39ce706ca70adea915474ce58383ba21f1c0285e5ffc96009acd3904d73b757213a9b1e05017ee4e8c852abcc8f3672a4341"
     "17b24041122c0000000049454e44ae426082"},
    {1, 4, true,
     "89504e470d0a1a0a0000000d49484452000000050000000504000000011af3a4ae000000224944415478da63306058c0d0c0"
     "90c0708021f20290f8cca0c6e0d77480a170eb030067cd0909695b9f270000000049454e44ae426082"},
    {3, 8, true,
     "89504e470d0a1a0a0000000d4948445200000005000000050802000001750a8124000000614944415478da015600a9ff0030"
     "ce6c009a39d70045e381af4dec00e5832100fa983600ba58f76f0eac25c361000aa947c05efc009533d14ae887001fbd5cd5"
     "7311007513b150ee8c2ac86705a341e07e1c00ff9e3cda7816b553f18f2ecc6a08a64e5e26038839a1a10000000049454e44"
     "ae426082"},
};
const std::string tiny =
    "89504e470d0a1a0a0000000d49484452000000010000000108000000003a7e9b550000000a4944415478da63600700000900"
    "088dabb9010000000049454e44ae426082";  // one grey pixel of 7 of 255

int sample(int i, int depth) { return ((i * 40503 + 12345) % 65536) >> (16 - depth); }

template <class T = float>
Tensor<T> parse(const std::string& hex, const ImageLimits& limits = {}) {
    return parse_png<T>(from_hex(hex), "x.png", limits);
}

std::string error(const std::string& hex, const ImageLimits& limits = {}) {
    return error_of<FileError>([&] { parse(hex, limits); });
}

std::string with_number(std::string hex, std::size_t at, const std::string& number) {
    return hex.replace(2 * at, number.size(), number);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(png)

BOOST_AUTO_TEST_CASE(every_colour_type_and_depth) {
    for (const Example& example : examples) {
        const Tensor<double> image = parse<double>(example.hex);
        const int height = example.interlaced ? 5 : 2, width = example.interlaced ? 5 : 3;
        BOOST_TEST_CONTEXT(example.channels << " channels of " << example.depth << " bits") {
            BOOST_REQUIRE(image.shape() == (Shape{example.channels, height, width}));
            for (int i = 0; i < image.size(); ++i) {
                const int channel = i % example.channels, pixel = i / example.channels;
                const double expected = static_cast<double>(sample(i, example.depth)) / ((1 << example.depth) - 1);
                BOOST_TEST(image(channel, pixel / width, pixel % width) == expected);
            }
            BOOST_TEST(parse<float>(example.hex).data()[1] == static_cast<float>(image.data()[1]));
        }
    }
}

BOOST_AUTO_TEST_CASE(palettes_and_transparency) {
    // The palette is (10, 20, 30), (40, 50, 60), (255, 0, 128); the pixels are 0 1 2 / 2 1 0.
    Tensor<double> expected{{10, 40, 255, 255, 40, 10}, {20, 50, 0, 0, 50, 20}, {30, 60, 128, 128, 60, 30}};
    for (double& x : expected.mutable_values()) x /= 255;
    BOOST_TEST(
        parse<double>(
            "89504e470d0a1a0a0000000d4948445200000003000000020203000000e01a8e8900000009504c54450a141e28323cff0080"
            "009e27750000000c4944415478da63906098000000dc00a9521a138f0000000049454e44ae426082") ==
        expected.reshaped({3, 2, 3}));
    BOOST_TEST(
        parse<double>(
            "89504e470d0a1a0a0000000d4948445200000003000000020803000000aaaa962800000009504c54450a141e28323cff0080"
            "009e2775000000104944415478da6360606462606264000000200007f52adf2f0000000049454e44ae426082") ==
        expected.reshaped({3, 2, 3}));
    // With alpha 0, 128 and, not said, 255.
    const Tensor<double> image = parse<double>(
        "89504e470d0a1a0a0000000d49484452000000030000000204030000006f5a7b2900000009504c54450a141e28323cff0080"
        "009e27750000000274524e5300809b2b4e180000000e4944415478da636054605064000000cd00437a58dbad000000004945"
        "4e44ae426082");
    BOOST_REQUIRE(image.shape() == (Shape{4, 2, 3}));
    BOOST_TEST((Tensor<double>(Shape{3, 2, 3}, image.values().first(18)) == expected.reshaped({3, 2, 3})));
    const double half = 128.0 / 255;
    BOOST_TEST((Tensor<double>(Shape{6}, image.values().last(6)) == Tensor<double>{0, half, 1, 1, half, 0}));
    // Two grey pixels of 1 and 2 of 3, where 2 is transparent.
    BOOST_TEST(
        parse<double>(
            "89504e470d0a1a0a0000000d49484452000000020000000102000000009bf938f70000000274524e530002989dac14000000"
            "0a4944415478da63480000006200611c10037f0000000049454e44ae426082") ==
        (Tensor<double>{1.0 / 3, 2.0 / 3, 1, 0}.reshaped({2, 1, 2})));
}

BOOST_AUTO_TEST_CASE(side_information_is_skipped) {
    // With gAMA, tEXt and a broken iCCP.
    BOOST_TEST(
        parse<double>(
            "89504e470d0a1a0a0000000d49484452000000010000000108000000003a7e9b550000000467414d410000b18f0bfc610500"
            "000007744558745469746c650078297e4d3a0000000369434350626164a3ba63580000000a4944415478da63600700000900"
            "088dabb9010000000049454e44ae426082") == (Tensor<double>{7.0 / 255}.reshaped({1, 1, 1})));
}

BOOST_AUTO_TEST_CASE(what_is_written_is_read) {
    const TemporaryDirectory directory;
    const std::string path = directory / "x.png";
    for (const int channels : {1, 2, 3, 4}) {
        Tensor<float> image = Tensor<float>::zeros({channels, 5, 7});
        for (int i = 0; i < image.size(); ++i) image.mutable_data()[i] = static_cast<float>((i * 41) % 256) / 255;
        write_png(path, image);
        BOOST_TEST(read_png<float>(path) == image);
        BOOST_TEST((read_bytes(path) == png_bytes(image)));
    }
    BOOST_TEST(parse_png<double>(png_bytes(Tensor<double>{{-1, 0.2, 7}}.reshaped({1, 1, 3})), "x.png") ==
               (Tensor<double>{0, 0.2, 1}.reshaped({1, 1, 3})));
    const auto write_error = [](const Tensor<float>& image) { return error_of<Error>([&] { png_bytes(image); }); };
    BOOST_TEST(write_error(Tensor<float>::zeros({5, 2, 2})) ==
               "write_png: the image has shape (5, 2, 2); (channels, height, width) with 1 to 4 channels is expected");
    BOOST_TEST(write_error(Tensor<float>::zeros({2, 2})) ==
               "write_png: the image has shape (2, 2); (channels, height, width) with 1 to 4 channels is expected");
    BOOST_TEST(write_error(Tensor<float>::zeros({1, 0, 2})) ==
               "write_png: the image has shape (1, 0, 2); (channels, height, width) with 1 to 4 channels is expected");
    BOOST_TEST(write_error(Tensor<float>::full({1, 1, 2}, NAN)) == "write_png: pixel (0, 0, 0) is NaN");
    BOOST_TEST(error_of<FileError>([&] { read_png<float>(path + "?"); }) ==
               path + "?: cannot be opened: No such file or directory");
}

BOOST_AUTO_TEST_CASE(files_that_are_wrong) {
    BOOST_TEST(error("5035") ==
               "x.png: offset 0: signature: not a PNG file, which starts with 89 50 4E 47 0D 0A 1A 0A");
    BOOST_TEST(error(tiny + "00") == "x.png: offset 67: 1 bytes follow the end of the image");
    BOOST_TEST(error(tiny + tiny) == "x.png: offset 67: 67 bytes follow the end of the image");
    BOOST_TEST(error(tiny.substr(0, 2 * 33)) == "x.png: offset 33: the file ends too early");
    BOOST_TEST(error(tiny.substr(0, 2 * 32)) == "x.png: offset 8: IHDR: the file ends too early");
    BOOST_TEST(error(with_number(tiny, 12, "49484453")) ==
               "x.png: offset 8: IHDR: the first chunk is not an IHDR of 13 bytes");
    BOOST_TEST(error(with_number(tiny, 29, "00")) == "x.png: offset 33: IHDR: CRC error");
    BOOST_TEST(error(with_number(tiny, 51, "ff")) == "x.png: offset 55: IDAT: CRC error");
    BOOST_TEST(
        error("89504e470d0a1a0a0000000d49484452000000010000000108000000003a7e9b550000000041424344db1720a50000000a49"
              "44415478da63600700000900088dabb9010000000049454e44ae426082") ==
        "x.png: offset 45: ABCD: unhandled critical chunk");
    BOOST_TEST(
        error("89504e470d0a1a0a0000000d4948445200000001000000020800000000bceae9fb0000000a49444154789c63600700000900"
              "082023c38c0000000049454e44ae426082") == "x.png: offset 63: Not enough image data");
    BOOST_TEST(
        error("89504e470d0a1a0a0000000d49484452000000010000000108000000003a7e9b550000000c49444154789c63606760070000"
              "20000f392bc2cf0000000049454e44ae426082") == "x.png: offset 53: IDAT: Too much image data");
    BOOST_TEST(
        error("89504e470d0a1a0a0000000d49484452000000010000000108000000003a7e9b550000000a49444154789c63600700000900"
              "095724f31a0000000049454e44ae426082") == "x.png: offset 51: IDAT: incorrect data check");
    BOOST_TEST(
        error("89504e470d0a1a0a0000000d49484452000000010000000108000000003a7e9b550000000a49444154789c63600700000900"
              "082023c38c0000000374455874610062dc49a23b") == "x.png: offset 70: the file ends too early");
    BOOST_TEST(
        error("89504e470d0a1a0a0000000d494844520000000100000001080300000028cb34bb0000000a49444154789c63600700000900"
              "082023c38c0000000049454e44ae426082") == "x.png: offset 41: IDAT: Missing PLTE before IDAT");
}

// Made by Python's zlib: pixels 0 1 2 / 2 3 0 of 2 bits, and 0 1 2 / 2 1 200 of 8 bits, of a palette of three.
BOOST_AUTO_TEST_CASE(colours_outside_of_the_palette) {
    BOOST_TEST(error("89504e470d0a1a0a0000000d4948445200000003000000020203000000e01a8e8900000009504c54450a141e28323cff0"
                     "080009e2775"
                     "0000000c4944415478da639060d8000000fc00c963ee414e0000000049454e44ae426082") ==
               "x.png: pixel (1, 1): is colour 3, but the palette has colours 0 to 2");
    BOOST_TEST(error("89504e470d0a1a0a0000000d4948445200000003000000020803000000aaaa962800000009504c54450a141e28323cff0"
                     "080009e2775"
                     "000000104944415478da636060646260623c010000e800cf244f26200000000049454e44ae426082") ==
               "x.png: pixel (1, 2): is colour 200, but the palette has colours 0 to 2");
}

BOOST_AUTO_TEST_CASE(sizes_that_are_wrong) {
    BOOST_TEST(error(with_number(tiny, 16, "00004001")) ==
               "x.png: offset 16: width: 16385 is more than the limit of 16384");
    BOOST_TEST(error(with_number(tiny, 20, "ffffffff")) ==
               "x.png: offset 20: height: 4294967295 is more than the limit of 16384");
    BOOST_TEST(error(with_number(tiny, 16, "00000000")) ==
               "x.png: offset 16: width: is 0; an image has at least one pixel");
    const std::string huge = with_number(tiny, 16, "7fffffff7fffffff");
    const ImageLimits loose{std::int64_t{1} << 40, std::int64_t{1} << 40, {.max_memory = ~std::uint64_t{0}}};
    BOOST_TEST(error(huge, loose) ==
               "x.png: offset 16: size: 67 bytes cannot hold an image of 2147483647 x 2147483647 pixels");
    BOOST_TEST(
        error("89504e470d0a1a0a0000000d4948445200004000000040001006000000f958ccc70000000a49444154789c63600700000900"
              "082023c38c0000000049454e44ae426082") ==
        "x.png: offset 16: size: 67 bytes cannot hold an image of 16384 x 16384 pixels");
    BOOST_TEST(error(examples.back().hex, {4, 5, {}}) == "x.png: offset 16: width: 5 is more than the limit of 4");
    BOOST_TEST(error(examples.back().hex, {5, 4, {}}) == "x.png: offset 20: height: 5 is more than the limit of 4");
    const std::string size = std::to_string(from_hex(examples.back().hex).size());
    BOOST_TEST(error(examples.back().hex, {5, 5, {374}}) ==
               "x.png: image: 3 x 5 x 5 x 5 bytes, beside the " + size + " taken before, are more than the limit of " +
                   std::to_string(from_hex(examples.back().hex).size() + 374) +
                   by_max_bytes(374, from_hex(examples.back().hex).size()));
    BOOST_TEST(parse(examples.back().hex, {5, 5, {375}}).size() == 75);
}

BOOST_AUTO_TEST_CASE(broken_in_every_place) {
    const auto size = [](Bytes bytes) { return parse_png<float>(bytes, "x.png").size(); };
    for (const std::string& hex :
         {tiny, examples.back().hex, examples[4].hex,
          std::string(
              "89504e470d0a1a0a0000000d49484452000000030000000204030000006f5a7b2900000009504c54450a141e28323cff0080"
              "009e27750000000274524e5300809b2b4e180000000e4944415478da636054605064000000cd00437a58dbad000000004945"
              "4e44ae426082")}) {
        const std::vector<std::byte> file = from_hex(hex);
        BOOST_TEST(size(file) > 0);
        check_every_prefix(file, file.size(), size);
        // Every byte is under a checksum.
        BOOST_TEST(check_every_flip(file, size) == static_cast<int>(8 * file.size()));
    }
}

BOOST_AUTO_TEST_SUITE_END()
