#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace pollen {

// Checksums (CRC-32) of the rows of a chain's file, one for each block of 256 kB: a row that was changed afterwards is
// found, and so is its place. The rows begin after the line with the names of the columns.
struct RowChecksums {
    static constexpr std::int64_t block = std::int64_t{1} << 18;

    std::int64_t bytes = 0;                // of all rows
    std::vector<std::uint64_t> sums = {};  // the last one is of a block that need not be complete

    // Adds rows to the end.
    void add(std::string_view rows);
    // Returns the number of checksums for this number of bytes.
    static std::int64_t count(std::int64_t bytes) { return bytes / block + (bytes % block != 0); }
};

}  // namespace pollen
