#pragma once

#include <pollen/autograd/closure.hpp>
#include <pollen/autograd/gradient_sink.hpp>
#include <pollen/autograd/support/error.hpp>
#include <pollen/autograd/tensor.hpp>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

// What a tape (tape.hpp) is made of: handles, nodes, and what the two functions of an op see of its node.
namespace pollen {

template <Real T>
class Forward;
template <Real T>
class Backward;
template <Real T>
class TapeState;

// What a tape keeps of the ops that are recorded on it.
enum class Recording {
    on,     // what backward() needs
    off,    // nothing: no Var needs a gradient, the tape only computes, for prediction
    replay  // what backward() needs, and the forwards of the ops, for Tape::replay()
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
        if (!state_ || !state_->holds(index_, generation_)) fail(*this);
        return *state_;
    }

  private:
    friend class TapeState<T>;
    Var(TapeState<T>* state, std::uint32_t index, std::uint32_t generation)
        : state_(state), index_(index), generation_(generation) {}
    [[noreturn]] static void fail(Var var);  // by value, so that handles stay in registers

    TapeState<T>* state_ = nullptr;
    std::uint32_t index_ = 0;
    std::uint32_t generation_ = 0;
};

// What the forward of an op sees of its node: the inputs, and where the value goes. It is called when the op is
// recorded and again by every Tape::replay(), with the same shapes and other numbers.
template <Real T>
class Forward {
  public:
    // When the op is recorded: the node is not there yet.
    Forward(TapeState<T>& state, T* value, const Shape& shape, std::span<const Var<T>> inputs)
        : state_(state), value_(value), shape_(shape), vars_(inputs.data()), count_(inputs.size()) {}
    // In a replay.
    Forward(TapeState<T>& state, Tensor<T>& value, std::span<const std::uint32_t> inputs)
        : state_(state),
          value_(value.fresh_data()),
          shape_(value.shape()),
          node_value_(&value),
          indices_(inputs.data()),
          count_(inputs.size()) {}

    const Tensor<T>& input(int k) const { return input_var(k).value(); }  // the op's k-th input
    int input_count() const { return static_cast<int>(count_); }
    Var<T> input_var(int k) const {
        const auto at = static_cast<std::size_t>(k);
        return vars_ ? vars_[at] : state_.var(indices_[at]);
    }

    const Shape& shape() const { return shape_; }  // of the value
    T* value() { return value_; }                  // where it goes: every number has to be written

    // In a replay, for an op whose value is input k from `offset` on, in the same memory.
    void share(int k, std::int64_t offset = 0) { *node_value_ = Tensor<T>::borrow(input(k).data() + offset, shape_); }

    // A tensor for intermediate results, from the tape's pool.
    Tensor<T> scratch(const Shape& shape) { return state_.empty(shape); }
    Pool& pool() { return state_.pool(); }
    TapeState<T>& state() { return state_; }

  private:
    TapeState<T>& state_;
    T* value_;
    const Shape& shape_;
    Tensor<T>* node_value_ = nullptr;
    const Var<T>* vars_ = nullptr;
    const std::uint32_t* indices_ = nullptr;
    std::size_t count_;
};

// What a backward closure sees of its node.
template <Real T>
class Backward {
  public:
    Backward(TapeState<T>& state, std::uint32_t index) : state_(state), index_(index) {}

