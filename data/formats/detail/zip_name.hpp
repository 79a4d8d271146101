#pragma once

#include <algorithm>
#include <string>

namespace pollen::detail {

// What is wrong with the name of an entry in a zip archive of .npy files; empty where nothing is.
inline std::string zip_name_problem(const std::string& name) {
    if (name.find('\0') != std::string::npos) return "holds a NUL";
    if (name.size() <= 4 || name.substr(name.size() - 4) != ".npy")
        return "does not end in .npy; an NPZ file holds nothing else";
    if (name[0] == '/' || name[1] == ':') return "is absolute";
    if (name.find('\\') != std::string::npos) return "holds a backslash";
    for (std::size_t start = 0; start <= name.size();) {
        const std::size_t end = std::min(name.find('/', start), name.size());
        if (name.substr(start, end - start) == "..") return "leads out of the archive with ..";
        start = end + 1;
    }
    return "";
}

}  // namespace pollen::detail
