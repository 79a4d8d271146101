#include <pollen/data/sets/detail/augment.hpp>

#include <pollen/autograd/random.hpp>
#include <pollen/autograd/streams.hpp>

#include <algorithm>
#include <vector>

namespace pollen::detail {

template <Real T>
void augment(Tensor<T>& images, const BatchOptions& options, std::int64_t step, std::span<const std::int64_t> places) {
    const Shape shape = images.shape();
    const std::int64_t count = shape[0], channels = shape[1], height = shape[2], width = shape[3];
    const std::int64_t shift = options.augmentation.shift;
    Random random(options.seed, stream_of(Purpose::augmentation), static_cast<std::uint64_t>(step));
    std::vector<T> plane(static_cast<std::size_t>(height * width));
    T* image = images.mutable_data();
    for (std::int64_t n = 0, place = 0; n < count; ++place) {
        const auto offset = [&] {
            return static_cast<std::int64_t>(random.below(2 * static_cast<std::uint64_t>(shift) + 1)) - shift;
        };
        const std::int64_t down = offset(), right = offset();
        const bool mirror = random.below(2) == 1 && options.augmentation.flip;
        if (!places.empty() && places[static_cast<std::size_t>(n)] != place) continue;
        ++n;
        for (std::int64_t c = 0; c < channels; ++c, image += height * width) {
            std::copy_n(image, height * width, plane.data());
            for (std::int64_t i = 0; i < height; ++i)
                for (std::int64_t j = 0; j < width; ++j) {
                    const std::int64_t u = i - down, v = (mirror ? width - 1 - j : j) - right;
                    const bool inside = u >= 0 && u < height && v >= 0 && v < width;
                    image[i * width + j] = inside ? plane[static_cast<std::size_t>(u * width + v)] : T(0);
                }
        }
    }
}

template void augment(Tensor<float>&, const BatchOptions&, std::int64_t, std::span<const std::int64_t>);
template void augment(Tensor<double>&, const BatchOptions&, std::int64_t, std::span<const std::int64_t>);

}  // namespace pollen::detail
