#pragma once

#include <pollen/autograd/tensor.hpp>
#include <pollen/data/io/file.hpp>

// The sparse text format of LIBSVM: `target index:value index:value ... # comment`, one example a line, indices
// ascending from 1, what is not named being 0. Lines end in LF or CR LF. Numbers that no double holds are errors, as in
// read_csv. Plain or gzipped, which is told from the contents.
namespace pollen {

struct LibsvmOptions {
    std::int64_t features = 0;  // 0: the largest index in the file
    // A short line with a large index is a long row. A set that is sparse on purpose needs a larger limits.max_memory.
    ReadLimits limits = {};
};

struct Libsvm {
    Tensor<double> targets;  // (n)
    Tensor<double> inputs;   // (n, features), dense
};

Libsvm parse_libsvm(Bytes bytes, const std::string& name, const LibsvmOptions& options = {});
Libsvm read_libsvm(const std::string& path, const LibsvmOptions& options = {});

}  // namespace pollen
