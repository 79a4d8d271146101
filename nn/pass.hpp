#pragma once

#include <pollen/autograd/streams.hpp>
#include <pollen/nn/parameter.hpp>

#include <functional>
#include <vector>

namespace pollen {

// What a network is evaluated for. Random layers (dropout) are at work in training and in `sample`, which is prediction
// with one draw of the network's randomness.
enum class Mode { train, predict, sample };

struct PassOptions {
    Mode mode = Mode::predict;
    std::uint64_t seed = 0;  // of the random layers
    std::uint64_t step = 0;  // another step, other random numbers
};

// One evaluation of a network: the tape it goes on, the parameters as leaves of that tape, and the random numbers it
// may use. The network itself is not changed by it, so any number of passes may run side by side, each with its own
// tape and, if it likes, its own theta.
template <Real T>
class Pass {
  public:
    // A pass that is to be started.
    Pass(Tape<T>& tape, const Parameters<T>& parameters) : tape_(&tape), parameters_(&parameters) {}
    Pass(Tape<T>& tape, const Parameters<T>& parameters, PassOptions options, const T* theta = nullptr)
        : Pass(tape, parameters) {
        restart(options, theta);
    }

    // Puts the parameters on the tape, which is empty or was cleared since the last time. Their values are those of the
    // modules, or the stretches of theta (parameters.size() numbers), where it is not null. Nothing is copied: both
    // must stay as they are until the tape is cleared.
    void restart(PassOptions options = {}, const T* theta = nullptr);

    Var<T> operator()(const Parameter<T>& parameter) const {
        const std::size_t k = parameters_->index(parameter);
        if (k >= leaves_.size()) throw TapeError("a pass is used before restart() put the parameters on its tape");
        return leaves_[k];
    }

    // The parameters in the order of Parameters::entries(): after backward() their gradients are here.
    const std::vector<Var<T>>& leaves() const { return leaves_; }

    Tape<T>& tape() const { return *tape_; }
    Mode mode() const { return options_.mode; }
    bool random() const { return options_.mode != Mode::predict; }

    // The random numbers of the next random layer: each call gets a stream of its own.
    RandomKey noise() { return {options_.seed, stream_of(Purpose::layers, random_layers_++), options_.step}; }

    // Called with every module and its output, parts before wholes, if set.
    std::function<void(const Module<T>&, const Var<T>& output)> observer;

  private:
    Tape<T>* tape_;
    const Parameters<T>* parameters_;
    PassOptions options_;
    std::vector<Var<T>> leaves_;
    std::uint32_t random_layers_ = 0;
};

extern template class Pass<float>;
extern template class Pass<double>;

}  // namespace pollen
