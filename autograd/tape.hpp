#pragma once

#include <pollen/autograd/closure.hpp>
#include <pollen/autograd/gradient_sink.hpp>
#include <pollen/autograd/support/error.hpp>
#include <pollen/autograd/tensor.hpp>

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

// Reverse-mode differentiation on a linear tape.
//
// Every op appends one node: its value, the nodes it was computed from, and a closure that knows how to pass a gradient
// on to them. The order in which nodes were made is already a topological order, so backward() is one loop from the end
// to the beginning. README.md in this folder works an example by hand.
namespace pollen {

template <Real T>
class Tape;
template <Real T>
class Backward;
template <Real T>
class TapeState;

// Where an op adds the gradient of one of its inputs.
template <Real T>
struct GradientSlot {
    T* data = nullptr;   // null: this input needs no gradient
    bool fresh = false;  // true: nothing is there yet, so write every element; false: add to what is there
    explicit operator bool() const { return data != nullptr; }
};

// A handle to a node of a tape: small, cheap to copy, and checked. Using one after its node is gone throws TapeError.
template <Real T>
class Var {
  public:
    Var() = default;

    const Tensor<T>& value() const { return state().node(index_).value; }
    const Shape& shape() const { return value().shape(); }
    std::int64_t size() const { return value().size(); }
    int rank() const { return value().rank(); }
    T item() const { return value().item(); }
    bool needs_grad() const { return state().node(index_).needs_grad; }

    // dL/dx as left by the last backward(): zeros where nothing reached x. Only variables keep theirs, and what
    // Tape::keep_grad was called for.
    Tensor<T> grad() const { return state().grad(index_); }

    // The same numbers as a constant: gradients stop here.
    Var detach() const;

    std::uint32_t index() const { return index_; }

    // The tape behind the handle, after checking that the handle is still good.
    TapeState<T>& state() const {
        if (!state_ || !state_->holds(index_, generation_)) fail();
        return *state_;
    }

  private:
    friend class TapeState<T>;
    Var(TapeState<T>* state, std::uint32_t index, std::uint32_t generation)
        : state_(state), index_(index), generation_(generation) {}
    [[noreturn]] void fail() const;

    TapeState<T>* state_ = nullptr;
    std::uint32_t index_ = 0;
    std::uint32_t generation_ = 0;
};

// What a backward closure sees of its node.
template <Real T>
class Backward {
  public:
    Backward(TapeState<T>& state, std::uint32_t index) : state_(state), index_(index) {}

    const Tensor<T>& value() const;       // the op's output
    const T* grad() const;                // dL/d(output), as many numbers as the output has
    const Tensor<T>& input(int k) const;  // the op's k-th input
    int input_count() const;
    bool wants(int k) const;  // whether input k needs a gradient

    // dL/d(second result), for an op with two (see TapeState::record_second); null if nothing reached it.
    const T* second_grad() const;

    // dL/d(input k), to be written or added to as GradientSlot says.
    GradientSlot<T> slot(int k);

    // Whether dL/d(input k) can be given away in pieces: input k is a variable with a sink, and this op is its only
    // use.
    bool has_sink(int k) const;
    // Where the pieces go, instead of to slot(k). The tape has no value for the input from here on: keep a pointer to
    // it, and read each piece before its gradient is taken.
    SinkSlot<T> sink(int k);

    // The same, simpler: zeros where nothing was there yet, so that `+=` is always right. Null if not wanted.
    T* accumulate(int k);

    // dL/d(input k) += dL/d(output), for an input of the output's size. The last thing a closure does: the gradient
    // buffer itself is handed over where that is possible.
    void pass_grad(int k);

    // A tensor for intermediate results, from the tape's pool.
    Tensor<T> scratch(const Shape& shape);
    Pool& pool() { return state_.pool(); }

  private:
    std::uint32_t input_index(int k) const;

