#pragma once

#include <pollen/data/io/atomic_file.hpp>

#include <string>
#include <string_view>

// As a CSV file has it.
inline std::string csv_field(const std::string& text) {
    std::string out = "\"";
    for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
    return out + "\"";
}

// Writes a file, as a whole or not at all.
inline void write_text(const std::string& path, std::string_view text) {
    pollen::AtomicFile file(path);
    file.write(text);
    file.commit();
}
