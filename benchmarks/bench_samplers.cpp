// Steps of samplers: a leapfrog step of NUTS, all of NUTS included, beside Stan's (peers/stan_peer.R has the same
// models); SGLD and SGHMC on networks, batch 128, float, and the gradient of a small network over all items, beside
// PyTorch's (peers/torch_peer.py); chains side by side.
#include "bench.hpp"
#include "networks.hpp"

#include <pollen/autograd/parallel.hpp>
#include <pollen/nn/distributions.hpp>
#include <pollen/nn/likelihoods.hpp>
#include <pollen/nn/potentials/model.hpp>
#include <pollen/nn/potentials/network_potential.hpp>
#include <pollen/samplers/full_batch/hmc.hpp>
#include <pollen/samplers/full_batch/nuts.hpp>
#include <pollen/samplers/minibatch/sghmc.hpp>
#include <pollen/samplers/minibatch/sgld.hpp>
#include <pollen/samplers/run/run_chains.hpp>
#include <pollen/samplers/start.hpp>

#include <cmath>
#include <memory>
#include <vector>

namespace pollen::bench {

namespace {

using D = Tensor<double>;

ModelPotential<double> eight_schools() {
    const D y{28, 8, -3, 7, -1, 1, 18, 12}, sigma{15, 10, 16, 11, 9, 11, 10, 18};
    return ModelPotential<double>([=](Model<double>& m) {
        const auto mu = m.real("mu"), tau = m.positive("tau"), z = m.real("z", {8});
        m.prior(normal_lpdf(z, 0, 1));
        m.prior(normal_lpdf(mu, 0, 5));
        m.prior(half_cauchy_lpdf(tau, 5));
        m.likelihood(normal_lpdf(y, mu + tau * z, sigma));
    });
}

ModelPotential<double> logistic() {
    constexpr std::int64_t rows = 1000, columns = 24;
    Random random(1);
    D x = D::empty({rows, columns});
    random.fill_normal(x.mutable_values());
    std::vector<double> b(columns);
    random.fill_normal(b);
    Indices y = Indices::zeros({rows});
    for (std::int64_t i = 0; i < rows; ++i) {
        double logit = 0;
        for (std::int64_t j = 0; j < columns; ++j) logit += x.data()[i * columns + j] * b[static_cast<std::size_t>(j)];
        y.mutable_values()[static_cast<std::size_t>(i)] = random.uniform<double>() < 1 / (1 + std::exp(-logit));
    }
    return ModelPotential<double>([=](Model<double>& m) {
        const auto alpha = m.real("a"), beta = m.real("b", {columns});
        m.prior(normal_lpdf(alpha, 0, 1));
        m.prior(normal_lpdf(beta, 0, 1));
        m.likelihood(bernoulli_logit_glm_lpmf(y, x, alpha, beta));
    });
}

ModelPotential<double> volatility() {
    constexpr std::int64_t days = 2905;
    Random random(1);
    D r = D::empty({days});
    double s = -4.5;
    for (double& x : r.mutable_values()) {
        double chi = 0;  // Student's t with 9 degrees of freedom
        for (int k = 0; k < 9; ++k) chi += std::pow(random.normal<double>(), 2);
        x = std::exp(s) * random.normal<double>() / std::sqrt(chi / 9);
        s += 0.08 * random.normal<double>();
    }
    return ModelPotential<double>([=](Model<double>& m) {
        const auto sigma = m.positive("sigma"), nu = m.positive("nu"), logs = m.real("s", {days});
        m.prior(exponential_lpdf(sigma, 10));
        m.prior(exponential_lpdf(nu, 0.1));
        m.prior(normal_lpdf(slice(logs, 0, 0, 1), 0, 100));
        m.prior(normal_lpdf(slice(logs, 0, 1, days), slice(logs, 0, 0, days - 1), sigma));
        m.likelihood(student_t_lpdf(r, nu, 0, exp(logs)));
    });
}

// Some steps of NUTS from where a warm-up came to, the same ones again and again, with the values of their draws.
class NutsSteps {
  public:
    NutsSteps(const ModelPotential<double>& model, std::int64_t warmup, std::int64_t steps)
        : potential_(model.clone()), values_(static_cast<std::size_t>(model.value_count())), steps_(steps) {
        const auto chain = Nuts{}.begin<double>(model.clone(), {find_start(*potential_, 1, 0), 1, 0, warmup});
        while (chain->steps() < warmup) chain->step();
        tuned_.step_size = chain->step().step_size;
        tuned_.inverse_metric = chain->inverse_metric();
        start_.assign(chain->position().begin(), chain->position().end());
    }

