#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace pollen::detail {

// CRC-32, as in gzip and PNG, of all bytes that were added.
class Crc32 {
  public:
    Crc32() = default;
    // Goes on from the checksum of the bytes so far.
    explicit Crc32(std::uint32_t sum) : sum_(sum) {}

    void add(const void* data, std::size_t bytes);
    void add(std::string_view part) { add(part.data(), part.size()); }
    std::uint32_t sum() const { return sum_; }

  private:
    std::uint32_t sum_ = 0;
};

// The texts of a CRC-32 (8 digits; more if the number is not one) and of a 64-bit hash (16 digits).
std::string crc32_text(std::uint64_t sum);
std::string hash_text(std::uint64_t hash);

}  // namespace pollen::detail
