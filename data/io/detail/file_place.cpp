#include <pollen/data/io/detail/file_place.hpp>

#include <pollen/data/io/file.hpp>

#include <cerrno>
#include <cstring>
#include <filesystem>

namespace pollen::detail {

namespace {

constexpr int most_links = 40;
constexpr std::size_t longest_part = 200;  // file systems allow 255 in all

}  // namespace

void check_path(const std::string& path) {
    if (path.find('\0') != path.npos)
        throw FileError(path + ": the path has a NUL character, at which the system would end it");
}

FilePlace place_of_file(const std::string& path) {
    check_path(path);
    std::filesystem::path target = path;
    for (int links = 0; links < most_links; ++links) {
        std::error_code error;
        const std::filesystem::path next = std::filesystem::read_symlink(target, error);
        if (error) {
            const std::string directory = target.parent_path().string();
            return {target.string(), directory.empty() ? "." : directory, target.filename().string()};
        }
        target = target.parent_path() / next;  // an absolute `next` replaces all of it
    }
    throw FileError(path + ": cannot be saved: following its symbolic links: " + std::strerror(ELOOP));
}

std::string hidden_name(const std::string& name) { return "." + name.substr(0, longest_part); }

}  // namespace pollen::detail
