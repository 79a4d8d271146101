#include <pollen/data/io/detail/crc32.hpp>

#include <zlib.h>

#include <cstdio>

namespace pollen::detail {

namespace {

std::string hex_text(std::uint64_t number, int digits) {
    char text[24];
    std::snprintf(text, sizeof text, "%0*llx", digits, static_cast<unsigned long long>(number));
    return text;
}

}  // namespace

void Crc32::add(const void* data, std::size_t bytes) {
    // crc32_z takes no data for the wish to begin anew.
    if (bytes > 0) sum_ = static_cast<std::uint32_t>(crc32_z(sum_, static_cast<const unsigned char*>(data), bytes));
}

std::string crc32_text(std::uint64_t sum) { return hex_text(sum, 8); }

std::string hash_text(std::uint64_t hash) { return hex_text(hash, 16); }

}  // namespace pollen::detail
