#include <pollen/data/formats/detail/pixels.hpp>

#include <pollen/autograd/support/detail/allocate.hpp>

#include <algorithm>
#include <cmath>

namespace pollen::detail {

void check_image_size(const std::string& place, const char* field, std::uint64_t size, std::int64_t limit) {
    if (size == 0) throw FileError(place + ": " + field + ": is 0; an image has at least one pixel");
    if (limit < 0 || size > static_cast<std::uint64_t>(limit))
        throw FileError(place + ": " + field + ": " + std::to_string(size) + " is more than the limit of " +
                        std::to_string(limit));
}

template <Real T>
Tensor<T> new_image(MemoryBudget& budget, std::uint64_t channels, std::uint64_t height, std::uint64_t width,
                    std::uint64_t beside) {
    budget.take("image", {channels, height, width, sizeof(T) + beside});
    return Tensor<T>::empty(Shape{static_cast<std::int64_t>(channels), static_cast<std::int64_t>(height),
                                  static_cast<std::int64_t>(width)});
}

template <Real T>
std::vector<std::uint8_t> pixel_bytes(const char* op, const Tensor<T>& image, std::int64_t max_channels) {
    const Shape& shape = image.shape();
    if (shape.rank() != 3 || shape.size() == 0 || shape[0] > max_channels)
        throw ShapeError(
            std::string(op) + ": the image has shape " + to_string(shape) + "; (channels, height, width) with " +
            (max_channels == 1 ? "1 channel" : "1 to " + std::to_string(max_channels) + " channels") + " is expected");
    const std::int64_t channels = shape[0], pixels = shape[1] * shape[2];
    std::vector<std::uint8_t> bytes;
    resize(bytes, static_cast<std::size_t>(shape.size()), op);
    for (std::int64_t channel = 0; channel < channels; ++channel) {
        for (std::int64_t pixel = 0; pixel < pixels; ++pixel) {
            const T value = image.data()[channel * pixels + pixel];
            if (std::isnan(value))
                throw ValueError(std::string(op) + ": pixel (" + std::to_string(channel) + ", " +
                                 std::to_string(pixel / shape[2]) + ", " + std::to_string(pixel % shape[2]) +
                                 ") is NaN");
            const T level = std::round(std::clamp(value, T(0), T(1)) * T(255));
            bytes[static_cast<std::size_t>(pixel * channels + channel)] = static_cast<std::uint8_t>(level);
        }
    }
    return bytes;
}

template Tensor<float> new_image<float>(MemoryBudget&, std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t);
template Tensor<double> new_image<double>(MemoryBudget&, std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t);
template std::vector<std::uint8_t> pixel_bytes<float>(const char*, const Tensor<float>&, std::int64_t);
template std::vector<std::uint8_t> pixel_bytes<double>(const char*, const Tensor<double>&, std::int64_t);

}  // namespace pollen::detail