    const Tensor<T>& value() const;       // the op's output
    const T* grad() const;                // dL/d(output), as many numbers as the output has
    T* spare_grad();                      // the same, to be changed; null where it has to stay as it is
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
        T* bound = nullptr;      // where the gradient is added instead, see Tape::accumulate_into
        const char* name = "";
        std::uint32_t first_input = 0;
        std::uint32_t input_count = 0;
        std::uint32_t generation = 0;
        bool needs_grad = false;
        bool keep_grad = false;
        bool second = false;  // the second result of the op before
        bool varies = false;  // replay() may change the value; known on tapes for replay alone
        Closure<Backward<T>> backward;
    };

    Node& node(std::uint32_t index) { return chunks_[index / chunk_size][index % chunk_size]; }
    bool holds(std::uint32_t index, std::uint32_t generation) {
        return index < size_ && node(index).generation == generation;
    }
    std::uint32_t size() const { return size_; }
    bool replays() const { return replays_; }  // whether forwards are kept
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

    // Data for a forward to capture: held if the forward will be kept, else only pointed at.
    template <class X>
    Tensor<X> hold(const Tensor<X>& data) const {
        return replays_ ? data : Tensor<X>::borrow(data.data(), data.shape());
    }

    Var<T> leaf(const char* name, Tensor<T>&& value, bool needs_grad);
    Var<T> detach(const Var<T>& x);

    // Appends the node of an op. The closure is dropped where no input needs a gradient.
    template <class B>
    Var<T> record(const char* name, std::span<const Var<T>> inputs, Tensor<T>&& value, B&& backward) {
        const Var<T> node = append_op(name, inputs, std::move(value), std::forward<B>(backward));
        if (replays_) [[unlikely]]
            add_step(inputs);
        return node;
    }

    // The same with a forward, for replay() to compute the value again.
    template <class F, class B>
    Var<T> record(const char* name, std::span<const Var<T>> inputs, Tensor<T>&& value, F&& forward, B&& backward) {
        const Var<T> node = append_op(name, inputs, std::move(value), std::forward<B>(backward));
        if (replays_) [[unlikely]]
            keep_forward(inputs, std::forward<F>(forward));
        return node;
    }

    // The same for a value of this shape that the forward computes now, too.
    template <class F, class B>
    Var<T> record(const char* name, std::span<const Var<T>> inputs, const Shape& shape, F&& forward, B&& backward) {
        Tensor<T> value = empty(shape);
        Forward<T> node(*this, value.fresh_data(), shape, inputs);
        forward(node);
        return record(name, inputs, std::move(value), std::forward<F>(forward), std::forward<B>(backward));
    }

    // A second result of the op recorded last, whose closure takes the gradients of both; inputs[0] is the first.
    template <class F>
    Var<T> record_second(const char* name, std::span<const Var<T>> inputs, const Shape& shape, F&& forward) {
        Tensor<T> value = empty(shape);
        Forward<T> node(*this, value.fresh_data(), shape, inputs);
        forward(node);
        const Var<T> second = append_second(name, inputs[0], std::move(value));
        if (replays_) keep_forward(inputs, std::forward<F>(forward));
        return second;
    }

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
    void bind_grad(std::uint32_t index, std::span<T> to);
    void bind_grad(std::uint32_t index, SinkSlot<T> to);
    void unbind_grad(std::uint32_t index);
    SinkSlot<T> sink_of(std::uint32_t index) const;  // empty if the node has no sink
    void seed(const Var<T>& output, const Tensor<T>& seed);
    void run_backward(std::uint32_t last);
    void replay();
    void zero_grad();
    void rewind(std::uint32_t size);
    void close();
    std::string print();
    std::string dot();

    static TapeState* open(Recording recording);

    Var<T> var(std::uint32_t index) { return Var<T>(this, index, node(index).generation); }

  private:
    // What replay() has to do for a node; nodes that do not depend on a variable have none.
    struct Step {
        std::uint32_t node;
        std::vector<std::uint32_t> inputs;
        Closure<Forward<T>> forward;
    };

    TapeState() = default;
    Node& append(const char* name, Tensor<T>&& value) {
        if (size_ == chunks_.size() * chunk_size) grow();
        Node& n = node(size_++);
        n.name = name;
        n.value = std::move(value);
        n.generation = generation_;
        return n;
    }
    template <class B>
    Var<T> append_op(const char* name, std::span<const Var<T>> inputs, Tensor<T>&& value, B&& backward) {
        bool needs_grad = false;
        for (const Var<T>& input : inputs) needs_grad |= check_input(name, input).needs_grad;
        Node& node = append(name, std::move(value));
        if (needs_grad) {
            node.needs_grad = true;
            node.first_input = static_cast<std::uint32_t>(inputs_.size());
            node.input_count = static_cast<std::uint32_t>(inputs.size());
            for (const Var<T>& input : inputs) inputs_.push_back(input.index());
            node.backward.emplace(std::forward<B>(backward));
        }
        return Var<T>(this, size_ - 1, generation_);
    }
    template <class F>
    [[gnu::cold, gnu::noinline]] void keep_forward(std::span<const Var<T>> inputs, F&& forward) {
        if (Step* step = add_step(inputs)) step->forward.emplace(std::forward<F>(forward));
    }
    // The step of the last node; null if its value does not depend on a variable.
    Step* add_step(std::span<const Var<T>> inputs);
    Node& check_input(const char* name, const Var<T>& input) {
        if (input.state_ != this || !holds(input.index_, input.generation_)) fail_input(name, input);
        return node(input.index_);
    }
    [[noreturn]] void fail_input(const char* name, Var<T> input);
    Var<T> append_second(const char* name, const Var<T>& first, Tensor<T>&& value);
    void grow();
    // To the pool, without an atomic operation where the tape is the only owner.
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
    bool replays_ = false;
    Pool pool_{Pool::Sharing::one_thread};
    std::vector<std::unique_ptr<Step>> steps_;
    std::vector<std::pair<std::uint32_t, SinkSlot<T>>> sinks_;  // of the variables that have one
};

template <Real T>
inline const Tensor<T>& Backward<T>::value() const {
    return state_.node(index_).value;
}
template <Real T>
inline const T* Backward<T>::grad() const {
    return static_cast<const T*>(state_.node(index_).grad->data());
}
template <Real T>
inline T* Backward<T>::spare_grad() {
    const auto& node = state_.node(index_);
    return node.keep_grad || !node.grad->unique() ? nullptr : static_cast<T*>(node.grad->data());
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

extern template class TapeState<float>;
extern template class TapeState<double>;
extern template class Backward<float>;
extern template class Backward<double>;
extern template class Var<float>;
extern template class Var<double>;

}  // namespace pollen