    TapeState<T>& state_;
    std::uint32_t index_;
};

// The nodes and memory behind a Tape. States are recycled and never freed, so a handle that outlives its tape can still
// be told so.
template <Real T>
class TapeState {
  public:
    struct Node {
        Tensor<T> value;
        Buffer* grad = nullptr;  // made when first needed
        T* bound = nullptr;      // where the gradient is added instead, see bind_grad
        SinkSlot<T> sink;        // ... or taken in pieces, if an op can give them
        const char* name = "";
        std::uint32_t first_input = 0;
        std::uint32_t input_count = 0;
        std::uint32_t generation = 0;
        bool needs_grad = false;
        bool keep_grad = false;
        bool second = false;  // the second result of the op before
        Closure<Backward<T>> backward;
    };

    Node& node(std::uint32_t index) { return chunks_[index / chunk_size][index % chunk_size]; }
    bool holds(std::uint32_t index, std::uint32_t generation) {
        return index < size_ && node(index).generation == generation;
    }
    std::uint32_t size() const { return size_; }
    bool recording() const { return recording_; }
    Pool& pool() { return pool_; }
    std::span<const std::uint32_t> inputs(const Node& node) const {
        return std::span(inputs_).subspan(node.first_input, node.input_count);
    }

    // How many ops have this node as an input and pass a gradient back.
    std::int64_t uses(std::uint32_t index) const;

    // An uninitialised tensor from the tape's pool, for an op's output.
    Tensor<T> empty(const Shape& shape) {
        return Tensor<T>::adopt(pool_.take_here(static_cast<std::size_t>(shape.size()) * sizeof(T)), shape);
    }

    // Gives a tensor's buffer back to the pool without an atomic operation where the tape is its only owner.
    void recycle(Tensor<T>&& tensor) { give_back(tensor.take_buffer()); }

    Var<T> leaf(const char* name, Tensor<T>&& value, bool needs_grad);

    // Appends the node of an op. The closure is dropped where no input needs a gradient.
    template <class F>
    Var<T> record(const char* name, std::span<const Var<T>> inputs, Tensor<T>&& value, F&& backward) {
        bool needs_grad = false;
        for (const Var<T>& input : inputs) needs_grad |= check_input(name, input).needs_grad;
        Node& node = append(name, std::move(value));
        if (needs_grad) {
            node.needs_grad = true;
            node.first_input = static_cast<std::uint32_t>(inputs_.size());
            node.input_count = static_cast<std::uint32_t>(inputs.size());
            for (const Var<T>& input : inputs) inputs_.push_back(input.index());
            node.backward.emplace(std::forward<F>(backward));
        }
        return Var<T>(this, size_ - 1, generation_);
    }

    // A second result of the op recorded last, whose closure takes the gradients of both.
    Var<T> record_second(const char* name, const Var<T>& first, Tensor<T>&& value);

    GradientSlot<T> slot(std::uint32_t index) {
        Node& n = node(index);
        if (!n.needs_grad) return {};
        if (n.bound) return {n.bound, false};
        const bool fresh = n.grad == nullptr;
        if (fresh)
            n.grad = pool_.take_here(static_cast<std::size_t>(n.value.size()) * sizeof(T));
        else if (!n.grad->unique())
            unshare_grad(n);
        return {static_cast<T*>(n.grad->data()), fresh};
    }

    Tensor<T> grad(std::uint32_t index);
    void keep_grad(std::uint32_t index);
    // The gradient of a variable is added to the numbers at `to`, which have to be there until the tape is cleared.
    // grad() does not know it then.
    void bind_grad(const Var<T>& variable, T* to) { node(variable.index()).bound = to; }
    // The gradient of a variable is taken by a sink, under this number, if its only use is an op that gives it in
    // pieces. Otherwise grad() has it as usual.
    void bind_grad(const Var<T>& variable, GradientSink<T>& to, std::size_t number) {
        node(variable.index()).sink = {&to, number};
    }
    void unbind_grad(const Var<T>& variable) {
        node(variable.index()).bound = nullptr;
        node(variable.index()).sink = {};
    }
    void seed(const Var<T>& output, const Tensor<T>& seed);
    void run_backward(std::uint32_t last);
    void zero_grad();
    void rewind(std::uint32_t size);
    void close();
    std::string print();
    std::string dot();

    static TapeState* open(bool recording);

    Var<T> var(std::uint32_t index) { return Var<T>(this, index, node(index).generation); }

