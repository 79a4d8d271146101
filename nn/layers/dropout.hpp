#pragma once

#include <pollen/autograd/support/checks.hpp>
#include <pollen/nn/module/module.hpp>

namespace pollen {

// y = x m / (1 - rate), each m 0 with probability `rate` and 1 otherwise, in training and in Mode::sample; y = x in
// plain prediction (Srivastava et al. 2014). Predicting with Mode::sample several times is MC dropout (Gal & Ghahramani
// 2016).
template <Real T = float>
class Dropout final : public Layer<Dropout<T>, T> {
  public:
    explicit Dropout(double rate) : rate_(rate) {
        if (!(rate >= 0 && rate < 1))
            throw ValueError("Dropout: rate is " + to_text(rate) + "; it must be at least 0 and less than 1");
    }
    Var<T> forward(Pass<T>& pass, Var<T> x) const override {
        if (!pass.random()) return x;
        const LayerNoise noise = pass.noise(x.size());
        return dropout(x, static_cast<T>(rate_), noise.key, noise.first);
    }
    std::string describe() const override { return call("Dropout", rate_); }

  private:
    double rate_;
};

}  // namespace pollen
