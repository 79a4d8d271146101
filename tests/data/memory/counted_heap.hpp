#pragma once

#include <cstddef>

namespace pollen::test {

// The heap of this program, counted block by block, whoever asks: pollen, the standard library, zlib, libpng or libzip.
std::size_t heap_bytes();
std::size_t most_heap_bytes();  // the most there were at a time, since the call of the next function
void forget_most_heap_bytes();

}  // namespace pollen::test
