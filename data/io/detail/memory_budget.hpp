#pragma once

#include <pollen/data/io/file.hpp>

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

namespace pollen::detail {

// `more than the limit of 50331648 (48 MiB, or ...)`: the end of a message. The limit is limits.memory(file_bytes), and
// the message says where it comes from.
std::string limit_text(const ReadLimits& limits, std::uint64_t file_bytes);

// The memory that reading one file may take. A reader counts what it needs before it allocates it.
class MemoryBudget {
  public:
    // Counts the file itself. Keeps a reference to the name, which messages begin with.
    MemoryBudget(const std::string& name, const ReadLimits& limits, std::uint64_t file_bytes);

    // Counts the product of the factors in bytes and returns it. Throws a FileError if that is too much:
    // `f: field: 70000 x 8 bytes, beside the 14 taken before, are more than the limit of ...`. Factors of 0 count as 1
    // in the check, so (0, 2^62) is refused.
    std::uint64_t take(std::string_view field, std::span<const std::uint64_t> factors);
    std::uint64_t take(std::string_view field, std::initializer_list<std::uint64_t> factors) {
        return take(field, std::span(factors.begin(), factors.size()));
    }
    // The same without counting it.
    std::uint64_t check(std::string_view field, std::span<const std::uint64_t> factors) const;

    std::uint64_t left() const { return limit_ - taken_; }

    std::string limit_text() const { return detail::limit_text(limits_, file_bytes_); }

  private:
    const std::string* name_;
    ReadLimits limits_;
    std::uint64_t file_bytes_, limit_, taken_;
};

// The bytes, or what they expand to if they are a gzip file. That is then counted, and kept in `storage`.
Bytes expanded(Bytes bytes, const std::string& name, MemoryBudget& budget, std::vector<std::byte>& storage);

}  // namespace pollen::detail
