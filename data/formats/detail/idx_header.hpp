#pragma once

#include <pollen/data/formats/idx.hpp>
#include <pollen/data/io/detail/memory_budget.hpp>

#include <bit>
#include <type_traits>

// The first bytes of an IDX file, for the readers of numbers and of labelled images.
namespace pollen::detail {

struct IdxHeader {
    std::byte type{};
    std::uint64_t element_bytes = 0;
    std::vector<std::int64_t> sizes;
    std::uint64_t bytes = 0;       // of the header itself
    std::uint64_t file_bytes = 0;  // of the whole file
};

inline constexpr std::size_t longest_idx_header = 4 + 4 * max_rank;

// Counts the numbers in memory, of `memory_bytes` each, and, if the file is zipped, what it expands to.
IdxHeader parse_idx_header(Bytes bytes, const std::string& name, std::uint64_t memory_bytes, bool zipped,
                           MemoryBudget& budget);

// The numbers, and the header for those who want to know more.
template <class T>
Tensor<T> parse_idx(Bytes bytes, const std::string& name, const ReadLimits& limits, IdxHeader& header);

[[noreturn]] void fail_at_offset(const std::string& name, std::uint64_t offset, const std::string& what);

// 0x08
std::string hex(std::byte byte);

template <std::size_t size>
using Bits = std::conditional_t<
    size == 1, std::uint8_t,
    std::conditional_t<size == 2, std::uint16_t, std::conditional_t<size == 4, std::uint32_t, std::uint64_t>>>;

template <class Element>
Element big_endian(const std::byte* bytes) {
    std::uint64_t bits = 0;
    for (std::size_t k = 0; k < sizeof(Element); ++k) bits = (bits << 8) | std::to_integer<std::uint64_t>(bytes[k]);
    return std::bit_cast<Element>(static_cast<Bits<sizeof(Element)>>(bits));
}

}  // namespace pollen::detail
