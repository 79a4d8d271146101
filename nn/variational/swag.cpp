#include <pollen/nn/variational/swag.hpp>

#include <pollen/autograd/parallel.hpp>
#include <pollen/autograd/random.hpp>
#include <pollen/autograd/streams.hpp>
#include <pollen/autograd/support/checks.hpp>
#include <pollen/autograd/support/error.hpp>
#include <pollen/nn/variational/detail/several_draws.hpp>

#include <cmath>

namespace pollen {

template <Real T>
Swag<T>::Swag(std::int64_t rank) : rank_(rank) {
    if (rank < 2) throw ValueError("Swag: rank is " + std::to_string(rank) + "; at least 2 is needed");
}

// Welford's update, where sums of squares would cancel: d = theta - mean, mean += d / n, squares += d (theta - mean).
template <Real T>
void Swag<T>::collect(std::span<const T> theta) {
    if (theta.empty()) throw ShapeError("Swag: theta is empty");
    if (collected_ > 0 && theta.size() != mean_.size())
        throw ShapeError("Swag: theta has " + std::to_string(theta.size()) + " numbers; the points before it have " +
                         std::to_string(mean_.size()));
    for (std::size_t i = 0; i < theta.size(); ++i)
        if (!std::isfinite(theta[i]))
            throw ValueError("Swag: number " + std::to_string(i) + " of theta is " +
                             to_text(static_cast<double>(theta[i])) + "; it must be finite");
    mean_.resize(theta.size());
    squares_.resize(theta.size());
    const double n = static_cast<double>(++collected_);
    Tensor<T> column = Tensor<T>::empty(Shape{std::ssize(theta)});
    T* deviations = column.fresh_data();
    for (std::size_t i = 0; i < theta.size(); ++i) {
        const double value = static_cast<double>(theta[i]), change = value - mean_[i];
        mean_[i] += change / n;
        squares_[i] += change * (value - mean_[i]);
        deviations[i] = static_cast<T>(value - mean_[i]);
    }
    if (collected_ <= rank_)
        columns_.push_back(std::move(column));
    else
        columns_[static_cast<std::size_t>((collected_ - 1) % rank_)] = std::move(column);
}

template <Real T>
Tensor<T> Swag<T>::tensor(const char* what, const std::vector<double>& numbers, double by) const {
    if (collected_ == 0)
        throw ValueError(std::string("Swag: ") + what + "() of no points; collect() at least one first");
    Tensor<T> out = Tensor<T>::empty(Shape{std::ssize(numbers)});
    for (std::size_t i = 0; i < numbers.size(); ++i) out.fresh_data()[i] = static_cast<T>(numbers[i] * by);
    return out;
}

template <Real T>
Tensor<T> Swag<T>::mean() const {
    return tensor("mean", mean_, 1);
}

template <Real T>
Tensor<T> Swag<T>::variance() const {
    return tensor("variance", squares_, 1 / static_cast<double>(collected_));
}

// theta = mean + sqrt(variance / 2) z + D u / sqrt(2 (K - 1)),    z ~ N(0, I), u ~ N(0, I_K)    (Eq. 1)
template <Real T>
Tensor<T> Swag<T>::draw(std::uint64_t seed, std::uint64_t k) const {
    if (collected_ < 2)
        throw ValueError("Swag: a draw needs at least 2 points; " + std::to_string(collected_) + " were collected");
    const std::size_t rank = columns_.size();
    const auto size = std::ssize(mean_);
    std::vector<double> z(mean_.size() + rank);
    fill_normal({seed, stream_of(Purpose::predicted_weights), k}, 0, z);
    const double* u = z.data() + size;
    const double of_variance = 1 / (2 * static_cast<double>(collected_));
    const double of_columns = 1 / std::sqrt(2 * (static_cast<double>(rank) - 1));
    Tensor<T> theta = Tensor<T>::empty(Shape{size});
    T* out = theta.fresh_data();
    parallel_for(size, 4096, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) {
            const auto at = static_cast<std::size_t>(i);
            double along = 0;
            for (std::size_t c = 0; c < rank; ++c) along += static_cast<double>(columns_[c].data()[i]) * u[c];
            out[i] = static_cast<T>(mean_[at] + std::sqrt(squares_[at] * of_variance) * z[at] + along * of_columns);
        }
    });
    return theta;
}

template <Real T>
std::vector<Tensor<T>> Swag<T>::draws(std::int64_t count, std::uint64_t seed, std::uint64_t first) const {
    return detail::several_draws<T>("Swag", *this, count, seed, first);
}

template class Swag<float>;
template class Swag<double>;

}  // namespace pollen