  private:
    TapeState() = default;
    Node& append(const char* name, Tensor<T>&& value) {
        if (size_ == chunks_.size() * chunk_size) grow();
        Node& n = node(size_++);
        n.name = name;
        n.value = std::move(value);
        n.generation = generation_;
        return n;
    }
    Node& check_input(const char* name, const Var<T>& input) {
        if (input.state_ != this || !holds(input.index_, input.generation_)) fail_input(name, input);
        return node(input.index_);
    }
    [[noreturn]] void fail_input(const char* name, const Var<T>& input);
    void grow();
    void give_back(Buffer* buffer) {
        if (!buffer) return;
        if (buffer->pool == &pool_ && buffer->unique())
            pool_.give_back_here(buffer);
        else
            release(buffer);
    }
    void unshare_grad(Node& node);
    void release_grad(Node& node) {
        if (node.grad) give_back(std::exchange(node.grad, nullptr));
    }
    friend class Backward<T>;

    static constexpr std::uint32_t chunk_size = 256;  // nodes stay where they are when the tape grows

    std::vector<std::unique_ptr<Node[]>> chunks_;
    std::vector<std::uint32_t> inputs_;
    std::uint32_t size_ = 0;
    std::uint32_t generation_ = 1;
    bool recording_ = true;
    Pool pool_{Pool::Sharing::one_thread};
};

enum class Recording { on, off };

// A tape. One thread at a time may use it; parallel chains have one each.
template <Real T>
class Tape {
  public:
    // With Recording::off nothing needs a gradient: the tape only computes, for prediction.
    explicit Tape(Recording recording = Recording::on) : state_(TapeState<T>::open(recording == Recording::on)) {}
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
    void backward(const Var<T>& output);
    void backward(const Var<T>& output, const Tensor<T>& seed);
    // The same for several outputs at once: L = sum over all of them of <seed, output>.
    struct Output {
        Var<T> output;
        Tensor<T> seed;
    };
    void backward(std::span<const Output> outputs);
    void backward(std::initializer_list<Output> outputs) { backward(std::span(outputs.begin(), outputs.size())); }

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

// How an op puts its result on the tape of its inputs: a name, the inputs, the value, and the closure that passes the
// gradient on. This is all that an op outside the library needs; see examples/custom_op.cpp.
template <Real T, class F>
Var<T> record(const char* name, std::initializer_list<Var<T>> inputs, Tensor<T>&& value, F&& backward) {
    return inputs.begin()->state().record(name, std::span(inputs.begin(), inputs.size()), std::move(value),
                                          std::forward<F>(backward));
}

template <Real T>
inline const Tensor<T>& Backward<T>::value() const {
    return state_.node(index_).value;
}
template <Real T>
inline const T* Backward<T>::grad() const {
    return static_cast<const T*>(state_.node(index_).grad->data());
}
template <Real T>
inline std::uint32_t Backward<T>::input_index(int k) const {
    return state_.inputs_[state_.node(index_).first_input + static_cast<std::uint32_t>(k)];
}
template <Real T>
inline const Tensor<T>& Backward<T>::input(int k) const {
    return state_.node(input_index(k)).value;
}
template <Real T>
inline int Backward<T>::input_count() const {
    return static_cast<int>(state_.node(index_).input_count);
}
template <Real T>
inline bool Backward<T>::wants(int k) const {
    return state_.node(input_index(k)).needs_grad;
}
template <Real T>
inline GradientSlot<T> Backward<T>::slot(int k) {
    return state_.slot(input_index(k));
}
template <Real T>
inline const T* Backward<T>::second_grad() const {
    const auto& second = state_.node(index_ + 1);
    return second.grad ? static_cast<const T*>(second.grad->data()) : nullptr;
}
template <Real T>
inline Tensor<T> Backward<T>::scratch(const Shape& shape) {
    return state_.empty(shape);
}

extern template class Tape<float>;
extern template class Tape<double>;
extern template class TapeState<float>;
extern template class TapeState<double>;
extern template class Backward<float>;
extern template class Backward<double>;
extern template class Var<float>;
extern template class Var<double>;

}  // namespace pollen
