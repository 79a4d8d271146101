#pragma once

#include "mushrooms.hpp"

#include <pollen/data/sets/dataset.hpp>
#include <pollen/nn/layers/activations.hpp>
#include <pollen/nn/likelihoods/gaussian.hpp>
#include <pollen/nn/training/optimisers.hpp>
#include <pollen/nn/training/update.hpp>
#include <pollen/nn/variational/bayes.hpp>

// Sizes of the paper: what an agent learns from, and the batches of a step.
constexpr std::int64_t buffer_size = 4096, batch_size = 64;

// How an agent predicts rewards, learns and explores.
struct Mind {
    std::string name;
    pollen::Sequential<float> net;
    double rate;           // of Adam
    double epsilon = 0;    // how often the choice is left to chance
    int draws = 1;         // of the weights, whose predictions are averaged before a choice
    double noise_sd = 10;  // of a reward, in points; without random weights it changes nothing
    bool flipped = false;  // the broken twin: learns rewards with the wrong sign
};

// A network that predicts the reward of eating and of leaving a mushroom, learns from the last 4,096 it was offered,
// and takes what promises more: in the eyes of draws of its weights if it is Bayesian, which is Thompson sampling.
class Agent {
  public:
    Agent(const Mind& mind, const Mushrooms& mushrooms, std::int64_t updates, std::uint64_t seed);

    bool eats(std::size_t mushroom);
    // Keeps what happened, then makes its steps of learning.
    void learn(std::size_t mushroom, bool eaten, double reward);

    // All that its future depends on, as tensors for a file, and back: theta, what Adam remembers, and the buffer.
    std::vector<pollen::Tensor<float>> state() const;
    void restore(const std::vector<pollen::Tensor<float>>& state, std::int64_t seen);

  private:
    void write(float* row, std::size_t mushroom, bool eat) const;
    void keep(std::int64_t row, std::size_t mushroom, bool eaten, float reward);
    void update(pollen::Random& random);

    const Mind& mind_;
    const Mushrooms& mushrooms_;
    pollen::Sequential<float> net_;
    std::int64_t width_, updates_, seen_ = 0, step_ = 0;
    std::uint64_t seed_;
    pollen::Tensor<float> happened_ = pollen::Tensor<float>::zeros({buffer_size, 3});  // mushroom, eaten, reward
    pollen::Dataset<float> buffer_;                                                    // the same for the network
    std::vector<std::int64_t> chosen_ = std::vector<std::int64_t>(batch_size);

    pollen::Gaussian<float> likelihood_;
    pollen::Optimiser optimiser_ = pollen::Adam{};
    pollen::Parameters<float> parameters_{net_};
    pollen::Tensor<float> theta_;
    std::vector<pollen::Tensor<float>> memory_;
    pollen::Tape<float> tape_, prediction_tape_{pollen::Recording::off};
    pollen::Pass<float> pass_{tape_, parameters_};
    pollen::Update<float> update_{optimiser_, tape_, pass_, theta_, memory_};
};
