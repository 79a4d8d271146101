#include <pollen/data/sets/batches.hpp>

#include <pollen/autograd/random.hpp>
#include <pollen/autograd/streams.hpp>
#include <pollen/autograd/support/error.hpp>

#include <algorithm>
#include <string>

namespace pollen {

template <Real T>
Batches<T>::Batches(const Dataset<T>& data, BatchOptions options) : data_(data), options_(options) {
    data.check();
    if (data.size() == 0) throw ShapeError("Batches: the data set is empty");
    if (options_.size < 1)
        throw ValueError("Batches: a batch of " + std::to_string(options_.size) + " items; at least 1 is needed");
    if (options_.augmentation.shift < 0)
        throw ValueError("Batches: a shift of " + std::to_string(options_.augmentation.shift) +
                         " pixels; at least 0 is needed");
    if (options_.augmentation.any() && data.inputs.rank() != 4)
        throw ShapeError("Batches: augmentation needs images (n, channels, height, width), not inputs " +
                         to_string(data.inputs.shape()));
    options_.size = std::min(options_.size, data.size());
    per_epoch_ = (data.size() + options_.size - 1) / options_.size;
}

template <Real T>
Dataset<T> Batches<T>::at(std::int64_t step) {
    if (step < 0) throw ValueError("Batches: step " + std::to_string(step) + "; the first step is 0");
    const std::int64_t made = std::exchange(next_step_, -1);
    background_.wait();
    Dataset<T> batch = made == step ? std::move(next_) : make(step);
    next_step_ = step + 1;
    background_.start([this, next = step + 1] { next_ = make(next); });
    return batch;
}

template <Real T>
Dataset<T> Batches<T>::make(std::int64_t step) {
    std::span<const std::int64_t> items;
    if (options_.draw == Draw::fresh) {
        Random random(options_.seed, stream_of(Purpose::batches), static_cast<std::uint64_t>(step));
        draw_(random, options_.size, data_.size(), chosen_);
        items = chosen_;
    } else {
        if (epoch_ != step / per_epoch_) {
            epoch_ = step / per_epoch_;
            order_ = Random(options_.seed, stream_of(Purpose::batches), static_cast<std::uint64_t>(epoch_))
                         .permutation(data_.size());
        }
        const std::int64_t first = step % per_epoch_ * options_.size;
        items = std::span(order_).subspan(static_cast<std::size_t>(first),
                                          static_cast<std::size_t>(std::min(options_.size, data_.size() - first)));
    }
    Dataset<T> batch = data_.take(items);
    if (options_.augmentation.any()) augment(step, batch.inputs);
    return batch;
}

template <Real T>
void Batches<T>::augment(std::int64_t step, Tensor<T>& images) const {
    const Shape shape = images.shape();
    const std::int64_t count = shape[0], channels = shape[1], height = shape[2], width = shape[3];
    const std::int64_t shift = options_.augmentation.shift;
    Random random(options_.seed, stream_of(Purpose::augmentation), static_cast<std::uint64_t>(step));
    std::vector<T> plane(static_cast<std::size_t>(height * width));
    T* image = images.mutable_data();
    for (std::int64_t n = 0; n < count; ++n) {
        const auto offset = [&] {
            return static_cast<std::int64_t>(random.below(2 * static_cast<std::uint64_t>(shift) + 1)) - shift;
        };
        const std::int64_t down = offset(), right = offset();
        const bool mirror = random.below(2) == 1 && options_.augmentation.flip;
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

template class Batches<float>;
template class Batches<double>;

}  // namespace pollen
