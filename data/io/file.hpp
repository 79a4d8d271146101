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
    std::uint64_t max_bytes = std::uint64_t{4} << 30;  // of the file, and of what it expands to in memory
};

using Bytes = std::span<const std::byte>;

// The whole file. Throws a FileError if it cannot be read, is not a regular file, or has more than limits.max_bytes.
std::vector<std::byte> read_bytes(const std::string& path, const ReadLimits& limits = {});

// Makes the directory, and those above it, if they are missing.
void make_directory(const std::string& path);

// a b, or a FileError `name: field: 65536 x 65536 ... is more than the limit of N bytes` if the product is above
// `limit`.
std::uint64_t checked_product(const std::string& name, const std::string& field, std::span<const std::uint64_t> factors,
                              std::uint64_t limit);

}  // namespace pollen
