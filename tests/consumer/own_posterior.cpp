// A variational posterior of your own: independent normal weights with one standard deviation for all of a tensor.
#include <pollen/nn/likelihoods/gaussian.hpp>
#include <pollen/nn/training/train.hpp>
#include <pollen/nn/variational/bayes.hpp>

#include <cmath>
#include <iostream>
#include <numbers>

using namespace pollen;

// w = mu + sigma eps, sigma = exp(rho), eps ~ N(0, 1)        log q(w) = -n rho - |eps|^2 / 2 - n log(2 pi) / 2
template <Real T>
class Isotropic final : public Concrete<Isotropic<T>, Posterior<T>> {
  public:
    // `weights` is the parameter of the layer without a posterior: its shape, its first values.
    explicit Isotropic(const Parameter<T>& weights) : mu_(weights), rho_{.shape = {}, .init = Init::constant(-3)} {
        start_with(rho_, mu_);
    }

    // Weights, and what they cost: log q and log p, all of them differentiable.
    WeightDraw<T> draw(Pass<T>& pass, const Prior& prior, const RandomKey& key) const override {
        Tensor<T> eps = Tensor<T>::zeros(mu_.shape);
        fill_normal(key, 0, eps.mutable_values());
        double squares = 0;
        for (const T e : eps.values()) squares += double(e) * double(e);
        const auto n = static_cast<double>(eps.size());
        const Var<T> rho = pass(rho_), w = pass(mu_) + exp(rho) * eps;
        const Var<T> log_q = rho * -n - (squares + n * std::log(2 * std::numbers::pi)) / 2;
        return {w, stack({log_q, log_prior(prior, w, pass.complexity_value())})};
    }
    Var<T> mean(Pass<T>& pass) const override { return pass(mu_); }
    Tensor<T> mean_value() const override { return mu_.value; }
    Tensor<T> sd_value() const override { return Tensor<T>::full(mu_.shape, std::exp(rho_.value.item())); }
    void set_mean(const Tensor<T>& mean) override { start_with(rho_, (mu_.value = mean, mu_)); }
    static void members(auto& self, auto& visitor) {
        visitor.parameter("mu", self.mu_);
        visitor.parameter("rho", self.rho_);
    }
    std::string describe() const override { return "Isotropic"; }

  private:
    Parameter<T> mu_, rho_;
};

int main() {
    // y = w x + N(0, 1), w ~ N(0, 1): the posterior is normal with precision 1 + sum x^2 = 31 and mean sum x y / 31
    // = 2.
    const std::vector<double> x{1, 2, 3, 4}, y{2, 4, 6, 8.5};
    const Dataset<double> data{.inputs = Tensor<double>({4, 1}, x), .targets = Tensor<double>({4, 1}, y)};
    BayesDense<double> line(1, 1, {.posterior = [](const auto& p) { return std::make_unique<Isotropic<double>>(p); }},
                            {.bias = false});
    auto likelihood = Gaussian<double>::known(1);
    train(
        line, likelihood, data,
        {.epochs = 3000, .optimiser = Adam{.rate = Schedule::cosine(0.05, 3000)}, .samples = 4, .show = Show::nothing});
    const Posterior<double>& q = *line.weights()[0].posterior;
    const double mean = q.mean_value().data()[0], sd = q.sd_value().data()[0];
    std::cout << "mean " << mean << " (2), sd " << sd << " (" << 1 / std::sqrt(31) << ")\n";
    return std::abs(mean - 2) < 0.01 && std::abs(sd - 1 / std::sqrt(31)) < 0.01 ? 0 : 1;
}
