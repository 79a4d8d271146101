#pragma once

#include <pollen/data/io/file.hpp>

namespace pollen {

// Whether the bytes begin as a gzip file does. File names are not asked.
bool is_gzip(Bytes bytes);

// What a gzip file of one or more members expands to. Checksums and lengths are verified; a file that ends early, that
// goes on after its last member, or that expands to more than max_bytes gives a FileError. Never takes more than
// max_bytes of memory, nor more than the file could expand to.
std::vector<std::byte> gunzip(Bytes bytes, const std::string& name, std::uint64_t max_bytes);

// The first `count` bytes of that, or all where there are fewer. Nothing behind them is looked at.
std::vector<std::byte> gunzip_prefix(Bytes bytes, const std::string& name, std::uint64_t count);

// The bytes as a gzip file of one member, the same on every run: level 9, no name, no time.
std::vector<std::byte> gzip(Bytes bytes);

}  // namespace pollen
