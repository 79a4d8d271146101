#pragma once

#include <pollen/data/formats/safetensors.hpp>
#include <pollen/nn/module/module.hpp>

#include <cstddef>
#include <memory>
#include <string>

namespace pollen {

struct CompressOptions {
    // A layer becomes sparse where at most this share of its weights is not zero, and stays as it is otherwise. Up to
    // this share the sparse kernels are faster for any number of inputs: the dense ones catch up for one input at about
    // 20 %, for many at 30 % (float, AVX2).
    double max_density = 0.15;
};

// The same network with SparseDense and SparseConv2d for every Dense and Conv2d that has enough zeros. It looks into
// Sequential and Residual. A sparse convolution with strides computes outputs that it drops, so it needs more zeros
// than one without.
template <Real T>
Part<T> compress(const Module<T>& net, CompressOptions options = {});

// A compressed network from its file. `form` is the network before it was compressed; it needs no values. Which layers
// are sparse, and where their weights are, is in the file. Throws a FileError as load() does.
template <Real T>
Part<T> load_compressed(const std::string& path, const Module<T>& form);
template <Real T>
Part<T> compressed_from(const TensorFile& file, const Module<T>& form);

// How many bytes the file of a network has that save() writes, without its metadata, and how many of its parameters are
// not zero.
template <Real T>
std::size_t stored_bytes(const Module<T>& net);
template <Real T>
std::size_t nonzero_count(const Module<T>& net);

}  // namespace pollen
