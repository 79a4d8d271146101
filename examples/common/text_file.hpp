#pragma once

#include <pollen/data/io/atomic_file.hpp>

#include <string>
#include <string_view>

// Writes a file, as a whole or not at all.
inline void write_text(const std::string& path, std::string_view text) {
    pollen::AtomicFile file(path);
    file.write(text);
    file.commit();
}
