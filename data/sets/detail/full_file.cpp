#include <pollen/data/sets/detail/full_file.hpp>

#include <pollen/data/io/gzip.hpp>
#include <pollen/data/sets/detail/sha256.hpp>

namespace pollen::detail {

void check_full_file(const std::string& path, const FullFile& known) {
    const std::string advice = "; remove it and run `./run data " + std::string(known.set) + "` in pollen's source";
    std::vector<std::byte> contents = read_bytes(path);
    if (is_gzip(contents)) {
        try {
            contents = gunzip(contents, path, known.bytes);
        } catch (const FileError& error) {
            throw FileError(error.what() + advice);
        }
    }
    if (contents.size() != known.bytes)
        throw FileError(path + ": holds " + std::to_string(contents.size()) + " bytes instead of " +
                        std::to_string(known.bytes) + advice);
    if (const std::string found = sha256(contents); found != known.sha256)
        throw FileError(path + ": its sha256 is " + found + " instead of " + std::string(known.sha256) + advice);
}

}  // namespace pollen::detail
