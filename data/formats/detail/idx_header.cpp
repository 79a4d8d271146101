#include <pollen/data/formats/detail/idx_header.hpp>

namespace pollen::detail {

void fail_at_offset(const std::string& name, std::uint64_t offset, const std::string& what) {
    throw FileError(name + ": offset " + std::to_string(offset) + ": " + what);
}

std::string hex(std::byte byte) {
    constexpr char digits[] = "0123456789ABCDEF";
    const auto value = std::to_integer<unsigned>(byte);
    return {'0', 'x', digits[value / 16], digits[value % 16]};
}

namespace {

std::uint64_t element_bytes(const std::string& name, std::byte type) {
    switch (std::to_integer<int>(type)) {
        case 0x08:
        case 0x09:
            return 1;
        case 0x0B:
            return 2;
        case 0x0C:
        case 0x0D:
            return 4;
        case 0x0E:
            return 8;
    }
    fail_at_offset(name, 2,
                   "element type: " + hex(type) + " is unknown; expected 0x08, 0x09, 0x0B, 0x0C, 0x0D or 0x0E");
}

}  // namespace

IdxHeader parse_idx_header(Bytes bytes, const std::string& name, std::uint64_t memory_bytes, bool zipped,
                           MemoryBudget& budget) {
    const auto need = [&](std::size_t count, const char* field) {
        if (bytes.size() < count)
            fail_at_offset(name, bytes.size(),
                           std::string(field) + ": the file ends here; expected " + std::to_string(count) +
                               " bytes up to the end of the field");
    };
    need(2, "magic");
    if (bytes[0] != std::byte{0} || bytes[1] != std::byte{0})
        fail_at_offset(name, 0,
                       "magic: " + hex(bytes[0]) + " " + hex(bytes[1]) + "; an IDX file begins with two zero bytes");
    IdxHeader header;
    need(3, "element type");
    header.type = bytes[2];
    header.element_bytes = element_bytes(name, header.type);
    need(4, "rank");
    const auto rank = std::to_integer<std::size_t>(bytes[3]);
    if (rank < 1 || rank > static_cast<std::size_t>(max_rank))
        fail_at_offset(name, 3, "rank: " + std::to_string(rank) + " axes; expected 1 to " + std::to_string(max_rank));
    need(4 + 4 * rank, "sizes");
    std::vector<std::uint64_t> factors;
    for (std::size_t axis = 0; axis < rank; ++axis) {
        factors.push_back(big_endian<std::uint32_t>(bytes.data() + 4 + 4 * axis));
        header.sizes.push_back(static_cast<std::int64_t>(factors.back()));
    }
    header.bytes = 4 + 4 * rank;
    factors.push_back(memory_bytes);
    const std::uint64_t elements = budget.take("offset 4: sizes", factors) / memory_bytes;
    if (zipped) budget.take("offset 4: expanded sizes", {elements, header.element_bytes});
    header.file_bytes = header.bytes + elements * header.element_bytes;
    return header;
}

}  // namespace pollen::detail
