#include "../../support.hpp"
#include "../bytes.hpp"
#include "../hostile.hpp"
#include "../temporary_directory.hpp"

#include <pollen/data/formats/detail/sealed_tensors.hpp>

#include <cstdio>

using namespace pollen;
using namespace pollen::test;

BOOST_AUTO_TEST_SUITE(sealed_tensors)

namespace {

constexpr detail::Seal seal{"a list", "2", "a list of numbers"};

// Names and texts with quotes, and one that looks like the field of the checksum.
TensorFile numbers() {
    TensorFile file;
    file.set("x", Tensor<double>{1, -2, 0.5});
    file.set("n", TensorFile::Counters{7});
    file.set("\"checksum\":\"", Tensor<float>::zeros({0}));
    file.metadata = {{"a", "\"checksum\":\"12345678"}, {"count", "12"}, {"checks", "checksum"}};
    return file;
}

std::vector<std::byte> sealed() {
    const TemporaryDirectory folder;
    detail::write_sealed(folder / "list", numbers(), seal);
    return read_bytes(folder / "list");
}

TensorFile parse(Bytes bytes) { return detail::parse_sealed(bytes, "list", seal); }
std::string error(Bytes bytes) {
    return error_of<FileError>([&] { parse(bytes); });
}

}  // namespace

BOOST_AUTO_TEST_CASE(what_was_sealed_is_read_again) {
    const TensorFile file = parse(sealed());
    BOOST_TEST((file.get<double>("x") == numbers().get<double>("x")));
    BOOST_TEST(file.counters("n")[0] == 7u);
    BOOST_TEST(file.metadata.at("a") == "\"checksum\":\"12345678");
    BOOST_TEST(file.metadata.at("format") == "a list");
    BOOST_TEST(file.metadata.at("version") == "2");
    BOOST_TEST(detail::metadata_text(file, "count", seal) == "12");
    BOOST_TEST(detail::metadata_number<std::int64_t>(file, "count", seal) == 12);
    BOOST_TEST(detail::metadata_number<double>(file, "count", seal) == 12);
}

BOOST_AUTO_TEST_CASE(the_checksum_is_the_crc_of_the_file_with_zeros_in_its_place) {
    std::string text = text_of(sealed());
    const std::string key = ",\"checksum\":\"";
    const std::size_t at = text.find(key) + key.size();
    const std::string saved = text.substr(at, 8);
    text.replace(at, 8, "00000000");
    char expected[16];
    std::snprintf(expected, sizeof expected, "%08x", crc32_of(bytes_of(text)));
    BOOST_TEST(saved == expected);
}

BOOST_AUTO_TEST_CASE(every_byte_and_every_length_counts) {
    const std::vector<std::byte> bytes = sealed();
    BOOST_TEST(check_every_flip(bytes, parse) == 8 * std::ssize(bytes));
    check_every_prefix(bytes, bytes.size(), parse);
    // Without the checksum, most flips of numbers and texts would go unnoticed.
    BOOST_TEST(check_every_flip(bytes, [](Bytes b) { parse_safetensors(b, "list"); }) < 6 * std::ssize(bytes));
    for (const std::byte added : {std::byte{0}, std::byte{' '}, std::byte{'1'}}) {
        std::vector<std::byte> longer = bytes;
        longer.push_back(added);
        BOOST_TEST(!error(longer).empty());
    }
}

BOOST_AUTO_TEST_CASE(errors) {
    const auto with = [](auto change) {
        TensorFile file = parse(sealed());
        change(file.metadata);
        std::vector<std::byte> bytes = safetensors_bytes(file);
        detail::renew_checksum(bytes);
        return bytes;
    };
    BOOST_TEST(error(with([](auto&) {})) == "");
    BOOST_TEST(error(with([](auto& m) { m.erase("format"); })) ==
               "list: metadata: there is no format; is it a list of numbers?");
    BOOST_TEST(error(with([](auto& m) { m["format"] = "a\n"; })) ==
               "list: metadata: format: \"a?\" is not a list of numbers");
    BOOST_TEST(error(with([](auto& m) { m["version"] = "3"; })) ==
               "list: metadata: version: \"3\"; this version of pollen reads 2");
    BOOST_TEST(error(with([](auto& m) { m.erase("checksum"); })) ==
               "list: metadata: there is no checksum; is it a list of numbers?");
    std::vector<std::byte> damaged = with([](auto& m) { m["checksum"] = "0000000A"; });
    const std::string sum = parse(damaged).metadata.at("checksum");
    damaged.back() ^= std::byte{1};
    std::vector<std::byte> renewed = damaged;
    BOOST_TEST(detail::renew_checksum(renewed));
    BOOST_TEST(error(damaged) == "list: metadata: checksum: \"" + sum + "\", but what it holds has " +
                                     parse(renewed).metadata.at("checksum") + "; the file is damaged");
    std::vector<std::byte> without = with([](auto& m) { m.erase("checksum"); });
    BOOST_TEST(!detail::renew_checksum(without));

    const auto number = [&](const std::string& text) {
        TensorFile file = numbers();
        file.metadata["count"] = text;
        return error_of<FileError>([&] { detail::metadata_number<std::int64_t>(file, "count", seal); });
    };
    BOOST_TEST(number("0") == "");
    BOOST_TEST(number("-1") == "tensors: metadata: count: \"-1\" is negative");
    for (const char* bad : {"", "1 ", "x", "1.5", "9223372036854775808"})
        BOOST_TEST(number(bad) == std::string("tensors: metadata: count: \"") + bad + "\" is not a number");
    BOOST_TEST(error_of<FileError>([&] { detail::metadata_number<double>(numbers(), "size", seal); }) ==
               "tensors: metadata: there is no size; is it a list of numbers?");
}

BOOST_AUTO_TEST_SUITE_END()
