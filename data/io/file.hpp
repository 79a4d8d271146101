#pragma once

#include <pollen/autograd/support/error.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace pollen {

// A file that cannot be read or written, or that does not hold what its format says. The message names the file, the
// place in it (an offset or a line) and the field: `digits.idx: offset 4: the first size is 70000, but ...`.
class FileError : public Error {
  public:
    using Error::Error;
};

// What a reader may take, however much a file asks for.
struct ReadLimits {
    std::uint64_t max_bytes = std::uint64_t{4} << 30;  // of the file

    // Of the memory. 0: 48 MiB, or 48 times the bytes of the file if that is more, but beside the file no more than
    // max_bytes. What counts is the file, what it expands to and the numbers, as far as they are there at the same
    // time. A tensor may take a quarter more than its numbers.
    std::uint64_t max_memory = 0;

    // Returns the limit for a file of this size in bytes.
    std::uint64_t memory(std::uint64_t file_bytes) const;
};

using Bytes = std::span<const std::byte>;

// The whole file. Throws a FileError if it cannot be read, is not a regular file, or has more than limits.max_bytes,
// and a MemoryError if there is no memory for it.
std::vector<std::byte> read_bytes(const std::string& path, const ReadLimits& limits = {});

// Makes the directory, and those above it, if they are missing.
void make_directory(const std::string& path);

}  // namespace pollen
