#include "../../support.hpp"
#include "../faults.hpp"
#include "../limit_texts.hpp"
#include "../temporary_directory.hpp"

#include <pollen/data/formats/safetensors.hpp>

#include <bit>
#include <cstring>
#include <limits>

using namespace pollen;
using namespace pollen::test;

namespace {

// A file put together by hand: the length of the header as given, or the true one.
std::string bytes_of(const std::string& header, const std::string& data = "") {
    std::string all;
    for (unsigned k = 0; k < 8; ++k) all += static_cast<char>(header.size() >> (8 * k) & 255);
    return all + header + data;
}

TensorFile parse(const std::string& text, std::uint64_t max_bytes = 1 << 20) {
    return parse_safetensors(std::as_bytes(std::span(text)), "f", {max_bytes});
}

std::string error(const std::string& text, std::uint64_t max_bytes = 1 << 20) {
    return error_of<FileError>([&] { parse(text, max_bytes); });
}

std::string text_of(const std::vector<std::byte>& bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

template <class... T>
std::string raw(T... numbers) {
    std::string bytes;
    const auto add = [&](auto number) {
        char some[sizeof number];
        std::memcpy(some, &number, sizeof number);
        bytes.append(some, sizeof number);
    };
    (add(numbers), ...);
    return bytes;
}

TensorFile sample() {
    TensorFile file;
    file.set("w", Tensor<float>{{1, 2, 3}, {4, 5, 6}});
    file.set("a.double", Tensor<double>{0.1, -0.2});
    file.set("labels", Indices{7, -8});
    file.set("steps", TensorFile::Counters{~std::uint64_t{0}, 3});
    file.metadata["format"] = "pollen";
    return file;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(safetensors)

// The format's own words: length, JSON, and the numbers end to end; the widest types first, then by name.
BOOST_AUTO_TEST_CASE(layout) {
    const std::string header = R"({"__metadata__":{"format":"pollen"},)"
                               R"("steps":{"dtype":"U64","shape":[2],"data_offsets":[0,16]},)"
                               R"("a.double":{"dtype":"F64","shape":[2],"data_offsets":[16,32]},)"
                               R"("w":{"dtype":"F32","shape":[2,3],"data_offsets":[32,56]},)"
                               R"("labels":{"dtype":"I32","shape":[2],"data_offsets":[56,64]}})";
    const std::string padded = header + std::string((8 - header.size() % 8) % 8, ' ');
    const std::string expected = bytes_of(padded, raw(~std::uint64_t{0}, std::uint64_t{3}, 0.1, -0.2, 1.f, 2.f, 3.f,
                                                      4.f, 5.f, 6.f, std::int32_t{7}, std::int32_t{-8}));
    BOOST_TEST(text_of(safetensors_bytes(sample())) == expected);

    const TemporaryDirectory directory;
    write_safetensors(directory / "file", sample());
    BOOST_TEST(contents(directory / "file") == expected);

    BOOST_TEST(text_of(safetensors_bytes(TensorFile())) == bytes_of("{}      "));
}

BOOST_AUTO_TEST_CASE(round_trip) {
    TensorFile file = sample();
    const float quiet = std::numeric_limits<float>::quiet_NaN(), infinite = std::numeric_limits<float>::infinity();
    file.set("special", Tensor<float>{quiet, infinite, -infinite, -0.f, 1e-45f});
    file.set("scalar", Tensor<double>::scalar(2.5));
    file.set("empty", Tensor<float>());
    file.set("flat", Indices::zeros({3, 0, 2}));
    file.set("none", TensorFile::Counters{});
    file.set("six axes", normals({1, 2, 1, 3, 1, 2}));
    file.set("quote \" slash \\ tab \t \u00e9 \U0001F33C", Tensor<float>{1});
    file.set("", Tensor<float>{2});
    file.metadata["key \n"] = "value \x01 \u00e9";
    file.metadata[""] = "";

    const TemporaryDirectory directory;
    const std::string path = directory / "file.safetensors";
    write_safetensors(path, file);
    const TensorFile read = read_safetensors(path);
    BOOST_TEST((read.metadata == file.metadata));
    BOOST_TEST(read.names() == file.names(), boost::test_tools::per_element());
    BOOST_TEST(read.size() == 12u);
    BOOST_TEST(read.source() == path);
    BOOST_TEST((read.get<float>("w", {2, 3}) == file.get<float>("w")));
    BOOST_TEST((read.get<double>("a.double") == Tensor<double>{0.1, -0.2}));
    BOOST_TEST((read.get<std::int32_t>("labels") == Indices{7, -8}));
    BOOST_TEST((read.counters("steps") == TensorFile::Counters{~std::uint64_t{0}, 3}));
    BOOST_TEST(read.get<double>("scalar", Shape{}).item() == 2.5);
    BOOST_TEST(to_string(read.get<float>("empty").shape()) == "(0)");
    BOOST_TEST(to_string(read.get<std::int32_t>("flat").shape()) == "(3, 0, 2)");
    BOOST_TEST(read.counters("none").empty());
    BOOST_TEST((read.get<double>("six axes") == file.get<double>("six axes")));
    BOOST_TEST(read.get<float>("").item() == 2.f);
    const auto& special = read.get<float>("special");
    for (std::int64_t i = 0; i < 5; ++i)
        BOOST_TEST(std::bit_cast<std::uint32_t>(special(i)) ==
                   std::bit_cast<std::uint32_t>(file.get<float>("special")(i)));
    BOOST_TEST((safetensors_bytes(read) == safetensors_bytes(file)));

    file.set("w", Tensor<double>{1});  // a name has one tensor
    BOOST_TEST(file.size() == 12u);
    BOOST_TEST(file.get<double>("w").item() == 1.);
}

// The values of half precision are those of NumPy 1.24.
BOOST_AUTO_TEST_CASE(other_types) {
    const auto one = [](const std::string& dtype, std::size_t n, const std::string& data) {
        return parse(bytes_of("{\"x\":{\"dtype\":\"" + dtype + "\",\"shape\":[" + std::to_string(n) +
                                  "],\"data_offsets\":[0," + std::to_string(data.size()) + "]}}",
                              data));
    };
    using u16 = std::uint16_t;
    const TensorFile half = one("F16", 9,
                                raw(u16{0x3c00}, u16{0xc000}, u16{0x7bff}, u16{0x0001}, u16{0x83ff}, u16{0x0400},
                                    u16{0x3555}, u16{0x8000}, u16{0xfc00}));
    BOOST_TEST(
        (half.get<float>("x") == Tensor<float>{1.f, -2.f, 65504.f, 5.9604645e-08f, -6.0975552e-05f, 6.1035156e-05f,
                                               0.33325195f, -0.f, -std::numeric_limits<float>::infinity()}));
    BOOST_TEST(std::signbit(half.get<float>("x")(7)));
    BOOST_TEST(std::isnan(one("F16", 1, raw(u16{0x7e00})).get<float>("x").item()));
    BOOST_TEST((one("BF16", 3, raw(u16{0x3f80}, u16{0xc049}, u16{0x7f80})).get<float>("x") ==
                Tensor<float>{1.f, -3.140625f, std::numeric_limits<float>::infinity()}));

    const auto indices = [&](const std::string& dtype, std::size_t n, const std::string& data) {
        return one(dtype, n, data).get<std::int32_t>("x");
    };
    constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max(),
                           least = std::numeric_limits<std::int32_t>::min();
    BOOST_TEST((indices("I64", 2, raw(most, least)) == Indices{2147483647, -2147483647 - 1}));
    BOOST_TEST((indices("U32", 1, raw(std::uint32_t{2147483647})) == Indices{2147483647}));
    BOOST_TEST((indices("I16", 2, raw(std::int16_t{-32768}, std::int16_t{5})) == Indices{-32768, 5}));
    BOOST_TEST((indices("U16", 1, raw(u16{65535})) == Indices{65535}));
    BOOST_TEST((indices("I8", 2, "\x80\x7f") == Indices{-128, 127}));
    BOOST_TEST((indices("U8", 2, "\x80\xff") == Indices{128, 255}));
    BOOST_TEST((indices("BOOL", 2, std::string("\x01\x00", 2)) == Indices{1, 0}));

    const auto why = [&](const std::string& dtype, std::size_t n, const std::string& data) {
        return error_of<FileError>([&] { one(dtype, n, data); });
    };
    BOOST_TEST(why("I64", 2, raw(most, most + 1)) ==
               "f: tensor \"x\": element 1: 2147483648 does not fit into 32 bits");
    BOOST_TEST(why("I64", 1, raw(least - 1)) == "f: tensor \"x\": element 0: -2147483649 does not fit into 32 bits");
    BOOST_TEST(why("U32", 1, raw(std::uint32_t{2147483648})) ==
               "f: tensor \"x\": element 0: 2147483648 does not fit into 32 bits");
    BOOST_TEST(why("BOOL", 2, "\x01\x02") == "f: tensor \"x\": element 1: 2 is neither true (1) nor false (0)");
    BOOST_TEST(
        why("F8_E4M3", 1, "x") ==
        "f: tensor \"x\": dtype: \"F8_E4M3\" cannot be read; these can: F32, F64, I32, U64, F16, BF16, I64, U32, "
        "I16, U16, I8, U8, BOOL");
}

// Written as U8, behind everything wider, and read as std::int32_t like any U8.
BOOST_AUTO_TEST_CASE(octets) {
    TensorFile file;
    file.set("gaps", TensorFile::Octets{0, 7, 255});
    file.set("none", TensorFile::Octets{});
    file.set("x", Indices{3});
    const std::string header = R"({"x":{"dtype":"I32","shape":[1],"data_offsets":[0,4]},)"
                               R"("gaps":{"dtype":"U8","shape":[3],"data_offsets":[4,7]},)"
                               R"("none":{"dtype":"U8","shape":[0],"data_offsets":[7,7]}})";
    const std::string padded = header + std::string((8 - header.size() % 8) % 8, ' ');
    const std::string bytes = text_of(safetensors_bytes(file));
    BOOST_TEST(bytes == bytes_of(padded, raw(std::int32_t{3}) + std::string("\0\x07\xff", 3)));
    const TensorFile read = parse(bytes);
    for (const TensorFile* either : {static_cast<const TensorFile*>(&file), &read}) {
        BOOST_TEST((either->octets("gaps") == TensorFile::Octets{0, 7, 255}));
        BOOST_TEST(either->octets("none").empty());
        BOOST_TEST((either->octets("x") == TensorFile::Octets{3}));
    }
    BOOST_TEST((read.get<std::int32_t>("gaps") == Indices{0, 7, 255}));
    const auto why = [](const auto& f) { return error_of<FileError>(f); };
    BOOST_TEST(why([&] { file.get<std::int32_t>("gaps"); }) ==
               "tensors: tensor \"gaps\" is U8 (3), but I32 was asked for");
    file.set("x", Indices{3, 256});
    file.set("flat", Indices::zeros({1, 1}));
    BOOST_TEST(why([&] { file.octets("x"); }) == "tensors: tensor \"x\": element 1: 256 is not from 0 to 255");
    BOOST_TEST(why([&] { file.octets("flat"); }) ==
               "tensors: tensor \"flat\" is I32 (1, 1), but U8 with one axis was asked for");
    BOOST_TEST(why([&] { file.octets("y"); }) == "tensors: there is no tensor \"y\"; near it: \"x\"");
}

BOOST_AUTO_TEST_CASE(asking_for_what_is_not_there) {
    const TensorFile file = parse(text_of(safetensors_bytes(sample())));
    const auto why = [&](const auto& f) { return error_of<FileError>(f); };
    BOOST_TEST(file.contains("labels"));
    BOOST_TEST(!file.contains("label"));
    BOOST_TEST(why([&] { file.get<float>("label"); }) == "f: there is no tensor \"label\"; near it: \"labels\"");
    BOOST_TEST(why([&] { file.get<float>("optimizer"); }) ==
               "f: there is no tensor \"optimizer\"; it has 4: \"a.double\", \"labels\", \"steps\", ...");
    BOOST_TEST(why([&] { TensorFile().counters("x"); }) == "tensors: there is no tensor \"x\"; it has no tensors");
    BOOST_TEST(why([&] { file.get<double>("w"); }) == "f: tensor \"w\" is F32 (2, 3), but F64 was asked for");
    BOOST_TEST(why([&] {
                   file.get<float>("w", {3, 2});
               }) == "f: tensor \"w\" is F32 (2, 3), but F32 (3, 2) was asked for");
    BOOST_TEST(why([&] { file.get<std::int32_t>("steps", {2}); }) ==
               "f: tensor \"steps\" is U64 (2), but I32 (2) was asked for");
    BOOST_TEST(why([&] { file.counters("labels"); }) == "f: tensor \"labels\" is I32 (2), but U64 was asked for");
    BOOST_TEST(error_of<ValueError>([] { TensorFile().set("__metadata__", Tensor<float>{1}); }) ==
               "TensorFile: a tensor cannot be named __metadata__");
    TensorFile bad;
    bad.set("\xff", Tensor<float>{1});
    BOOST_TEST(why([&] { safetensors_bytes(bad); }) == "tensors: the name or text \"?\" is not UTF-8");
}

BOOST_AUTO_TEST_CASE(every_prefix_is_an_error) {
    const std::string whole = text_of(safetensors_bytes(sample()));
    for (std::size_t n = 0; n < whole.size(); ++n) BOOST_TEST(!error(whole.substr(0, n)).empty(), "prefix " << n);
    BOOST_TEST(error("").starts_with("f: offset 0: length of the header: needs 8 bytes, but the file has 0"));
    BOOST_TEST(error(whole.substr(0, whole.size() - 1)) ==
               "f: tensor \"labels\": data_offsets: 56 to 64 is not a part of the file's 63 bytes of data");
    BOOST_TEST(error(whole + "x") == "f: the tensors end after 64 bytes of data, but the file has 65");
}

// A changed bit is seen, or it changes a number, a name or a text, and the file is still one.
BOOST_AUTO_TEST_CASE(every_bit_flipped) {
    const std::string whole = text_of(safetensors_bytes(sample()));
    int errors = 0;
    for (std::size_t bit = 0; bit < 8 * whole.size(); ++bit) {
        std::string flipped = whole;
        flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << bit % 8));
        errors += !error(flipped).empty();
    }
    BOOST_TEST(errors > 1500);
    BOOST_TEST(errors < 8 * static_cast<int>(whole.size() - 64));
}

BOOST_AUTO_TEST_CASE(hostile_lengths) {
    const auto with_length = [](std::uint64_t length) { return raw(length) + "{}"; };
    BOOST_TEST(error(with_length(3)) ==
               "f: offset 0: length of the header: is 3, but the file has only 2 bytes after it");
    BOOST_TEST(error(with_length(100'000'000)) ==
               "f: offset 0: length of the header: is 100000000, but the file has only 2 bytes after it");
    BOOST_TEST(error(with_length(100'000'001)) ==
               "f: offset 0: length of the header: is 100000001, more than 100000000");
    BOOST_TEST(error(with_length(~std::uint64_t{0})) ==
               "f: offset 0: length of the header: is 18446744073709551615, more than 100000000");
    BOOST_TEST(error(with_length(0)) == "f: offset 8: header: does not begin with {");
    BOOST_TEST(error(with_length(2)) == "");
    BOOST_TEST(error(with_length(2), 9) == "f: has 10 bytes, more than the limit of 9 (ReadLimits::max_bytes)");
    const std::string narrow =
        bytes_of(R"({"x":{"dtype":"U8","shape":[80],"data_offsets":[0,80]}})", std::string(80, 'x'));
    BOOST_TEST(error(narrow, 320) == "");
    BOOST_TEST(error(narrow, 319).starts_with("f: tensors: 320 bytes, beside the "));
}

BOOST_AUTO_TEST_CASE(hostile_json) {
    const auto why = [](const std::string& header) { return error(bytes_of(header, "abcdefgh")); };
    const std::string good = R"("dtype":"F32","shape":[2],"data_offsets":[0,8])";
    BOOST_TEST(why("{\"x\":{" + good + "}}") == "");
    BOOST_TEST(why("{\"x\":{" + good + "}} \n ") == "");

    BOOST_TEST(why(" {}") == "f: offset 8: header: does not begin with {");
    BOOST_TEST(why("\xef\xbb\xbf{}") == "f: offset 8: header: does not begin with {");
    BOOST_TEST(why("{\"x\":{" + good + "}") == "f: offset 61: header: is not valid JSON in UTF-8");
    BOOST_TEST(why("{\"x\":{" + good + "}}}") == "f: offset 62: header: is not valid JSON in UTF-8");
    BOOST_TEST(why("{\"x\":{" + good + "}/**/}") == "f: offset 61: header: is not valid JSON in UTF-8");
    BOOST_TEST(why("{\"x\xff\":{" + good + "}}") == "f: offset 11: header: is not valid JSON in UTF-8");
    BOOST_TEST(why("{\"\xed\xa0\x80\":{" + good + "}}") == "f: offset 11: header: is not valid JSON in UTF-8");
    BOOST_TEST(why("{\"x\":{" + good + "}}" + std::string(1, '\0') + "rest") ==
               "f: offset 62: header: has a zero byte");
    BOOST_TEST(why(R"({"x":{"dtype":"F32","shape":[1e999],"data_offsets":[0,8]}})") ==
               "f: offset 41: header: is not valid JSON in UTF-8");

    BOOST_TEST(why("{\"x\":{" + good + "},\"x\":{" + good + "}}") == "f: header: tensor \"x\": appears twice");
    BOOST_TEST(why("{\"x\":{" + good + ",\"dtype\":\"F32\"}}") == "f: header: tensor \"x\": dtype: appears twice");
    BOOST_TEST(why("{\"x\":{" + good + ",\"shape\":[2]}}") == "f: header: tensor \"x\": shape: appears twice");
    BOOST_TEST(why("{\"__metadata__\":{\"a\":\"1\",\"a\":\"1\"}}") == "f: header: __metadata__: \"a\": appears twice");
    BOOST_TEST(why("{\"__metadata__\":{},\"__metadata__\":{}}") == "f: header: __metadata__: appears twice");
    BOOST_TEST(why("{\"x\":{" + good + ",\"extra\":1}}") ==
               "f: header: tensor \"x\": \"extra\": is not known; expected dtype, shape and data_offsets");
    BOOST_TEST(why(R"({"x":{"shape":[2],"data_offsets":[0,8]}})") == "f: header: tensor \"x\": dtype: is missing");
    BOOST_TEST(why(R"({"x":{"dtype":"F32","data_offsets":[0,8]}})") == "f: header: tensor \"x\": shape: is missing");
    BOOST_TEST(why(R"({"x":{"dtype":"F32","shape":[2]}})") == "f: header: tensor \"x\": data_offsets: is missing");

    BOOST_TEST(why(R"({"x":3})") == "f: header: tensor \"x\": is the number 3 where an object is expected");
    BOOST_TEST(why(R"({"x":[]})") == "f: header: tensor \"x\": is a list where an object is expected");
    BOOST_TEST(why(R"({"__metadata__":"a"})") ==
               "f: header: __metadata__: is the string \"a\" where an object is expected");
    BOOST_TEST(why(R"({"__metadata__":{"a":1}})") ==
               "f: header: __metadata__: \"a\": is the number 1 where a string is expected");
    BOOST_TEST(why(R"({"__metadata__":{"a":{"b":"c"}}})") ==
               "f: header: __metadata__: \"a\": is an object where a string is expected");
    BOOST_TEST(why(R"({"x":{"dtype":null}})") == "f: header: tensor \"x\": dtype: is null where a string is expected");
    BOOST_TEST(why(R"({"x":{"shape":true}})") ==
               "f: header: tensor \"x\": shape: is true or false where a list is expected");
    BOOST_TEST(why(R"({"x":{"shape":[[2]]}})") ==
               "f: header: tensor \"x\": shape: is a list where a whole number that is not negative is expected");
    BOOST_TEST(
        why(R"({"x":{"shape":[-1]}})") ==
        "f: header: tensor \"x\": shape: is the number -1 where a whole number that is not negative is expected");
    BOOST_TEST(
        why(R"({"x":{"shape":[2.5]}})") ==
        "f: header: tensor \"x\": shape: is the number 2.5 where a whole number that is not negative is expected");
    BOOST_TEST(why(R"({"x":{"shape":[99999999999999999999]}})") ==
               "f: header: tensor \"x\": shape: is the number 99999999999999999999 where a whole number that is not "
               "negative is expected");
    BOOST_TEST(why(R"({"x":{"shape":[1,1,1,1,1,1,1]}})") ==
               "f: header: tensor \"x\": shape: has more than 6 axes, which is the most that pollen's tensors have");
    BOOST_TEST(why(R"({"x":{"data_offsets":[0]}})") ==
               "f: header: tensor \"x\": data_offsets: has 1 numbers instead of two, where to begin and where to end");
    BOOST_TEST(why(R"({"x":{"data_offsets":[0,8,9]}})") ==
               "f: header: tensor \"x\": data_offsets: has more than two numbers, where to begin and where to end");

    // Depth costs nothing: the first level too many ends it.
    std::string deep = "{\"x\":";
    for (int k = 0; k < 100'000; ++k) deep += "{\"x\":";
    BOOST_TEST(why(deep) == "f: header: tensor \"x\": \"x\": is not known; expected dtype, shape and data_offsets");
    BOOST_TEST(why("{\"x\":" + std::string(100'000, '[')) ==
               "f: header: tensor \"x\": is a list where an object is expected");
}

BOOST_AUTO_TEST_CASE(hostile_places) {
    const auto tensor = [](const std::string& name, const std::string& shape, const std::string& offsets) {
        return "\"" + name + "\":{\"dtype\":\"F32\",\"shape\":[" + shape + "],\"data_offsets\":[" + offsets + "]}";
    };
    const auto why = [](const std::string& tensors) {
        return error(bytes_of("{" + tensors + "}", std::string(16, 'x')));
    };
    BOOST_TEST(why(tensor("b", "2", "8,16") + "," + tensor("a", "2", "0,8")) == "");
    BOOST_TEST(why(tensor("b", "4", "0,16") + "," + tensor("a", "0", "16,16") + "," + tensor("c", "0", "0,0")) == "");
    BOOST_TEST(why(tensor("a", "2", "8,16")) ==
               "f: tensor \"a\": data_offsets: begins at 8, but the data before it ends at 0");
    BOOST_TEST(why(tensor("a", "1", "0,4") + "," + tensor("b", "2", "8,16")) ==
               "f: tensor \"b\": data_offsets: begins at 8, but the data before it ends at 4");
    BOOST_TEST(why(tensor("a", "2", "0,8") + "," + tensor("b", "3", "4,16")) ==
               "f: tensor \"b\": data_offsets: begins at 4, but the data before it ends at 8");
    BOOST_TEST(why(tensor("a", "4", "0,16") + "," + tensor("b", "0", "4,4")) ==
               "f: tensor \"b\": data_offsets: begins at 4, but the data before it ends at 16");
    BOOST_TEST(why(tensor("a", "4", "0,16") + "," + tensor("b", "4", "0,16")) ==
               "f: tensor \"b\": data_offsets: begins at 0, but the data before it ends at 16");
    BOOST_TEST(why(tensor("a", "2", "0,8")) == "f: the tensors end after 8 bytes of data, but the file has 16");
    BOOST_TEST(why("") == "f: the tensors end after 0 bytes of data, but the file has 16");
    BOOST_TEST(why(tensor("a", "4", "16,0")) ==
               "f: tensor \"a\": data_offsets: 16 to 0 is not a part of the file's 16 bytes of data");
    BOOST_TEST(why(tensor("a", "4", "0,18446744073709551615")) ==
               "f: tensor \"a\": data_offsets: 0 to 18446744073709551615 is not a part of the file's 16 bytes of data");
    BOOST_TEST(why(tensor("a", "3", "0,16")) ==
               "f: tensor \"a\": data_offsets: 0 to 16 is 16 bytes, but its shape and dtype need 12");
    BOOST_TEST(why(tensor("a", "", "0,16")) ==
               "f: tensor \"a\": data_offsets: 0 to 16 is 16 bytes, but its shape and dtype need 4");
    BOOST_TEST(why(tensor("a", "4294967296,4294967296", "0,16")) ==
               "f: tensor \"a\": shape: 4294967296 x 4294967296 x 4 bytes, beside the 99 taken before, are "
               "more than the limit of 1048675" +
                   by_max_bytes(1 << 20, 99));
    BOOST_TEST(why(tensor("b", "4", "0,16") + "," + tensor("a", "0,1000", "16,16")) == "");
    BOOST_TEST(why(tensor("a", "0,18446744073709551615", "0,0") + "," + tensor("b", "4", "0,16")) ==
               "f: tensor \"a\": shape: 0 x 18446744073709551615 x 4 bytes, beside the 153 taken before, are "
               "more than the limit of 1048729" +
                   by_max_bytes(1 << 20, 153));
    BOOST_TEST(why(R"("a":{"dtype":"U64","shape":[1,2],"data_offsets":[0,16]})") ==
               "f: tensor \"a\": shape: (1, 2), but U64 is read with one axis only");
}

// A save that fails or is killed at any call leaves the previous file, or the new one, for anybody to read.
BOOST_AUTO_TEST_CASE(an_interrupted_save) {
    TensorFile next = sample();
    next.set("w", Tensor<float>::ones({700, 700}));
    const auto is_next = [](const TensorFile& file) { return file.get<float>("w").size() == 490'000; };
    int failed = 0, killed = 0;
    for (int n = 0; n < 15; ++n) {  // there are 11 calls; the rename is number 7
        const TemporaryDirectory directory;
        const std::string path = directory / "file";
        write_safetensors(path, sample());
        {
            const Faults faults(n, [] { return ENOSPC; });
            const std::string message = error_of<FileError>([&] { write_safetensors(path, next); });
            failed += !message.empty();
            BOOST_TEST((message.empty() || message.starts_with(path + ": cannot be saved: ")));
        }
        BOOST_TEST(is_next(read_safetensors(path)) == (n > 7));
        BOOST_TEST(directory.names().size() == 1u);

        write_safetensors(path, sample());
        killed += killed_at(n, [&] { write_safetensors(path, next); }) == kKilled;
        BOOST_TEST(is_next(read_safetensors(path)) == (n > 7));
    }
    BOOST_TEST(failed == 10);
    BOOST_TEST(killed == 11);
}

BOOST_AUTO_TEST_SUITE_END()
