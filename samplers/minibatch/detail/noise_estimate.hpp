#pragma once

#include <pollen/autograd/kernels/map.hpp>
#include <pollen/samplers/chain.hpp>
#include <pollen/samplers/options.hpp>

#include <span>
#include <vector>

namespace pollen::detail {

// V from pairs of gradients of different batches at the same place: the mean of (g1 - g2) (g1 - g2)' / 2, all of it or
// its diagonal.
class NoiseEstimate {
  public:
    explicit NoiseEstimate(bool matrix = false) : matrix_(matrix) {}

    template <Real T>
    void add(std::span<const T> g1, std::span<const T> g2) {
        const std::int64_t d = std::ssize(g1);
        sums_.resize(g1.size() * (matrix_ ? g1.size() : 1));
        ++count_;
        const auto difference = [&](std::int64_t i) {
            return static_cast<double>(g1.data()[i]) - static_cast<double>(g2.data()[i]);
        };
        if (!matrix_) {
            parallel_for(d, kernels::map_grain, [&](std::int64_t begin, std::int64_t end) {
                for (std::int64_t i = begin; i < end; ++i) sums_.data()[i] += difference(i) * difference(i) / 2;
            });
            return;
        }
        for (std::int64_t i = 0; i < d; ++i)
            for (std::int64_t j = 0; j < d; ++j) sums_.data()[i * d + j] += difference(i) * difference(j) / 2;
    }

    std::vector<double> mean() const {
        std::vector<double> v = sums_;
        for (double& x : v) x /= static_cast<double>(count_);
        return v;
    }
    // The trace of V; 0 if there are no pairs.
    double trace(std::size_t dimensions) const {
        if (count_ == 0) return 0;
        double sum = 0;
        for (std::size_t k = 0; k < dimensions; ++k) sum += sums_[matrix_ ? k * dimensions + k : k];
        return sum / static_cast<double>(count_);
    }
    std::int64_t count() const { return count_; }

    void clear() {
        sums_ = {};
        count_ = 0;
    }

    void visit(StateVisitor& visitor, std::size_t dimensions) {
        visitor.integer("noise_count", count_);
        check_saved_count("noise_count", count_);
        if (count_ == 0) {
            sums_ = {};
            return;
        }
        visitor.vector("noise_sums", sums_);
        check_saved_size("noise_sums", sums_.size(), matrix_ ? dimensions * dimensions : dimensions);
    }

  private:
    bool matrix_;
    std::int64_t count_ = 0;
    std::vector<double> sums_;
};

}  // namespace pollen::detail
