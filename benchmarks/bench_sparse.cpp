// Prediction with a network of which 95 % of the weights are pruned: sparse layers against the same zeros in dense
// ones, 784-1200-1200-10, float.
#include "bench.hpp"

#include <pollen/nn/layers.hpp>
#include <pollen/nn/pruning/compress.hpp>

#include <memory>

namespace pollen::bench {

namespace {

Sequential<float> pruned() {
    Sequential net{Dense(784, 1200), Relu(), Dense(1200, 1200), Relu(), Dense(1200, 10)};
    initialise(net, 1);
    Random random(2);
    for (const std::size_t k : {0, 2, 4}) {
        Tensor<float>& weight = dynamic_cast<Dense<float>&>(net[k]).weight.value;
        for (float& w : weight.mutable_values()) w = random.uniform<float>() < 0.05f ? w : 0.f;
    }
    return net;
}

// A program that predicts again and again keeps its tape, and with it the memory.
class Prediction {
  public:
    explicit Prediction(Part<float> net) : net_(std::move(net)) {}

    void operator()(const Tensor<float>& x) {
        tape_.clear();
        pass_.restart();
        keep((*net_)(pass_, tape_.borrow(x)).value().data());
    }

  private:
    Part<float> net_;
    Parameters<float> parameters_{*net_};
    Tape<float> tape_{Recording::off};
    Pass<float> pass_{tape_, parameters_};
};

void add_prediction(const std::string& name, std::int64_t images, double goal) {
    struct Setting {
        Prediction dense{pruned().clone()}, sparse{compress<float>(pruned())};
        Tensor<float> x;
    };
    auto setting = std::make_shared<Setting>();
    setting->x = Tensor<float>::empty({images, 784});
    Random(3).fill_uniform(setting->x.mutable_values());
    add({.suite = "sparse",
         .name = name,
         .unit = images == 1 ? Unit::microseconds() : Unit::milliseconds(),
         .ours = [setting] { setting->sparse(setting->x); },
         .peer = "our dense layers",
         .peer_work = [setting] { setting->dense(setting->x); },
         .goal = goal});
}

const Register rows([] {
    add_prediction("sparse_95_one", 1, 4);
    add_prediction("sparse_95_1000", 1000, 1);
});

}  // namespace

}  // namespace pollen::bench
