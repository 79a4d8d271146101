#pragma once

#include <cstdint>
#include <string>

namespace pollen::test {

// How a message ends that a memory limit caused: the one there is if nobody set another, and that of max_bytes.
inline const std::string by_default =
    " (48 MiB, or 48 times the bytes of the file if that is more; ReadLimits::max_memory sets another limit)";
inline std::string by_max_bytes(std::uint64_t max_bytes, std::uint64_t file_bytes) {
    return " (ReadLimits::max_bytes, " + std::to_string(max_bytes) + ", and the " + std::to_string(file_bytes) +
           " of the file; max_memory sets another limit)";
}

}  // namespace pollen::test
