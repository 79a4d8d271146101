#pragma once

#include <pollen/samplers/chain.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace pollen {

// Sums of weighted numbers along a chain, in successive batches of equal length. When there are 32 batches, pairs of
// them are merged: a long chain has 16 to 32 batches, and the memory is always the same.
class BatchSums {
  public:
    void add(double x, double weight = 1);
    void visit(StateVisitor& visitor, const char* name);
    // False if the numbers are impossible, as they may be in a damaged file.
    bool valid() const;

    // Batches so far, the last one perhaps unfinished.
    std::int64_t count() const { return count_; }
    double weight(std::int64_t batch) const { return weights_[static_cast<std::size_t>(batch)]; }
    double sum(std::int64_t batch) const { return sums_[static_cast<std::size_t>(batch)]; }

  private:
    static constexpr std::size_t most = 32;
    std::vector<double> weights_ = std::vector<double>(most), sums_ = std::vector<double>(most);
    std::int64_t count_ = 0, length_ = 1, filled_ = 0;  // of draws: that a batch has, and that the last one has
};

struct MeanAndError {
    double mean = 0, error = 0;
};

// The weighted mean m of all chains, and its standard error: with W_b and m_b those of batch b,
//
//     error^2 = B / (B - 1) sum_b (W_b (m_b - m))^2 / (sum_b W_b)^2
//
// by batches, or by whole chains if that is more. The mean is NaN if there are no batches, the error if there is one.
MeanAndError mean_and_error(std::span<const BatchSums> chains);

}  // namespace pollen
