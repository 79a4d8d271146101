// A posterior of your own: Laplace instead of normal laws for the weights, in one small class.
//
//     ./run example custom_posterior
//
// Any q will do whose draws are a differentiable function of noise without parameters (Blundell et al. 2015,
// Proposition 1). Here w = mu + b eps with b = log(1 + exp(rho)) and eps a standard Laplace number. The example fits a
// line with a prior that is Laplace, too, by normal and by Laplace posteriors, and compares what each costs.
//
// Expected output: both find the slopes 2, -1 and 0 and the standard deviation 0.5 / sqrt(50) = 0.07. The bound of the
// normal posterior is lower: where the true posterior is nearly normal, with sd s, the best Laplace law has b = s /
// sqrt 2, the same sd, and costs log(pi) / 2 - 1/2 = 0.072 nats more for each of the three slopes.
#include "common/example.hpp"
#include "common/table.hpp"

#include <pollen/autograd/math.hpp>
#include <pollen/nn/likelihoods.hpp>
#include <pollen/nn/priors.hpp>
#include <pollen/nn/training/train.hpp>
#include <pollen/nn/variational/bayes.hpp>
#include <pollen/nn/variational/posterior.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

using namespace pollen;

constexpr std::int64_t points = 50;
constexpr double noise = 0.5;

template <Real T>
class LaplacePosterior final : public Concrete<LaplacePosterior<T>, Posterior<T>> {
  public:
    LaplacePosterior(const Parameter<T>& parameter, double initial_scale) : mu(parameter) {
        rho = {.shape = mu.shape, .init = Init::constant(math::log(math::expm1(initial_scale)))};
        start_with(rho, mu);
    }

    // log q(w) = sum -log(2 b) - |eps|
    WeightDraw<T> draw(Pass<T>& pass, const Prior& prior, const RandomKey& key) const override {
        Tensor<T> eps = Tensor<T>::zeros(mu.shape);
        fill_uniform(key, 0, eps.mutable_values(), T(-1), T(1));
        double total = 0;
        for (T& u : eps.mutable_values()) {
            // The sign of u, and an exponential number from its size, of which -1 itself would make an infinite one.
            const T size = std::min(std::abs(u), 1 - std::numeric_limits<T>::epsilon());
            u = std::copysign(math::log1p(-size), u);
            total += static_cast<double>(std::abs(u));
        }
        const Var<T> r = pass(rho), b = softplus(r);
        const Var<T> w = pass(mu) + b * eps;
        const Var<T> log_q =
            sum(log_softplus(r)) * -1.0 - (total + static_cast<double>(mu.shape.size()) * math::log(2.0));
        return {w, stack({log_q, log_prior(prior, w, pass.complexity_value())})};
    }
    Var<T> mean(Pass<T>& pass) const override { return pass(mu); }

    Tensor<T> mean_value() const override { return mu.value; }
    Tensor<T> sd_value() const override {  // sqrt(2) b
        Tensor<T> sd = rho.value;
        for (T& x : sd.mutable_values()) x = std::sqrt(T(2)) * math::softplus(x);
        return sd;
    }
    void set_mean(const Tensor<T>& mean) override {
        if (mean.shape() != mu.shape)
            throw ShapeError("LaplacePosterior: a mean of shape " + to_string(mean.shape()) + " for weights " +
                             to_string(mu.shape));
        mu.value = mean;
        start_with(rho, mu);
    }
    static void members(auto& self, auto& visitor) {
        visitor.parameter("mu", self.mu);
        visitor.parameter("rho", self.rho);
    }
    std::string describe() const override { return "LaplacePosterior"; }

  private:
    // log log(1 + exp(rho)). Below -15 it is rho to the digits of a float, and exp(rho) may be rounded to 0.
    static Var<T> log_softplus(Var<T> rho) {
        const Var<T> above = relu(rho + 15.0);
        const Var<T> log_above = log(softplus(above - 15.0)), below = rho + 15.0 - above;
        return log_above + below;
    }

    Parameter<T> mu, rho;
};

struct Fit {
    Tensor<double> means, sds;
    double bound;  // -log of the evidence, at most
};

Fit fit(const Dataset<double>& data, std::int64_t epochs, std::uint64_t seed, MakePosterior<double> posterior) {
    BayesDense<double> line(3, 1, {.prior = LaplacePrior{1}, .posterior = std::move(posterior)}, {.bias = false});
    auto likelihood = Gaussian<double>::known(noise);
    // The bound is averaged over the last third of the epochs, where little moves any more.
    const std::int64_t last = epochs / 3;
    double bound = 0;
    unless_stopped(train(line, likelihood, data,
                         {.epochs = epochs,
                          .batch = points,
                          .optimiser = Adam{.rate = Schedule::cosine(0.02, epochs)},
                          .seed = seed,
                          .samples = 4,
                          .show = Show::nothing,
                          .on_epoch = [&](const EpochRecord& epoch) {
                              if (epoch.epoch > epochs - last)
                                  bound += (epoch.loss * points + epoch.complexity) / static_cast<double>(last);
                              return true;
                          }}));
    const auto& q = *line.weights()[0].posterior;
    return {q.mean_value(), q.sd_value(), bound};
}

int main(int argc, char** argv) {
    Example example("A posterior of your own: Laplace instead of normal laws for the weights.", "three seconds");
    std::int64_t epochs = 20000;
    example.option("--epochs", epochs, 3000, "steps of Adam, each on all points", 3);
    return example.run(argc, argv, [&] {
        Random random(example.seed);
        Dataset<double> data{Tensor<double>::zeros({points, 3}), Tensor<double>::zeros({points, 1})};
        random.fill_normal(data.inputs.mutable_values());
        for (std::int64_t i = 0; i < points; ++i)
            data.targets.mutable_at(i, 0) = 2 * data.inputs(i, 0) - data.inputs(i, 1) + noise * random.normal();

        const Fit normal = fit(data, epochs, example.seed, mean_field<double>(0.1));
        const Fit laplace = fit(data, epochs, example.seed, [](const Parameter<double>& p) {
            return std::make_unique<LaplacePosterior<double>>(p, 0.1);
        });
        ResultTable table({"slope", "normal: mean", "sd", "Laplace: mean", "sd of it"});
        for (const std::int64_t k : {0, 1, 2})
            table.row({std::to_string(k + 1),
                       {normal.means.data()[k], 3},
                       {normal.sds.data()[k], 3},
                       {laplace.means.data()[k], 3},
                       {laplace.sds.data()[k], 3}});
        table.show();
        table.save(example.path("custom_posterior"));
        ResultTable bounds({"posterior", "-bound, nats", "expected"});
        bounds.row({"normal", {normal.bound, 2}, ""});
        bounds.row({"Laplace", {laplace.bound, 2}, ""});
        bounds.row({"difference", {laplace.bound - normal.bound, 2}, "0.22"});
        bounds.show();
        bounds.save(example.path("custom_posterior_bound"));
    });
}
