#pragma once

#include <pollen/data/io/file.hpp>

#include <string>

namespace pollen::detail {

// The SHA-256 of the bytes (FIPS 180-4) in hexadecimal digits.
std::string sha256(Bytes bytes);

}  // namespace pollen::detail
