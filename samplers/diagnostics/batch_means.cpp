#include <pollen/samplers/diagnostics/batch_means.hpp>

#include <cmath>
#include <limits>
#include <string>

namespace pollen {

void BatchSums::add(double x, double weight) {
    if (count_ == 0 || filled_ == length_) {
        if (count_ == static_cast<std::int64_t>(most)) {
            for (std::size_t k = 0; k < most / 2; ++k) {
                weights_[k] = weights_[2 * k] + weights_[2 * k + 1];
                sums_[k] = sums_[2 * k] + sums_[2 * k + 1];
            }
            for (std::size_t k = most / 2; k < most; ++k) weights_[k] = sums_[k] = 0;
            count_ /= 2;
            length_ *= 2;
        }
        ++count_;
        filled_ = 0;
    }
    const auto last = static_cast<std::size_t>(count_ - 1);
    weights_[last] += weight;
    sums_[last] += weight * x;
    ++filled_;
}

void BatchSums::visit(StateVisitor& visitor, const char* name) {
    const std::string before = std::string(name) + "_";
    visitor.integer((before + "batches").c_str(), count_);
    visitor.integer((before + "length").c_str(), length_);
    visitor.integer((before + "filled").c_str(), filled_);
    visitor.vector((before + "weights").c_str(), weights_);
    visitor.vector((before + "sums").c_str(), sums_);
}

bool BatchSums::valid() const {
    return count_ >= 0 && count_ <= static_cast<std::int64_t>(most) && length_ >= 1 && filled_ >= 0 &&
           filled_ <= length_;
}

namespace {

struct Batch {
    double weight = 0, sum = 0;
};

double error_of(std::span<const Batch> batches, double mean, double weight) {
    double squares = 0;
    for (const Batch& b : batches) squares += (b.sum - b.weight * mean) * (b.sum - b.weight * mean);
    const auto n = static_cast<double>(batches.size());
    return batches.size() < 2 ? std::numeric_limits<double>::quiet_NaN() : std::sqrt(n / (n - 1) * squares) / weight;
}

}  // namespace

MeanAndError mean_and_error(std::span<const BatchSums> chains) {
    std::vector<Batch> batches, wholes;
    Batch all;
    for (const BatchSums& chain : chains) {
        if (chain.count() == 0) continue;
        Batch& whole = wholes.emplace_back();
        for (std::int64_t b = 0; b < chain.count(); ++b) {
            batches.push_back({chain.weight(b), chain.sum(b)});
            whole.weight += chain.weight(b);
            whole.sum += chain.sum(b);
        }
        all.weight += whole.weight;
        all.sum += whole.sum;
    }
    const double mean = all.sum / all.weight;
    return {mean, std::fmax(error_of(batches, mean, all.weight), error_of(wholes, mean, all.weight))};
}

}  // namespace pollen
