#pragma once

#include <pollen/nn/likelihoods/likelihood.hpp>

namespace pollen {

// Numbers with heavy-tailed noise: the outputs are the centres, the targets have their shape, where (n) and (n, 1) are
// the same. nu degrees of freedom, z = (y - x) / scale:
//
//     log p(y | x) = -(nu + 1) / 2 log(1 + z^2 / nu) - log scale
//                    + lgamma((nu + 1) / 2) - lgamma(nu / 2) - log(nu pi) / 2
//
// The scale is given, or learned: log scale is then a parameter, "log_scale". Scored by the root of the mean squared
// error of the centres.
template <Real T = float>
class StudentT final : public Concrete<StudentT<T>, Likelihood<T>> {
  public:
    static StudentT known(double nu, double scale = 1);
    static StudentT learned(double nu, double initial_scale = 1);

    Var<T> log_prob(Pass<T>& pass, Var<T> outputs, const Dataset<T>& batch) const override;
    void check_data(const Shape& outputs, const Dataset<T>& data) const override;

    const char* score_name() const override { return "rmse"; }
    bool higher_is_better() const override { return false; }
    double score(const Tensor<T>& outputs, const Dataset<T>& batch) const override;
    double finish(double total, std::int64_t items) const override;

    static void members(auto& self, auto& visitor) {
        if (self.learned_) visitor.parameter("log_scale", self.log_scale);
    }
    std::string describe() const override;

    Parameter<T> log_scale;  // where the scale is learned

  private:
    StudentT(const char* scale_name, double nu, double scale, bool learned);

    double nu_, scale_;
    bool learned_;
};

}  // namespace pollen
