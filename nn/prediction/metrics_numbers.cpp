#include <pollen/autograd/kernels/constants.hpp>
#include <pollen/autograd/math.hpp>
#include <pollen/autograd/support/checks.hpp>
#include <pollen/autograd/support/error.hpp>
#include <pollen/nn/prediction/metrics.hpp>

#include <algorithm>
#include <cmath>

namespace pollen {

namespace {

template <Real T>
void check_numbers(const std::string& metric, const Tensor<T>& predictions, const Tensor<T>& targets) {
    if (predictions.shape() != targets.shape())
        throw ShapeError(metric + ": predictions have shape " + to_string(predictions.shape()) + ", targets " +
                         to_string(targets.shape()) + "; they must be equal");
    if (targets.size() == 0) throw ValueError(metric + ": there are no items");
}

template <Real T, class F>
double mean_of_errors(const Tensor<T>& predictions, const Tensor<T>& targets, F f) {
    double total = 0;
    for (std::int64_t k = 0; k < targets.size(); ++k)
        total += f(static_cast<double>(predictions.data()[k]) - static_cast<double>(targets.data()[k]));
    return total / static_cast<double>(targets.size());
}

// sds null: `sd` for all.
template <Real T>
double mixture(const Tensor<T>& means, const T* sds, double sd, const Tensor<T>& targets) {
    const std::string metric = "mixture_log_likelihood";
    const auto sizes = means.shape().sizes();
    if (targets.rank() < 1 || targets.rank() > 2 || means.rank() != targets.rank() + 1 ||
        !std::equal(sizes.begin() + 1, sizes.end(), targets.shape().sizes().begin()))
        throw ShapeError(metric + ": means have shape " + to_string(means.shape()) + ", targets " +
                         to_string(targets.shape()) + "; (draws, n) and (n), or (draws, n, k) and (n, k), are needed");
    if (means.size() == 0) throw ValueError(metric + ": there are no " + (sizes[0] == 0 ? "draws" : "items"));
    for (std::int64_t k = 0; k < (sds ? means.size() : 1); ++k) {
        const double s = sds ? static_cast<double>(sds[k]) : sd;
        if (!(s > 0) || std::isinf(s))
            throw ValueError(metric + ": " + (sds ? "sd " + std::to_string(k) : "the sd") + " is " + to_text(s) +
                             "; it must be positive and finite");
    }
    const std::int64_t draws = sizes[0], n = targets.shape()[0], width = targets.size() / n;
    std::vector<double> logs(static_cast<std::size_t>(draws));
    double total = 0;
    for (std::int64_t row = 0; row < n; ++row) {
        for (std::int64_t s = 0; s < draws; ++s) {
            double log_prob = -static_cast<double>(width) * kernels::log_sqrt_2pi;
            for (std::int64_t j = row * width; j < (row + 1) * width; ++j) {
                const std::int64_t at = s * targets.size() + j;
                const double scale = sds ? static_cast<double>(sds[at]) : sd;
                const double z =
                    (static_cast<double>(targets.data()[j]) - static_cast<double>(means.data()[at])) / scale;
                log_prob -= z * z / 2 + math::log(scale);
            }
            logs[static_cast<std::size_t>(s)] = log_prob;
        }
        const double most = *std::max_element(logs.begin(), logs.end());
        if (std::isinf(most)) return most;
        double rest = 0;
        for (const double log_prob : logs) rest += math::exp(log_prob - most);
        total += most + math::log(rest / static_cast<double>(draws));
    }
    return total / static_cast<double>(n);
}

}  // namespace

template <Real T>
double rmse(const Tensor<T>& predictions, const Tensor<T>& targets) {
    check_numbers("rmse", predictions, targets);
    return std::sqrt(mean_of_errors(predictions, targets, [](double error) { return error * error; }));
}

template <Real T>
double mean_absolute_error(const Tensor<T>& predictions, const Tensor<T>& targets) {
    check_numbers("mean_absolute_error", predictions, targets);
    return mean_of_errors(predictions, targets, [](double error) { return std::abs(error); });
}

template <Real T>
double mixture_log_likelihood(const Tensor<T>& means, const Tensor<T>& sds, const Tensor<T>& targets) {
    if (sds.shape() != means.shape())
        throw ShapeError("mixture_log_likelihood: means have shape " + to_string(means.shape()) + ", sds " +
                         to_string(sds.shape()) + "; they must be equal");
    return mixture(means, sds.data(), 0, targets);
}

template <Real T>
double mixture_log_likelihood(const Tensor<T>& means, double sd, const Tensor<T>& targets) {
    return mixture<T>(means, nullptr, sd, targets);
}

#define POLLEN_INSTANTIATE(T)                                                                     \
    template double rmse(const Tensor<T>&, const Tensor<T>&);                                     \
    template double mean_absolute_error(const Tensor<T>&, const Tensor<T>&);                      \
    template double mixture_log_likelihood(const Tensor<T>&, const Tensor<T>&, const Tensor<T>&); \
    template double mixture_log_likelihood(const Tensor<T>&, double, const Tensor<T>&);
POLLEN_INSTANTIATE(float)
POLLEN_INSTANTIATE(double)

}  // namespace pollen
