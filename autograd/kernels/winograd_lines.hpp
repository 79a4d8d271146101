#pragma once

#include <cstdint>

// Lines of images, between their place in memory, plane by plane, and a form in which the channels of a pixel are
// neighbours: [pixel][16 channels].
namespace pollen::kernels {

// Some planes of an image, up to 16, the channels of a block.
template <class T>
struct Planes {
    T* first;
    std::int64_t count, height, width;
};

// to = the pixels `first` to `first + pixels - 1` of line y of each plane. Pixels outside of the planes are 0, and so
// are channels that are missing.
void load_line(const Planes<const float>& from, std::int64_t y, std::int64_t first, std::int64_t pixels, float* to);

// The reverse: writes those of the pixels that are inside of the planes, or adds them.
void store_line(const float* from, const Planes<float>& to, std::int64_t y, std::int64_t first, std::int64_t pixels,
                bool add);

}  // namespace pollen::kernels
