#pragma once

#include <pollen/autograd/tensor.hpp>
#include <pollen/data/io/file.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace pollen {

struct ImageLimits {
    std::int64_t max_width = 16384;
    std::int64_t max_height = 16384;
    ReadLimits limits;
};

// Images have shape (channels, height, width) and values from 0 to 1: what the file holds, divided by the largest value
// that it could hold. No gamma is applied.

// PNG of every colour type and depth: grey has 1 channel, colour and palettes have 3, and transparency adds one. Wrong
// checksums, unknown critical chunks and bytes behind the image are FileErrors; texts and other side information are
// skipped.
template <Real T>
Tensor<T> parse_png(Bytes bytes, const std::string& name, const ImageLimits& limits = {});
template <Real T>
Tensor<T> read_png(const std::string& path, const ImageLimits& limits = {});

// PGM, plain (P2) or raw (P5), with a largest value of 1 to 65535; exactly one image a file.
template <Real T>
Tensor<T> parse_pgm(Bytes bytes, const std::string& name, const ImageLimits& limits = {});
template <Real T>
Tensor<T> read_pgm(const std::string& path, const ImageLimits& limits = {});

// An 8-bit PNG of an image of 1 to 4 channels, and a raw 8-bit PGM of one of 1 channel. Values are rounded to the
// nearest of 256, those outside of 0 to 1 to the nearer end; NaN is a ValueError.
template <Real T>
std::vector<std::byte> png_bytes(const Tensor<T>& image);
template <Real T>
void write_png(const std::string& path, const Tensor<T>& image);
template <Real T>
std::vector<std::byte> pgm_bytes(const Tensor<T>& image);
template <Real T>
void write_pgm(const std::string& path, const Tensor<T>& image);

}  // namespace pollen
