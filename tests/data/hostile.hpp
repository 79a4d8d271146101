#pragma once

#include <pollen/data/io/file.hpp>

#include <boost/test/unit_test.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

// What tests of file formats need: bytes from literals, and files that are broken in every place.
namespace pollen::test {

// Hexadecimal digits; anything else in the text is ignored.
inline std::vector<std::byte> from_hex(std::string_view text) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::vector<std::byte> bytes;
    std::size_t high = 16;
    for (const char c : text) {
        const std::size_t digit = digits.find(c);
        if (digit == std::string_view::npos) continue;
        if (high < 16) bytes.push_back(static_cast<std::byte>(high * 16 + digit));
        high = high < 16 ? 16 : digit;
    }
    return bytes;
}

inline std::string to_hex(Bytes bytes) {
    std::string text;
    for (const std::byte b : bytes) {
        text += "0123456789abcdef"[std::to_integer<unsigned>(b) / 16];
        text += "0123456789abcdef"[std::to_integer<unsigned>(b) % 16];
    }
    return text;
}

inline std::vector<std::byte> from_text(std::string_view text) {
    const auto* data = reinterpret_cast<const std::byte*>(text.data());
    return {data, data + text.size()};
}

// parse(bytes) throws a FileError for every beginning of the file of fewer than `length` bytes.
template <class Parse>
void check_every_prefix(Bytes file, std::size_t length, const Parse& parse) {
    for (std::size_t size = 0; size < length; ++size) {
        // A copy of exactly this size: a sanitizer sees a read behind its end.
        const std::vector<std::byte> bytes(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(size));
        BOOST_CHECK_THROW(parse(Bytes(bytes)), FileError);
    }
}

// parse(bytes) returns or throws a FileError, and nothing else, for every file with one bit flipped. Returns how often
// it threw.
template <class Parse>
int check_every_flip(Bytes file, const Parse& parse) {
    int thrown = 0;
    for (std::size_t bit = 0; bit < 8 * file.size(); ++bit) {
        std::vector<std::byte> bytes(file.begin(), file.end());
        bytes[bit / 8] ^= static_cast<std::byte>(1 << (bit % 8));
        try {
            parse(Bytes(bytes));
        } catch (const FileError&) {
            ++thrown;
        }
    }
    return thrown;
}

}  // namespace pollen::test
