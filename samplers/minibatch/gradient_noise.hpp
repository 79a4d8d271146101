#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace pollen {

// V = Cov grad U~, the noise of the gradient of a batch: known, or to be estimated in the warm-up.
//
// For n of N items, drawn without replacement, V = N^2/n S^2 (1 - n/N) with S^2 the sample covariance of the gradients
// of single items.
class GradientNoise {
  public:
    GradientNoise(double variance);                // the same variance for every number of theta, none correlated
    GradientNoise(std::vector<double> variances);  // one each; or, for ConstantSgd, the whole matrix row by row
    // From two batches at the same place, (g1 - g2)^2 / 2, over the second half of the warm-up.
    static GradientNoise estimated();

    bool known() const { return !values_.empty(); }
    // One number, one a dimension, or a matrix.
    const std::vector<double>& values() const { return values_; }
    std::string describe() const;

  private:
    GradientNoise() = default;
    std::vector<double> values_;
};

}  // namespace pollen
