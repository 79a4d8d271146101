#pragma once

#include <string>

namespace pollen::detail {

// Where a file really is.
struct FilePlace {
    std::string path;
    std::string directory;  // "." for a plain name
    std::string name;
};

// Follows symbolic links; the last one need not lead to a file. Throws a FileError if they lead in circles.
FilePlace place_of_file(const std::string& path);

}  // namespace pollen::detail
