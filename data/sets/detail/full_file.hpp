#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace pollen::detail {

// A file of a full set of data.
struct FullFile {
    std::string_view set, name, source;  // in the cache, and where it comes from
    std::uint64_t bytes;                 // of its contents, uncompressed
    std::string_view sha256;
};

// Throws a FileError that says what to do if the file is not the one that `known` describes.
void check_full_file(const std::string& path, const FullFile& known);

}  // namespace pollen::detail
