#pragma once

#include <pollen/autograd/tensor.hpp>

#include <cstdint>
#include <span>
#include <vector>

// How good predictions are. All of it works on plain tensors and in double, and throws a ShapeError or a ValueError
// where there is nothing to judge or where the numbers cannot be what they are said to be.
namespace pollen {

// ---- classes: probabilities (n, classes), rows that sum to 1 within 0.001, and labels (n) ---------------------------

// The share of items whose most probable class is the label; of equal probabilities the first one counts.
template <Real T>
double accuracy(const Tensor<T>& probabilities, const Indices& labels);

// The mean of -log p(label), in nats. Infinite where a label's probability is 0.
template <Real T>
double nll(const Tensor<T>& probabilities, const Indices& labels);
// The same from log-probabilities (Predictive::log_probabilities()), which do not round small probabilities to 0.
template <Real T>
double nll_from_logs(const Tensor<T>& log_probabilities, const Indices& labels);

// The Brier score in Brier's own form, summed over the classes: 1/n sum_i sum_c (p_ic - [c = label_i])^2, from 0 to 2.
// For two classes it is twice the one-probability form.
template <Real T>
double brier(const Tensor<T>& probabilities, const Indices& labels);

// Items of similar confidence, which is the probability of the most probable class.
struct ReliabilityBin {
    double low = 0, high = 0;  // confidences in (low, high]; with equal mass: the lowest and the highest one
    std::int64_t count = 0;
    double confidence = 0, accuracy = 0;  // means over the bin; NaN where it is empty
};
struct ReliabilityOptions {
    int bins = 15;
    // Bins of equal width from 0 to 1, all of them returned; or of the same number of items each, as far as items of
    // equal confidence, which stay together, allow; empty ones are left out.
    enum class Cut { equal_width, equal_mass } cut = Cut::equal_width;
};
template <Real T>
std::vector<ReliabilityBin> reliability_bins(const Tensor<T>& probabilities, const Indices& labels,
                                             ReliabilityOptions options = {});

// Expected and maximum calibration error (Naeini et al. 2015; Guo et al. 2017):
//
//     ece = sum_b count_b / n |accuracy_b - confidence_b|,    mce = max_b |accuracy_b - confidence_b|
double ece(std::span<const ReliabilityBin> bins);
double mce(std::span<const ReliabilityBin> bins);
template <Real T>
double ece(const Tensor<T>& probabilities, const Indices& labels, ReliabilityOptions options = {}) {
    return ece(reliability_bins(probabilities, labels, options));
}
template <Real T>
double mce(const Tensor<T>& probabilities, const Indices& labels, ReliabilityOptions options = {}) {
    return mce(reliability_bins(probabilities, labels, options));
}

// -sum_c p_ic log p_ic of each row, in nats, with 0 log 0 = 0.
template <Real T>
Tensor<T> predictive_entropy(const Tensor<T>& probabilities);

// ---- telling in- from out-of-distribution items by a score (n) that should be higher for the latter -----------------

// The probability that an item of `out` scores higher than one of `in`, ties counting half (Mann-Whitney's U over the
// number of pairs), which is the area under the ROC curve. 0.5: the score says nothing.
template <Real T>
double auroc(const Tensor<T>& in, const Tensor<T>& out);
// Its standard error by DeLong et al. (1988), which assumes nothing about the scores' distributions. 0 where the sets
// are perfectly apart; NaN where one has a single item.
template <Real T>
double auroc_standard_error(const Tensor<T>& in, const Tensor<T>& out);

// The area under the precision-recall curve with `out` as the positives, as average precision:
//
//     sum_k (recall_k - recall_{k-1}) precision_k    over the distinct scores k from the highest down,
//
// steps, nothing interpolated. A score that says nothing gets the share of `out` among all items.
template <Real T>
double aupr(const Tensor<T>& in, const Tensor<T>& out);

// ---- numbers: predictions and targets of one shape ------------------------------------------------------------------

template <Real T>
double rmse(const Tensor<T>& predictions, const Tensor<T>& targets);
template <Real T>
double mean_absolute_error(const Tensor<T>& predictions, const Tensor<T>& targets);

// The mean over the items of the log-likelihood of a mixture of normal predictions, in nats:
//
//     1/n sum_i log 1/S sum_s prod_j N(y_ij; mean_sij, sd_sij^2)
//
// The targets are (n) or (n, k); means and sds have an axis of S draws before that. The k numbers of an item are
// independent given the draw.
template <Real T>
double mixture_log_likelihood(const Tensor<T>& means, const Tensor<T>& sds, const Tensor<T>& targets);
// The same noise for all.
template <Real T>
double mixture_log_likelihood(const Tensor<T>& means, double sd, const Tensor<T>& targets);

}  // namespace pollen
