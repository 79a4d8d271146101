#pragma once

#include <pollen/data/io/file.hpp>

#include <cstdint>

namespace pollen::detail {

// XXH64 with seed 0, a hash that is as fast as the memory: it tells data sets apart, but not from one that was made to
// have the same hash.
std::uint64_t xxh64(Bytes bytes);

}  // namespace pollen::detail
