#include <pollen/samplers/draws/row_checksums.hpp>

#include <pollen/data/io/detail/crc32.hpp>
#include <pollen/data/io/file.hpp>
#include <pollen/samplers/draws/detail/check_rows.hpp>

#include <algorithm>
#include <fstream>

namespace pollen {

void RowChecksums::add(std::string_view rows) {
    while (!rows.empty()) {
        const std::int64_t used = bytes % block;
        if (used == 0) sums.push_back(0);
        const std::string_view part = rows.substr(0, static_cast<std::size_t>(block - used));
        detail::Crc32 sum(static_cast<std::uint32_t>(sums.back()));
        sum.add(part);
        sums.back() = sum.sum();
        bytes += std::ssize(part);
        rows.remove_prefix(part.size());
    }
}

namespace detail {

void check_rows(const std::string& path, std::int64_t first, const RowChecksums& rows, const std::string& source,
                const std::string& advice, const EachPiece& each_piece) {
    RowChecksums now;
    const std::int64_t last = first + rows.bytes;
    each_piece(first, last, [&](std::string_view piece) { now.add(piece); });
    const auto [saved, found] = std::mismatch(rows.sums.begin(), rows.sums.end(), now.sums.begin());
    if (saved == rows.sums.end()) return;
    const std::int64_t begin = first + (saved - rows.sums.begin()) * RowChecksums::block;
    const std::int64_t end = std::min(last, begin + RowChecksums::block);
    std::int64_t before = 0, within = 0;
    const auto count = [](std::int64_t& lines) {
        return [&lines](std::string_view piece) { lines += std::count(piece.begin(), piece.end(), '\n'); };
    };
    each_piece(0, begin, count(before));
    each_piece(begin, end - 1, count(within));
    throw FileError(path + ": lines " + std::to_string(before + 1) + " to " + std::to_string(before + within + 1) +
                    " are not those that the run wrote: their checksum is " + crc32_text(*found) + ", that in " +
                    source + " is " + crc32_text(*saved) + "; the file was damaged or changed" + advice);
}

namespace {

// The first byte after the line with the names of the columns, which is the first one without a #; or the size of the
// file if there is no such line.
std::int64_t begin_of_rows(const EachPiece& each_piece, std::int64_t size) {
    std::int64_t at = 0;
    bool begins = true, comment = false, found = false;
    while (at < size && !found) {
        each_piece(at, std::min(size, at + RowChecksums::block), [&](std::string_view piece) {
            for (std::size_t k = 0; k < piece.size() && !found; ++k, ++at) {
                if (begins) comment = piece[k] == '#';
                begins = piece[k] == '\n';
                found = begins && !comment;
            }
        });
    }
    return at;
}

}  // namespace

std::int64_t check_rows_of_file(const std::string& path, const RowChecksums& rows, const std::string& source) {
    std::ifstream in(path, std::ios::binary | std::ios::ate);
    const std::int64_t size = in ? static_cast<std::int64_t>(in.tellg()) : -1;
    if (size < 0) throw FileError(path + ": cannot be read");
    std::string buffer(std::size_t{1} << 18, '\0');
    const EachPiece each_piece = [&](std::int64_t at, std::int64_t end, const auto& use) {
        in.seekg(at);
        for (std::int64_t count = 0; at < end; at += count) {
            count = std::min(end - at, std::ssize(buffer));
            if (!in.read(buffer.data(), count)) throw FileError(path + ": cannot be read");
            use({buffer.data(), static_cast<std::size_t>(count)});
        }
    };
    const std::int64_t first = begin_of_rows(each_piece, size);
    if (size - first < rows.bytes)
        throw FileError(path + ": has " + std::to_string(size - first) + " of the " + std::to_string(rows.bytes) +
                        " bytes of rows that the run wrote");
    check_rows(path, first, rows, source, "", each_piece);
    return first + rows.bytes;
}

}  // namespace detail

}  // namespace pollen
