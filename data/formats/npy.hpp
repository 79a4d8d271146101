#pragma once

#include <pollen/autograd/tensor.hpp>
#include <pollen/data/io/file.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace pollen {

// NumPy's NPY files, for T float, double and std::int32_t.
//
// A file may hold bools, integers of 1 to 8 bytes or floats of 2, 4 or 8 bytes in either byte order, in row-major or
// Fortran order; the tensor is always row-major. Numbers are converted to T, but never silently changed: an integer
// that T cannot hold exactly, a fraction read as an integer and a double beyond the range of float are FileErrors that
// name the element. Only rounding from one float type to a shorter one is allowed, also to 0.
template <class T>
Tensor<T> parse_npy(Bytes bytes, const std::string& name, const ReadLimits& limits = {});
template <class T>
Tensor<T> read_npy(const std::string& path, const ReadLimits& limits = {});

// Rows first, ..., first + count - 1 of the first axis. The rest of the file is not read, however large it is: a rank
// of a group reads its share so. Limits are for the rows. Throws a FileError also for a file in Fortran order with more
// than one axis, whose rows are not in one piece, and a ValueError if the file does not have these rows.
template <class T>
Tensor<T> read_npy_rows(const std::string& path, std::int64_t first, std::int64_t count, const ReadLimits& limits = {});

// An NPY file of version 1.0 as NumPy writes it.
template <class T>
std::vector<std::byte> npy_bytes(const Tensor<T>& tensor);
template <class T>
void write_npy(const std::string& path, const Tensor<T>& tensor);

}  // namespace pollen
