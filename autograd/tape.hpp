#pragma once

#include <pollen/autograd/tape_state.hpp>

#include <initializer_list>
#include <span>
#include <string>
#include <utility>

// Reverse-mode differentiation on a linear tape.
//
// Every op appends one node: its value, the nodes it was computed from, and a closure that knows how to pass a gradient
// on to them. The order in which nodes were made is already a topological order, so backward() is one loop from the end
// to the beginning. README.md in this folder works an example by hand.
namespace pollen {

// A tape. One thread at a time may use it; parallel chains have one each.
template <Real T>
class Tape {
  public:
    explicit Tape(Recording recording = Recording::on) : state_(TapeState<T>::open(recording)) {}
    Tape(Tape&& other) noexcept : state_(std::exchange(other.state_, nullptr)) {}
    Tape& operator=(Tape&& other) noexcept {
        std::swap(state_, other.state_);
        return *this;
    }
    ~Tape() {
        if (state_) state_->close();
    }

    // A leaf to differentiate with respect to.
    Var<T> variable(Tensor<T> value) { return state_->leaf("variable", std::move(value), true); }
    // A leaf that needs no gradient.
    Var<T> constant(Tensor<T> value) { return state_->leaf("constant", std::move(value), false); }
    Var<T> constant(T value) { return constant(Tensor<T>::scalar(value)); }

    // The same as constant(), but a tensor over somebody else's memory (Tensor::borrow) is not copied: that memory has
    // to live until the node is gone.
    Var<T> borrow(const Tensor<T>& value) {
        return state_->leaf("constant", value.owns() ? Tensor<T>(value) : point_at(value), false);
    }
    Var<T> borrow(Tensor<T>&&) = delete;
    // A variable that only points at the tensor, which has to live until the node is gone and can be written to in
    // place, without a copy: for weights.
    Var<T> borrow_variable(const Tensor<T>& value) { return state_->leaf("variable", point_at(value), true); }
    Var<T> borrow_variable(Tensor<T>&&) = delete;

    // Adds d output / d x to the gradient of every variable x. The output must be one number, or come with the seed
    // dL/d(output), a tensor of its shape.
    void backward(const Var<T>& output) { backward(output, T(1)); }
    void backward(const Var<T>& output, T seed);
    void backward(const Var<T>& output, const Tensor<T>& seed);
    // The same for several outputs at once: L = sum over all of them of <seed, output>.
    struct Output {
        Var<T> output;
        Tensor<T> seed;
    };
    void backward(std::span<const Output> outputs);
    void backward(std::initializer_list<Output> outputs) { backward(std::span(outputs.begin(), outputs.size())); }

    // The gradient of a variable is added to the numbers in `to` instead of being kept for Var::grad(). They have to be
    // there until the tape is cleared. Throws if x is no variable or has another number of elements.
    void accumulate_into(const Var<T>& x, std::span<T> to);
    // The gradient of a variable goes to a sink in pieces, under this number, if its only use is an op that gives it in
    // pieces. Otherwise Var::grad() has it as usual.
    void accumulate_into(const Var<T>& x, GradientSink<T>& to, std::size_t number);
    // The gradient is kept for Var::grad() again.
    void accumulate_here(const Var<T>& x);

    // Computes the values of all ops again, in place and in the order in which they were recorded, from what is now in
    // the variables: the owner of a tensor that was given to borrow_variable() has written new numbers into it. Values,
    // and after backward() gradients, have the bits of a tape that is recorded anew. Constants stay, and what depends
    // on no variable is not computed again. Random ops keep the numbers that they drew.
    //
    // Throws TapeError if the tape is not one for Recording::replay, or if an op has no forward; an error that an op
    // throws at the new numbers goes through, and some values are new and others old then.
    void replay();

    // Gradients add up over calls of backward() until this is called.
    void zero_grad() { state_->zero_grad(); }

    // Keeps the gradient of an intermediate result, which backward() otherwise releases as soon as it is used up.
    void keep_grad(const Var<T>& x);

    // rewind(mark) forgets the nodes made since; clear() forgets all. Buffers go back to the tape's pool.
    struct Mark {
        std::uint32_t size = 0;
        std::uint32_t generation = 0;
    };
    Mark mark() const;
    void rewind(Mark mark);
    void clear() { state_->rewind(0); }

    std::size_t size() const { return state_->size(); }
    PoolCounters pool() const { return state_->pool().counters(); }
    TapeState<T>& state() { return *state_; }

    // For teaching: one line a node, and a drawing for Graphviz (`dot -Tsvg`).
    std::string to_string() const { return state_->print(); }
    std::string to_dot() const { return state_->dot(); }

  private:
    static Tensor<T> point_at(const Tensor<T>& value) { return Tensor<T>::borrow(value.data(), value.shape()); }
    void check(const char* what, const Var<T>& x) const;

    TapeState<T>* state_;
};

// How an op puts its result on the tape of its inputs: a name, the inputs, the shape of the value, the forward that
// writes the value and the backward that passes the gradient on. This is all that an op outside the library needs; see
// examples/custom_op.cpp.
template <Real T, class F, class B>
Var<T> record(const char* name, std::initializer_list<Var<T>> inputs, const Shape& shape, F&& forward, B&& backward) {
    return inputs.begin()->state().record(name, std::span(inputs.begin(), inputs.size()), shape,
                                          std::forward<F>(forward), std::forward<B>(backward));
}

// The same for an op that has computed its value; the forward does it again in a replay.
template <Real T, class F, class B>
Var<T> record(const char* name, std::initializer_list<Var<T>> inputs, Tensor<T>&& value, F&& forward, B&& backward) {
    return inputs.begin()->state().record(name, std::span(inputs.begin(), inputs.size()), std::move(value),
                                          std::forward<F>(forward), std::forward<B>(backward));
}

// The same for an op without a forward: its value is given, and a tape with this node cannot be replayed.
template <Real T, class B>
Var<T> record(const char* name, std::initializer_list<Var<T>> inputs, Tensor<T>&& value, B&& backward) {
    return inputs.begin()->state().record(name, std::span(inputs.begin(), inputs.size()), std::move(value),
                                          std::forward<B>(backward));
}

extern template class Tape<float>;
extern template class Tape<double>;

}  // namespace pollen
