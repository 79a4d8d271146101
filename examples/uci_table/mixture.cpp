#include "mixture.hpp"

#include <pollen/autograd/math.hpp>
#include <pollen/nn/prediction/metrics.hpp>

#include <algorithm>
#include <numbers>

using namespace pollen;

namespace {

Tensor<double> side_by_side(const std::vector<std::vector<double>>& rows) {
    Tensor<double> all = Tensor<double>::empty({std::ssize(rows), std::ssize(rows.at(0))});
    double* to = all.mutable_data();
    for (const auto& row : rows) to = std::ranges::copy(row, to).out;
    return all;
}

Tensor<double> targets_of(const RegressionTask& task) {
    return cast<double>(task.test_data.targets).reshaped({task.test_data.size()});
}

}  // namespace

void Mixture::add(const Tensor<float>& means, double sd) {
    means_.emplace_back(means.begin(), means.end());
    sds_.emplace_back(means_.back().size(), sd);
}

void Mixture::add(const Tensor<float>& means, const Tensor<float>& sds) {
    means_.emplace_back(means.begin(), means.end());
    sds_.emplace_back(sds.begin(), sds.end());
}

void Mixture::add(const Mixture& other) {
    means_.insert(means_.end(), other.means_.begin(), other.means_.end());
    sds_.insert(sds_.end(), other.sds_.begin(), other.sds_.end());
}

double Mixture::rmse(const RegressionTask& task) const {
    Tensor<double> mean = Tensor<double>::zeros({task.test_data.size()});
    for (const auto& row : means_)
        for (std::size_t i = 0; i < row.size(); ++i) mean.mutable_data()[i] += row[i] / static_cast<double>(size());
    return pollen::rmse(mean, targets_of(task)) * task.unit;
}

double Mixture::nll(const RegressionTask& task) const {
    return -mixture_log_likelihood(side_by_side(means_), side_by_side(sds_), targets_of(task)) + math::log(task.unit);
}

// y is in the interval if the distribution function F(y) = 1/S sum_s Phi((y - mean_s) / sd_s) is between 0.05 and 0.95.
double Mixture::coverage(const RegressionTask& task) const {
    const Tensor<double> y = targets_of(task);
    std::int64_t inside = 0;
    for (std::int64_t i = 0; i < y.size(); ++i) {
        const auto at = static_cast<std::size_t>(i);
        double below = 0;
        for (std::size_t s = 0; s < size(); ++s)
            below += math::erfc((means_[s][at] - y(i)) / (sds_[s][at] * std::numbers::sqrt2)) / 2;
        below /= static_cast<double>(size());
        inside += below >= 0.05 && below <= 0.95;
    }
    return 100 * static_cast<double>(inside) / static_cast<double>(y.size());
}
