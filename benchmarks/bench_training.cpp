// Training steps as a program makes them: the tape, the layers, the likelihood and the optimiser together, float, batch
// 128 of digits or 64 of colour images. PyTorch does the same in peers/torch_peer.py.
#include "bench.hpp"
#include "floor_bbb.hpp"
#include "networks.hpp"

#include <pollen/pollen.hpp>

#include <cmath>
#include <memory>

namespace pollen::bench {

namespace {

// A training step by hand.
class Steps {
  public:
    Steps(Sequential<float> net, Optimiser optimiser) : net_(std::move(net)), optimiser_(std::move(optimiser)) {
        initialise(net_, 1);
        theta_ = parameters_.flatten();
        for (int k = 0; k < optimiser_.memories(); ++k) memory_.push_back(Tensor<float>::zeros(theta_.shape()));
    }

    void operator()(const Dataset<float>& batch) {
        tape_.clear();
        pass_.restart({.mode = Mode::train, .step = static_cast<std::uint64_t>(step_)}, theta_.values());
        const Var<float> log_prob = likelihood_.log_prob(pass_, net_(pass_, tape_.borrow(batch.inputs)), batch);
        Var<float> loss = log_prob * (-1.0 / static_cast<double>(batch.size()));
        for (const Var<float>& log_q_log_p : pass_.complexities()) loss = loss + sum(log_q_log_p * kl_factors_);
        update_(loss, {.rate = optimiser_.rate(step_), .step = step_});
        ++step_;
    }

  private:
    Sequential<float> net_;
    Optimiser optimiser_;
    Categorical<float> likelihood_;
    Parameters<float> parameters_{net_};
    Tensor<float> theta_;
    std::vector<Tensor<float>> memory_;
    Tape<float> tape_;
    Pass<float> pass_{tape_, parameters_};
    Update<float> update_{optimiser_, tape_, pass_, theta_, memory_};
    std::int64_t step_ = 0;
    const Tensor<float> kl_factors_{1.0f / 60000,
                                    -1.0f / 60000};  // of Bayesian layers: log q - log p, shared by all items
};

void add_step(const std::string& name, Sequential<float> net, Optimiser optimiser, double goal,
              const Dataset<float>& images = random_images(batch_size)) {
    auto steps = std::make_shared<Steps>(std::move(net), std::move(optimiser));
    auto batch = std::make_shared<Dataset<float>>(images);
    add({.suite = "training",
         .name = name,
         .unit = Unit::milliseconds(),
         .ours = [steps, batch] { (*steps)(*batch); },
         .peer = "PyTorch",
         .goal = goal});
}

// Blundell's prior and a posterior that starts narrow; PyTorch's peer has the same.
Sequential<float> bayes(const Sequential<float>& net) {
    return bayesian(net, {.prior = ScaleMixturePrior{0.25, 1, std::exp(-6.0)}, .posterior = mean_field<float>(0.0067)});
}

// The same step beside the one written by hand.
void add_floor(std::int64_t hidden, double goal) {
    auto steps = std::make_shared<Steps>(bayes(mlp(hidden)), Sgd{.rate = 0.01});
    auto floor = std::make_shared<FloorBbb>(hidden);
    auto batch = std::make_shared<Dataset<float>>(random_images(batch_size));
    add({.suite = "training",
         .name = "bbb_mlp_" + std::to_string(hidden) + "_floor",
         .unit = Unit::milliseconds(),
         .ours = [steps, batch] { (*steps)(*batch); },
         .peer = "a step written by hand",
         .peer_work = [floor] { floor->step(); },
         .goal = goal});
}

// 1,000 images, ten draws of the weights, the probabilities averaged.
void add_prediction() {
    auto net = std::make_shared<Sequential<float>>(bayes(mlp(1200)));
    initialise(*net, 1);
    auto images = std::make_shared<Tensor<float>>(random_images(1000).inputs);
    add({.suite = "training",
         .name = "predict_mlp_1200",
         .unit = Unit::milliseconds(),
         .ours = [net, images] { predict_samples<float>(*net, *images, {.samples = 10}); },
         .peer = "PyTorch",
         .goal = 2.3});
}

// A tenth of an epoch of as many digits as MNIST has: through the pipeline, and on one batch that is always there.
void add_pipeline() {
    struct Setting {
        Dataset<float> data = random_images(60000);
        Batches<float> batches{data, {.size = batch_size}};
        Dataset<float> resident = batches.at(0);
        Steps through{mlp(1200), Sgd{.rate = 0.01}}, on_one{mlp(1200), Sgd{.rate = 0.01}};
        std::int64_t step = 0;
    };
    auto setting = std::make_shared<std::unique_ptr<Setting>>();
    constexpr std::int64_t steps = 47;
    const auto ready = [setting] {
        if (!*setting) *setting = std::make_unique<Setting>();
        return setting->get();
    };
    add({.suite = "training",
         .name = "mnist_pipeline",
         .unit = Unit::milliseconds(),
         .ours =
             [ready] {
                 Setting& s = *ready();
                 for (std::int64_t k = 0; k < steps; ++k) s.through(s.batches.at(s.step++));
             },
         .peer = "one resident batch",
         .peer_work =
             [ready] {
                 Setting& s = *ready();
                 for (std::int64_t k = 0; k < steps; ++k) s.on_one(s.resident);
             },
         .goal = 0.95});
}

const Register rows([] {
    add_step("sgd_mlp_1200", mlp(1200), Sgd{.rate = 0.01}, 2);
    add_step("adam_mlp_1200", mlp(1200), Adam{.rate = 0.001}, 2);
    add_step("sgd_lenet", lenet(), Sgd{.rate = 0.01}, 1.8);
    const Dataset<float> colour_images = random_images(64, 3, 32);
    add_step("sgd_vgg", vgg(), Sgd{.rate = 1e-4}, 2, colour_images);
    add_step("sgd_resnet20", resnet20(), Sgd{.rate = 1e-4}, 1.5, colour_images);
    add_step("sgd_mobile", mobile(), Sgd{.rate = 1e-4}, 1.5, colour_images);
    add_pipeline();
    add_step("bbb_mlp_1200", bayes(mlp(1200)), Sgd{.rate = 0.01}, 6);
    add_step("bbb_mlp_400", bayes(mlp(400)), Sgd{.rate = 0.01}, 6);
    add_floor(1200, 1);
    add_floor(400, 0.9);
    add_step("bbb_lenet", bayes(lenet()), Sgd{.rate = 0.01}, 2.2);
    add_prediction();
});

}  // namespace

}  // namespace pollen::bench
