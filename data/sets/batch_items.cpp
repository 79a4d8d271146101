#include <pollen/data/sets/batch_items.hpp>

#include <pollen/autograd/random.hpp>
#include <pollen/autograd/streams.hpp>
#include <pollen/autograd/support/error.hpp>

#include <algorithm>
#include <string>

namespace pollen {

namespace {

std::int64_t at_least_1(const char* name, std::int64_t n) {
    if (n < 1)
        throw ValueError("BatchItems: " + std::string(name) + " is " + std::to_string(n) + "; at least 1 is needed");
    return n;
}

}  // namespace

BatchItems::BatchItems(std::int64_t items, std::int64_t size, Draw draw, std::uint64_t seed)
    : items_(at_least_1("items", items)),
      size_(std::min(at_least_1("size", size), items)),
      per_epoch_((items - 1) / size_ + 1),
      how_(draw),
      seed_(seed) {}

std::span<const std::int64_t> BatchItems::at(std::int64_t step) {
    if (step < 0) throw ValueError("Batches: step " + std::to_string(step) + "; the first step is 0");
    if (how_ == Draw::fresh) {
        Random random(seed_, stream_of(Purpose::batches), static_cast<std::uint64_t>(step));
        draw_(random, size_, items_, chosen_);
        return chosen_;
    }
    if (epoch_ != step / per_epoch_) {
        epoch_ = step / per_epoch_;
        order_ = Random(seed_, stream_of(Purpose::batches), static_cast<std::uint64_t>(epoch_)).permutation(items_);
    }
    const std::int64_t first = step % per_epoch_ * size_;
    return std::span(order_).subspan(static_cast<std::size_t>(first),
                                     static_cast<std::size_t>(std::min(size_, items_ - first)));
}

}  // namespace pollen
