#pragma once

#include <pollen/autograd/streams.hpp>
#include <pollen/nn/module/parameter.hpp>

#include <functional>
#include <optional>
#include <unordered_map>
#include <vector>

namespace pollen {

// What a network is evaluated for. Random layers (dropout) and random weights (Bayesian layers) are at work in training
// and in `sample`, which is prediction with one draw of the network's randomness; `predict` uses means.
enum class Mode { train, predict, sample };

struct PassOptions {
    Mode mode = Mode::predict;
    std::uint64_t seed = 0;  // of the random layers
    std::uint64_t step = 0;  // another step, other random numbers
    // The same for random weights, where inputs are evaluated piece by piece under one draw of the weights.
    std::optional<std::uint64_t> weight_step = {};
    // Where the inputs are rows first_row, ..., first_row + rows - 1 of more inputs, which are evaluated piece by piece
    // under one step: then each row has the same random numbers, however the inputs are cut. 0 rows: all of them.
    std::int64_t first_row = 0, rows = 0;
    bool complexity_value = false;  // whether the value of complexity(), not only its gradient, is wanted
};

// The random numbers of a layer: numbers first, first + 1, ... of the key.
struct LayerNoise {
    RandomKey key;
    std::uint64_t first = 0;
};

// One evaluation of a network: the tape it goes on, the parameters as leaves of that tape, and the random numbers it
// may use. The network itself is not changed by it, so any number of passes may run side by side, each with its own
// tape and, if it likes, its own theta.
template <Real T>
class Pass {
  public:
    // A pass that is to be started.
    Pass(Tape<T>& tape, const Parameters<T>& parameters) : tape_(&tape), parameters_(&parameters) {}
    Pass(Tape<T>& tape, const Parameters<T>& parameters, PassOptions options, std::span<const T> theta = {})
        : Pass(tape, parameters) {
        restart(options, theta);
    }

    // Puts the parameters on the tape, which is empty or was cleared since the last time. Their values are those of the
    // modules, or the stretches of theta (parameters.size() numbers), where it is not null. Nothing is copied: both
    // must stay as they are until the tape is cleared.
    void restart(PassOptions options = {}, std::span<const T> theta = {});

    // A parameter's value: its leaf, or what set() gave it.
    Var<T> operator()(const Parameter<T>& parameter) const;
    // Gives a value to a parameter that has no leaf: how a module is evaluated at weights that are computed. It stays
    // until the next set() or restart().
    void set(const Parameter<T>& parameter, Var<T> value) { computed_[&parameter] = value; }

    // A running statistic (Parameter::statistic) as the last call of set_statistic() left it, or its value in theta. A
    // layer sets the next one in training; a step of Update writes it to theta.
    Tensor<T> statistic(const Parameter<T>& parameter) const;
    void set_statistic(const Parameter<T>& parameter, Tensor<T> next);
    struct Statistic {
        const Parameter<T>* parameter;
        Tensor<T> next;
    };
    const std::vector<Statistic>& statistics() const { return statistics_; }

    // The parameters in the order of Parameters::entries(): after backward() their gradients are here.
    const std::vector<Var<T>>& leaves() const { return leaves_; }

    Tape<T>& tape() const { return *tape_; }
    const Parameters<T>& parameters() const { return *parameters_; }
    Mode mode() const { return options_.mode; }
    bool random() const { return options_.mode != Mode::predict; }

    // The random numbers of the next random layer, which needs `numbers` of them, the same number for each row of its
    // input: each call gets a stream of its own.
    LayerNoise noise(std::int64_t numbers);

    // The random numbers of the next random weight tensor.
    RandomKey weight_noise() {
        const Purpose purpose = mode() == Mode::train ? Purpose::weights : Purpose::predicted_weights;
        return {options_.seed, stream_of(purpose, random_weights_++), options_.weight_step.value_or(options_.step)};
    }

    // What a layer drew in this sample of the network: a layer that is used twice has one set of weights, and pays for
    // it once. Null where it has drawn nothing yet.
    const std::vector<Var<T>>* drawn_by(const void* layer) const {
        const auto at = drawn_.find(layer);
        return at == drawn_.end() ? nullptr : &at->second;
    }
    void keep_drawn(const void* layer, std::vector<Var<T>> values) { drawn_[layer] = std::move(values); }
    // From here on layers draw again.
    void next_sample() { drawn_.clear(); }

    // What random weights cost: Bayesian layers add the sums of log q(w) and log p(w) over their weights, as a vector
    // of two. The values are NaN unless complexity_value was asked for; the gradients are always right.
    void add_complexity(Var<T> log_q_log_p) { complexities_.push_back(log_q_log_p); }
    const std::vector<Var<T>>& complexities() const { return complexities_; }
    bool complexity_value() const { return options_.complexity_value; }

    // Called with every module and its output, parts before wholes, if set.
    std::function<void(const Module<T>&, const Var<T>& output)> observer;

  private:
    Tape<T>* tape_;
    const Parameters<T>* parameters_;
    PassOptions options_;
    std::vector<Var<T>> leaves_;
    std::unordered_map<const Parameter<T>*, Var<T>> computed_;
    std::unordered_map<const void*, std::vector<Var<T>>> drawn_;
    std::vector<Var<T>> complexities_;
    std::vector<Statistic> statistics_;
    std::uint32_t random_layers_ = 0, random_weights_ = 0;
};

}  // namespace pollen
