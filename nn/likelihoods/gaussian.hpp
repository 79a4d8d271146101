#pragma once

#include <pollen/nn/likelihoods/likelihood.hpp>

namespace pollen {

// Numbers with normal noise. The targets are (n) or (n, k).
//
//     log p(y | mean, sd) = -(y - mean)^2 / (2 sd^2) - log sd - log(2 pi) / 2
//
//     known      the outputs are the means; sd is given
//     learned    the outputs are the means; log sd is a parameter, "log_sd", the same for all items
//     predicted  the outputs are (n, 2k): k means, then k numbers r with sd = log(1 + exp(r)) + smallest_sd
//
// A predicted sd without a bound could shrink until 1 / sd^2 is no float any more, as it does where a network fits an
// item exactly. Scored by the root of the mean squared error of the means.
template <Real T = float>
class Gaussian final : public Concrete<Gaussian<T>, Likelihood<T>> {
  public:
    static constexpr double smallest_sd = 1e-6;

    static Gaussian known(double sd);
    static Gaussian learned(double initial_sd = 1);
    static Gaussian predicted() { return Gaussian(Noise::predicted, 1); }

    Var<T> log_prob(Pass<T>& pass, Var<T> outputs, const Dataset<T>& batch) const override;
    void check_data(const Shape& outputs, const Dataset<T>& data) const override;

    const char* score_name() const override { return "rmse"; }
    bool higher_is_better() const override { return false; }
    double score(const Tensor<T>& outputs, const Dataset<T>& batch) const override;
    double finish(double total, std::int64_t items) const override;

    static void members(auto& self, auto& visitor) {
        if (self.noise_ == Noise::learned) visitor.parameter("log_sd", self.log_sd);
    }
    std::string describe() const override;

    // The noise: as given or, where it is learned, at the present value of log_sd. Throws a ValueError if it is
    // predicted for each item.
    double sd() const;

    Parameter<T> log_sd;  // where the noise is learned

  private:
    enum class Noise { known, learned, predicted };
    Gaussian(Noise noise, double sd);

    Noise noise_;
    double sd_;
};

}  // namespace pollen
