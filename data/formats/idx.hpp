#pragma once

#include <pollen/autograd/tensor.hpp>
#include <pollen/data/io/file.hpp>

// IDX, the format of MNIST: two zero bytes, the element type, the number of axes, their sizes as big-endian 32-bit
// numbers, then the elements, big-endian and row-major. Plain or gzipped, which is told from the contents.
namespace pollen {

// The numbers in T: float, double or std::int32_t. Element types are unsigned and signed bytes, 16- and 32-bit whole
// numbers, float and double; axes are 1 to 6. A number that T cannot hold (a fraction or NaN as std::int32_t, 1e300 or
// the whole number 16777217 as float) is an error; only doubles are rounded to the nearest float, also to 0. A file
// that is shorter or longer than its header says is an error, too. Offsets in messages count expanded bytes.
template <class T>
Tensor<T> parse_idx(Bytes bytes, const std::string& name, const ReadLimits& limits = {});
template <class T>
Tensor<T> read_idx(const std::string& path, const ReadLimits& limits = {});

// An IDX file of unsigned bytes. Throws a ValueError where a number is not whole or not in 0 to 255.
template <class T>
std::vector<std::byte> idx_bytes(const Tensor<T>& values);

template <class T>
struct LabelledImages {
    Tensor<T> images;  // (n, 1, height, width), from 0 to 1
    Indices labels;    // (n)
};

// Images of unsigned bytes, (n, height, width), and their n labels, each from 0 to classes - 1.
template <class T>
LabelledImages<T> parse_labelled_images(Bytes images, const std::string& images_name, Bytes labels,
                                        const std::string& labels_name, int classes = 10,
                                        const ReadLimits& limits = {});
template <class T>
LabelledImages<T> read_labelled_images(const std::string& images_path, const std::string& labels_path, int classes = 10,
                                       const ReadLimits& limits = {});

}  // namespace pollen
