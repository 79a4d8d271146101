#pragma once

#include <pollen/samplers/draws/row_checksums.hpp>

#include <functional>
#include <string>
#include <string_view>

namespace pollen::detail {

// each_piece(first, end, use) calls use(bytes) for the bytes [first, end) of a file, piece by piece.
using EachPiece =
    std::function<void(std::int64_t first, std::int64_t end, const std::function<void(std::string_view)>& use)>;

// Throws a FileError unless the rows of a file, from byte `first` on, begin with those of the checksums. The message
// names the lines that were changed. `source` says where the checksums come from, `advice` is its end.
void check_rows(const std::string& path, std::int64_t first, const RowChecksums& rows, const std::string& source,
                const std::string& advice, const EachPiece& each_piece);

// The same for a file that is not open. Its rows begin after the line with the names of the columns. Returns the byte
// where the rows of the checksums end.
std::int64_t check_rows_of_file(const std::string& path, const RowChecksums& rows, const std::string& source);

}  // namespace pollen::detail
