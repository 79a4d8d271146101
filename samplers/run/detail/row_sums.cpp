#include <pollen/samplers/run/detail/row_sums.hpp>

#include <zlib.h>

#include <algorithm>

namespace pollen::detail {

void RowSums::add(std::string_view rows) {
    while (!rows.empty()) {
        const std::int64_t used = bytes % block;
        if (used == 0) sums.push_back(0);
        const std::string_view part = rows.substr(0, static_cast<std::size_t>(block - used));
        sums.back() =
            crc32_z(static_cast<uLong>(sums.back()), reinterpret_cast<const unsigned char*>(part.data()), part.size());
        bytes += std::ssize(part);
        rows.remove_prefix(part.size());
    }
}

}  // namespace pollen::detail