    void operator()() {
        const auto chain = tuned_.begin<double>(potential_->clone(), {start_, 1, 0, 0});
        leapfrogs_ = 0;
        for (std::int64_t k = 0; k < steps_; ++k) {
            leapfrogs_ += chain->step().gradients;
            potential_->values(chain->position(), values_);
        }
        keep(values_.data());
    }
    std::int64_t leapfrogs() const { return leapfrogs_; }

  private:
    std::unique_ptr<Potential<double>> potential_;
    std::vector<double> values_, start_;
    std::int64_t steps_, leapfrogs_ = 0;
    Nuts tuned_;
};

// Made when it is first needed: not every run of the benchmarks wants it.
template <class Make>
auto later(Make make) {
    using T = decltype(make());
    return [make, made = std::make_shared<T>()]() -> T& {
        if (!*made) *made = make();
        return *made;
    };
}

void add_nuts(const std::string& name, ModelPotential<double> (*model)(), std::int64_t warmup, std::int64_t steps,
              double goal) {
    const auto nuts = later([=] { return std::make_unique<NutsSteps>(model(), warmup, steps); });
    add({.suite = "samplers",
         .name = name,
         .unit = Unit::microseconds(),
         .ours = [nuts] { (*nuts())(); },
         .peer = "Stan",
         .pieces = [nuts] { return static_cast<double>(nuts()->leapfrogs()); },
         .goal = goal,
         .threads = 1});
}

template <class Sampler>
void add_step(const std::string& name, Sequential<float> net, const Sampler& sampler, double goal) {
    const auto chain = later([=] {
        auto potential = std::make_unique<NetworkPotential<float>>(net, Categorical<float>(), random_images(6000));
        const std::vector<float> start = potential->start(1);
        return sampler.template begin<float>(std::move(potential), {start, 1, 0, 0});
    });
    add({.suite = "samplers",
         .name = name,
         .unit = Unit::milliseconds(),
         .ours = [chain] { chain()->step(); },
         .peer = "PyTorch",
         .goal = goal});
}

// U and its gradient for a network of 5 inputs, two hidden layers of 16, a predicted mean and sd, and a N(0, 1) prior:
// what a full-batch sampler asks for at every leapfrog step.
void add_gradient(std::int64_t items, double goal) {
    struct Setting {
        NetworkPotential<float> potential;
        std::vector<float> theta = potential.start(1), gradient = theta;

        Setting(const Sequential<float>& net, const Dataset<float>& data)
            : potential(net, Gaussian<float>::predicted(), data, {.prior = GaussianPrior{.sd = 1}}) {}
    };
    const auto setting = later([=] {
        Dataset<float> data{.inputs = Tensor<float>::empty({items, 5}), .targets = Tensor<float>::empty({items})};
        Random random(1);
        random.fill_normal(data.inputs.mutable_values());
        random.fill_normal(data.targets.mutable_values());
        const Sequential net{Dense(5, 16), Relu(), Dense(16, 16), Relu(), Dense(16, 2)};
        return std::make_unique<Setting>(net, data);
    });
    add({.suite = "samplers",
         .name = "bnn_gradient_" + std::to_string(items),
         .unit = Unit::milliseconds(),
         .ours =
             [setting] {
                 Setting& s = *setting();
                 const Energy energy = s.potential.evaluate(s.theta, s.gradient);
                 keep(&energy);
             },
         .peer = "PyTorch",
         .goal = goal,
         .threads = 2});
}

// As many leapfrog steps by four chains, and by one that has all threads to itself.
void add_chains() {
    auto model = std::make_shared<ModelPotential<double>>(logistic());
    const auto run = [model](std::int64_t chains) {
        run_chains(*model, Hmc{.step_size = 0.05, .steps = 8},
                   {.chains = chains, .warmup = 0, .draws = 2000 / chains, .seed = 1, .show = Show::nothing});
    };
    add({.suite = "samplers",
         .name = "four_chains_on_two_cores",
         .unit = Unit::milliseconds(),
         .ours = [run] { run(4); },
         .peer = "one chain",
         .peer_work = [run] { run(1); },
         .goal = 1.9,
         .threads = 2});
}

const Register rows([] {
    add_nuts("nuts_eight_schools", eight_schools, 1000, 1000, 2);
    add_nuts("nuts_logistic", logistic, 300, 100, 3);
    add_nuts("nuts_volatility", volatility, 60, 3, 8);
    add_step("sgld_mlp_1200", mlp(1200), Sgld{.step_size = 1e-6, .batch = batch_size}, 2.5);
    add_step("sghmc_mlp_1200", mlp(1200), Sghmc{.step_size = 1e-7, .friction = 0.1, .batch = batch_size}, 2.5);
    add_step("sgld_lenet", lenet(), Sgld{.step_size = 1e-6, .batch = batch_size}, 1.8);
    add_gradient(100, 60);
    add_gradient(1052, 12);
    add_gradient(12165, 6);
    add_chains();
});

}  // namespace

}  // namespace pollen::bench
