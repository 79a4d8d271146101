#pragma once

#include <pollen/autograd/tensor.hpp>
#include <pollen/data/io/detail/memory_budget.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace pollen::detail {

// What the header of an NPY file says about the numbers behind it.
struct NpyHeader {
    char kind = 0;       // b(ool), i(nteger), u(nsigned) or f(loat)
    int item_bytes = 0;  // of one number
    bool big_endian = false;
    bool fortran_order = false;
    std::vector<std::uint64_t> sizes;  // at most max_rank, each below 2^63
    std::size_t shape_at = 0;          // the offset of the shape, for messages
    std::size_t data_at = 0;           // the offset of the first number
};

// Reads magic, version and header of a file of version 1.0, 2.0 or 3.0. Throws a FileError.
NpyHeader parse_npy_header(Bytes bytes, const std::string& name);

// parse_npy, as a part of a larger reader. `name` is for messages.
template <class T>
Tensor<T> parse_npy(Bytes bytes, const std::string& name, MemoryBudget& budget);

// Magic, version 1.0 and header for little-endian numbers in row-major order, byte for byte as NumPy writes them,
// padded to a multiple of 64 bytes. `descr` is '<f4', say.
std::string npy_header_text(const std::string& descr, const Shape& shape);

}  // namespace pollen::detail
