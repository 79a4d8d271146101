#include <pollen/autograd/math.hpp>
#include <pollen/autograd/support/checks.hpp>
#include <pollen/nn/likelihoods/gaussian.hpp>
#include <pollen/nn/prediction/predictive.hpp>

#include <algorithm>
#include <cmath>

namespace pollen {

// West's update, with W the sum of the weights: d = v - m, m += d w / W, squares += w d (v - m).
template <Real T>
template <class Sd>
void PredictiveNumbers<T>::add_each(const Tensor<T>& mean, Sd sd, double weight) {
    const std::string draw = "draw " + std::to_string(draws_);
    if (draws_ > 0 && mean.shape() != shape_)
        throw ShapeError("PredictiveNumbers: the means of " + draw + " have shape " + to_string(mean.shape()) +
                         ", those before it have " + to_string(shape_));
    for (std::int64_t k = 0; k < mean.size(); ++k) {
        if (!std::isfinite(mean.data()[k]))
            throw ValueError("PredictiveNumbers: mean " + std::to_string(k) + " of " + draw + " is not finite");
        if (!(sd(k) >= 0) || std::isinf(sd(k)))
            throw ValueError("PredictiveNumbers: sd " + std::to_string(k) + " of " + draw + " is " + to_text(sd(k)) +
                             "; it must be finite and not negative");
    }
    check_weight("PredictiveNumbers", weight);
    if (weight == 0) return;
    if (draws_ == 0) {
        shape_ = mean.shape();
        for (std::vector<double>* moment : {&mean_, &within_, &squares_})
            moment->assign(static_cast<std::size_t>(mean.size()), 0);
    }
    ++draws_;
    weight_ += weight;
    const double share = weight / weight_;
    for (std::int64_t k = 0; k < mean.size(); ++k) {
        const auto at = static_cast<std::size_t>(k);
        const double value = static_cast<double>(mean.data()[k]), change = value - mean_[at];
        mean_[at] += change * share;
        squares_[at] += weight * change * (value - mean_[at]);
        within_[at] += (sd(k) * sd(k) - within_[at]) * share;
    }
}

template <Real T>
void PredictiveNumbers<T>::add(const Tensor<T>& mean) {
    add(mean, 0.0);
}

template <Real T>
void PredictiveNumbers<T>::add(const Tensor<T>& mean, double sd, double weight) {
    add_each(
        mean, [sd](std::int64_t) { return sd; }, weight);
}

template <Real T>
void PredictiveNumbers<T>::add(const Tensor<T>& mean, const Tensor<T>& sd, double weight) {
    if (sd.shape() != mean.shape())
        throw ShapeError("PredictiveNumbers: means have shape " + to_string(mean.shape()) + ", sds " +
                         to_string(sd.shape()) + "; they must be equal");
    add_each(
        mean, [&sd](std::int64_t k) { return static_cast<double>(sd.data()[k]); }, weight);
}

template <Real T>
void PredictiveNumbers<T>::add_predicted(const Tensor<T>& outputs, double weight) {
    if (outputs.rank() != 2 || outputs.shape()[1] % 2 != 0)
        throw ShapeError("PredictiveNumbers: outputs have shape " + to_string(outputs.shape()) +
                         "; (n, 2k), k means and then k noises, is needed");
    const std::int64_t rows = outputs.shape()[0], k = outputs.shape()[1] / 2;
    Tensor<T> mean = Tensor<T>::empty(Shape{rows, k}), sd = Tensor<T>::empty(Shape{rows, k});
    for (std::int64_t row = 0; row < rows; ++row) {
        for (std::int64_t j = 0; j < k; ++j) {
            const T* at = outputs.data() + row * 2 * k + j;
            const double r = static_cast<double>(at[k]);
            mean.fresh_data()[row * k + j] = *at;
            sd.fresh_data()[row * k + j] = static_cast<T>(math::softplus(r) + Gaussian<T>::smallest_sd);
        }
    }
    add(mean, sd, weight);
}

template <Real T>
template <class F>
Tensor<T> PredictiveNumbers<T>::each(const char* what, F f) const {
    if (draws_ == 0) throw ValueError(std::string("PredictiveNumbers: ") + what + "() of no draws; add() one first");
    Tensor<T> values = Tensor<T>::empty(shape_);
    for (std::size_t k = 0; k < mean_.size(); ++k) values.fresh_data()[k] = static_cast<T>(f(k));
    return values;
}

template <Real T>
Tensor<T> PredictiveNumbers<T>::mean() const {
    return each("mean", [this](std::size_t k) { return mean_[k]; });
}

template <Real T>
Tensor<T> PredictiveNumbers<T>::aleatoric() const {
    return each("aleatoric", [this](std::size_t k) { return within_[k]; });
}

template <Real T>
Tensor<T> PredictiveNumbers<T>::epistemic() const {
    return each("epistemic", [this](std::size_t k) { return squares_[k] / weight_; });
}

template <Real T>
Tensor<T> PredictiveNumbers<T>::variance() const {
    return each("variance", [this](std::size_t k) { return within_[k] + squares_[k] / weight_; });
}

template <Real T>
Tensor<T> PredictiveNumbers<T>::sd() const {
    return each("sd", [this](std::size_t k) { return std::sqrt(within_[k] + squares_[k] / weight_); });
}

template class PredictiveNumbers<float>;
template class PredictiveNumbers<double>;

}  // namespace pollen
