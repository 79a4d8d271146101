#pragma once

#include "../common/regression.hpp"

#include <pollen/autograd/tensor.hpp>

#include <cstddef>
#include <vector>

// The prediction of n targets: the average of S normal laws for each, on the standardised scale. Added one by one.
class Mixture {
  public:
    void add(const pollen::Tensor<float>& means, double sd);                         // (n, 1)
    void add(const pollen::Tensor<float>& means, const pollen::Tensor<float>& sds);  // (n, 1)
    void add(const Mixture& other);

    std::size_t size() const { return means_.size(); }  // S

    // In the units of the table: the root of the mean squared error of the means, the mean of -log p(y), and the share
    // of targets, in %, between the 5 % and the 95 % quantile of their predictions.
    double rmse(const RegressionTask& task) const;
    double nll(const RegressionTask& task) const;
    double coverage(const RegressionTask& task) const;

    double rhat = 0;  // the largest of all means over the draws, where the predictions are those of chains

  private:
    std::vector<std::vector<double>> means_, sds_;  // S rows of n
};
