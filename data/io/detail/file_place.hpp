#pragma once

#include <string>

namespace pollen::detail {

// Throws a FileError for a path with a NUL character, at which the system would end it. All that opens files calls
// this.
void check_path(const std::string& path);

// Where a file really is.
struct FilePlace {
    std::string path;
    std::string directory;  // "." for a plain name
    std::string name;
};

// Follows symbolic links; the last one need not lead to a file. Throws a FileError if they lead in circles, or as
// check_path() does.
FilePlace place_of_file(const std::string& path);

// What the names of the lock and of the temporary files of a file begin with: `.NAME`, of which a long name has the
// first 200 characters alone. So the lock also keeps others away from the temporary files.
std::string hidden_name(const std::string& name);

}  // namespace pollen::detail
