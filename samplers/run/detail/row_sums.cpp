#include <pollen/samplers/run/detail/row_sums.hpp>

#include <pollen/data/io/detail/crc32.hpp>

namespace pollen::detail {

void RowSums::add(std::string_view rows) {
    while (!rows.empty()) {
        const std::int64_t used = bytes % block;
        if (used == 0) sums.push_back(0);
        const std::string_view part = rows.substr(0, static_cast<std::size_t>(block - used));
        Crc32 sum(static_cast<std::uint32_t>(sums.back()));
        sum.add(part);
        sums.back() = sum.sum();
        bytes += std::ssize(part);
        rows.remove_prefix(part.size());
    }
}

}  // namespace pollen::detail
