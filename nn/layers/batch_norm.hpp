#pragma once

#include <pollen/nn/module/module.hpp>
#include <pollen/nn/module/structure.hpp>

namespace pollen {

struct BatchNormOptions {
    double momentum = 0.1;  // running = (1 - momentum) running + momentum (that of the batch), in each training step
    double epsilon = 1e-5;
};

// y = (x - mean) / sqrt(variance + epsilon) scale + shift        x (n, features) or (n, features, ...)
//
// One mean and variance for each feature, over the items and all other axes (Ioffe & Szegedy 2015). In training they
// are those of the batch; otherwise running_mean and running_variance, which train() brings up to date. Files have
// them, and so has theta, though nothing learns them: no gradient, no prior. The running variance is the unbiased one,
// as in PyTorch.
//
// Warning: in training, what this layer makes of an item depends on the other items of its batch. So there is no
// likelihood p(y_i | x_i, theta) of one item: U is not a sum over items, its value changes with the batches, and there
// is no posterior of theta to sample or to approximate. NetworkPotential, bayesian(), and train() with Bayesian layers
// or over several machines throw a ValueError for a network with this layer. For a posterior use LayerNorm or
// FilterResponseNorm, which treat each item by itself. Or train first and then freeze the layer: its running statistics
// are constants from then on, scale and shift are parameters as before, and there is a likelihood again. For Swag,
// freeze it before the first collect(): a draw of a law of running statistics is no statistic of the data.
template <Real T = float>
class BatchNorm final : public Layer<BatchNorm<T>, T>, public HasConstants {
  public:
    explicit BatchNorm(std::int64_t features, BatchNormOptions options = {});

    Var<T> forward(Pass<T>& pass, Var<T> x) const override;
    static void members(auto& self, auto& visitor) {
        visitor.parameter("scale", self.scale);
        visitor.parameter("shift", self.shift);
        if (self.frozen_) return;
        visitor.parameter("running_mean", self.running_mean);
        visitor.parameter("running_variance", self.running_variance);
    }
    std::string describe() const override;
    std::string details() const override;
    int feature_axis(int) const override { return 1; }
    // A frozen layer has the same tensors in its file as others, so it can read theirs.
    void put_structure(TensorFile& file, const std::string& prefix) const override;
    std::vector<std::string> get_structure(TensorFile& file, const std::string& prefix) override;

    // Makes constants of the running statistics, also in training. They must have values.
    void freeze();
    bool frozen() const { return frozen_; }

    Parameter<T> scale, shift, running_mean, running_variance;

  private:
    Var<T> train(Pass<T>& pass, Var<T> x) const;
    Var<T> scaled(Pass<T>& pass, Var<T> centred, Var<T> variance) const;
    void check(const Shape& x) const;

    BatchNormOptions options_;
    bool frozen_ = false;
};

// Freezes every BatchNorm of a network.
template <Real T>
void freeze_batch_norm(Module<T>& net);

}  // namespace pollen
