#include <pollen/data/io/detail/printable.hpp>
#include <pollen/data/io/file.hpp>
#include <pollen/data/sets/detail/full_file.hpp>
#include <pollen/data/sets/embedded.hpp>

#include <cstdlib>
#include <filesystem>
#include <vector>

// The directory data/embedded of the source tree.
#ifndef POLLEN_EMBEDDED_DIR
#define POLLEN_EMBEDDED_DIR ""
#endif

namespace pollen {

namespace {

using detail::FullFile;

constexpr FullFile full_files[] = {
#include "full_sets.inc"
};

// An environment variable; empty if it is not set.
std::string variable(const char* name) {
    const char* value = std::getenv(name);
    return value ? value : "";
}

bool exists(const std::string& path) {
    std::error_code ignored;
    return std::filesystem::exists(path, ignored);
}

void check_set(const char* function, std::string_view name) {
    std::string known;
    std::string_view last;
    for (const FullFile& file : full_files) {
        if (file.set == name) return;
        if (file.set != last) known += (known.empty() ? "" : ", ") + std::string(file.set);
        last = file.set;
    }
    throw ValueError(std::string(function) + ": there is no set " + detail::printable(name) + "; there are " + known);
}

// Empty if nothing says where it is.
std::string cache_if_any() {
    if (std::string given = variable("POLLEN_CACHE"); !given.empty()) return given;
    // The specification of XDG_CACHE_HOME says that a relative path is to be ignored.
    if (const std::string caches = variable("XDG_CACHE_HOME"); caches.starts_with("/")) return caches + "/pollen";
    if (const std::string home = variable("HOME"); !home.empty()) return home + "/.cache/pollen";
    return "";
}

// The first file of the set that is not in the cache; empty if all are there.
std::string missing_file(std::string_view set, const std::string& directory) {
    for (const FullFile& file : full_files) {
        std::string path = directory + "/" + std::string(file.name);
        if (file.set == set && !exists(path)) return path;
    }
    return "";
}

// The directory, after a look at all files of the set in it.
std::string checked_directory(std::string_view set, const std::string& directory) {
    for (const FullFile& file : full_files)
        if (file.set == set) detail::check_full_file(directory + "/" + std::string(file.name), file);
    return directory;
}

}  // namespace

std::string embedded_data(std::string_view name, const char* installed) {
    const std::string given = variable("POLLEN_DATA");
    std::vector<std::string> places{given};
    if (given.empty()) places = {installed, POLLEN_EMBEDDED_DIR};
    std::string looked;
    for (const std::string& place : places) {
        if (place.empty()) continue;
        std::string path = place + "/" + std::string(name);
        if (exists(path)) return path;
        looked += (looked.empty() ? "" : " and ") + place;
    }
    const std::string where = looked.empty() ? "no directory is known to look in" : "it is not in " + looked;
    throw FileError(std::string(name) + ": is not found: " + where + (given.empty() ? "" : " (POLLEN_DATA)") +
                    "; set POLLEN_DATA to the directory data/embedded of pollen's source, or share/pollen/data of an "
                    "installed pollen");
}

std::string cache_directory() {
    std::string cache = cache_if_any();
    if (cache.empty()) throw FileError("there is no cache directory: set POLLEN_CACHE, or HOME, to one");
    return cache;
}

bool has_data(std::string_view set) {
    check_set("has_data", set);
    const std::string cache = cache_if_any();
    return !cache.empty() && missing_file(set, cache + "/" + std::string(set)).empty();
}

std::optional<std::string> find_data(std::string_view set) {
    check_set("find_data", set);
    const std::string cache = cache_if_any();
    const std::string directory = cache + "/" + std::string(set);
    if (cache.empty() || !missing_file(set, directory).empty()) return std::nullopt;
    return checked_directory(set, directory);
}

std::string require_data(std::string_view set) {
    check_set("require_data", set);
    const std::string directory = cache_directory() + "/" + std::string(set);
    if (const std::string file = missing_file(set, directory); !file.empty())
        throw FileError(file + ": is not there; `./run data " + std::string(set) +
                        "` in pollen's source brings the full set");
    return checked_directory(set, directory);
}

std::string data_directory(std::string_view set, const char* installed) {
    const std::optional<std::string> full = find_data(set);
    return full ? *full : embedded_data(set, installed);
}

}  // namespace pollen
