#include <pollen/autograd/tape.hpp>

#include <algorithm>
#include <cstring>
#include <limits>
#include <mutex>

namespace pollen {

namespace {

// Closed states wait here for the next tape.
template <class State>
struct Recycled {
    std::mutex mutex;
    std::vector<State*> states;
    static Recycled& instance() {
        static Recycled* recycled = new Recycled;  // never destroyed: handles may be checked until the very end
        return *recycled;
    }
};

template <Real T>
void add(T* to, const T* from, std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) to[i] += from[i];
}

template <Real T>
std::string describe(TapeState<T>& state, std::uint32_t index) {
    return "node " + std::to_string(index) + " (" + state.node(index).name + ", shape " +
           to_string(state.node(index).value.shape()) + ")";
}

}  // namespace

template <Real T>
Var<T> Var<T>::detach() const {
    return state().detach(*this);
}

template <Real T>
void Var<T>::fail(Var var) {
    if (!var.state_) throw TapeError("this Var was never given a value; make one with Tape::variable or by an op");
    throw TapeError("this Var refers to node " + std::to_string(var.index_) +
                    " of a tape that was cleared, rewound or destroyed since; make it again");
}

template <Real T>
TapeState<T>* TapeState<T>::open(Recording recording) {
    auto& recycled = Recycled<TapeState>::instance();
    TapeState* state = nullptr;
    {
        std::lock_guard<std::mutex> lock(recycled.mutex);
        if (!recycled.states.empty()) {
            state = recycled.states.back();
            recycled.states.pop_back();
        }
    }
    if (!state) state = new TapeState;
    state->pool_.open();
    state->recording_ = recording != Recording::off;
    state->replays_ = recording == Recording::replay;
    return state;
}

template <Real T>
void TapeState<T>::close() {
    rewind(0);
    chunks_.clear();
    chunks_.shrink_to_fit();
    inputs_ = {};
    pool_.close();
    pool_.trim();
    auto& recycled = Recycled<TapeState>::instance();
    std::lock_guard<std::mutex> lock(recycled.mutex);
    recycled.states.push_back(this);
}

template <Real T>
void TapeState<T>::grow() {
    if (size_ > std::numeric_limits<std::uint32_t>::max() - chunk_size)
        throw TapeError("tape: more than 2^32 nodes; rewind or clear it between steps");
    chunks_.push_back(std::make_unique<Node[]>(chunk_size));
}

template <Real T>
Var<T> TapeState<T>::leaf(const char* name, Tensor<T>&& value, bool needs_grad) {
    Node& node = append(name, std::move(value));
    node.needs_grad = needs_grad && recording_;
    node.keep_grad = node.needs_grad;
    node.varies = node.needs_grad;
    return Var<T>(this, size_ - 1, generation_);
}

template <Real T>
Var<T> TapeState<T>::detach(const Var<T>& x) {
    const Tensor<T>& value = node(x.index()).value;
    const Var<T> y = leaf("detach", Tensor<T>::borrow(value.data(), value.shape()), false);
    if (replays_)
        if (Step* step = add_step(std::span(&x, 1))) step->forward.emplace([](Forward<T>& node) { node.share(0); });
    return y;
}

template <Real T>
typename TapeState<T>::Step* TapeState<T>::add_step(std::span<const Var<T>> inputs) {
    Node& last = node(size_ - 1);
    last.varies = std::any_of(inputs.begin(), inputs.end(), [&](const Var<T>& x) { return node(x.index()).varies; });
    if (!last.varies) return nullptr;
    Step& step = *steps_.emplace_back(std::make_unique<Step>());
    step.node = size_ - 1;
    for (const Var<T>& x : inputs) step.inputs.push_back(x.index());
    return &step;
}

template <Real T>
void TapeState<T>::replay() {
    if (!replays_) throw TapeError("replay: the tape keeps no forwards; make it with Recording::replay");
    for (const auto& step : steps_)
        if (!step->forward)
            throw TapeError("replay: " + describe(*this, step->node) +
                            " has no forward; clear the tape and record it again, or give the op a forward");
    for (const auto& step : steps_) {
        Tensor<T>& value = node(step->node).value;
        if (value.shared()) value = empty(value.shape());  // what was taken from the tape must not change
        Forward<T> context(*this, value, std::span<const std::uint32_t>(step->inputs));
        step->forward(context);
    }
}

template <Real T>
void TapeState<T>::fail_input(const char* name, Var<T> input) {
    input.state();  // throws if the handle itself is no good
    throw TapeError(std::string(name) + ": the inputs are on different tapes; an op works on one tape");
}

template <Real T>
Tensor<T> TapeState<T>::grad(std::uint32_t index) {
    Node& n = node(index);
    if (!n.keep_grad)
        throw TapeError("grad: " + describe(*this, index) +
                        (n.needs_grad ? " is an intermediate result whose gradient is not kept; call "
                                        "Tape::keep_grad before backward()"
                                      : " needs no gradient"));
    if (!n.grad) return Tensor<T>::zeros(n.value.shape());
    n.grad->owners.fetch_add(1, std::memory_order_relaxed);
    return Tensor<T>::adopt(n.grad, n.value.shape());
}

// Somebody holds a tensor of the gradient: what is added from here on must not show in it.
template <Real T>
void TapeState<T>::unshare_grad(Node& n) {
    Buffer* mine = pool_.take(static_cast<std::size_t>(n.value.size()) * sizeof(T));
    std::memcpy(mine->data(), n.grad->data(), static_cast<std::size_t>(n.value.size()) * sizeof(T));
    release(n.grad);
    n.grad = mine;
}

template <Real T>
std::int64_t TapeState<T>::uses(std::uint32_t index) const {
    return std::count(inputs_.begin(), inputs_.end(), index);
}

template <Real T>
void TapeState<T>::keep_grad(std::uint32_t index) {
    Node& n = node(index);
    if (!n.needs_grad) throw TapeError("keep_grad: " + describe(*this, index) + " needs no gradient");
    n.keep_grad = true;
}

template <Real T>
void TapeState<T>::bind_grad(std::uint32_t index, std::span<T> to) {
    Node& n = node(index);
    if (!n.needs_grad || n.backward) throw TapeError("accumulate_into: " + describe(*this, index) + " is no variable");
    if (std::ssize(to) != n.value.size())
        throw ShapeError("accumulate_into: there is room for " + std::to_string(to.size()) + " numbers; " +
                         describe(*this, index) + " has " + std::to_string(n.value.size()));
    n.bound = to.data();
}

template <Real T>
void TapeState<T>::bind_grad(std::uint32_t index, SinkSlot<T> to) {
    sinks_.emplace_back(index, to);
}

template <Real T>
void TapeState<T>::unbind_grad(std::uint32_t index) {
    node(index).bound = nullptr;
    std::erase_if(sinks_, [&](const auto& entry) { return entry.first == index; });
}

template <Real T>
SinkSlot<T> TapeState<T>::sink_of(std::uint32_t index) const {
    for (const auto& [variable, sink] : sinks_)
        if (variable == index) return sink;
    return {};
}

template <Real T>
void TapeState<T>::seed(const Var<T>& output, const Tensor<T>& seed) {
    const Shape& shape = node(output.index()).value.shape();
    if (!node(output.index()).needs_grad)
        throw TapeError("backward: " + describe(*this, output.index()) + " does not depend on any variable");
    if (seed.shape() != shape)
        throw ShapeError("backward: the seed has shape " + pollen::to_string(seed.shape()) + ", the output " +
                         pollen::to_string(shape) + "; they must be equal");
    const GradientSlot<T> slot = this->slot(output.index());
    if (slot.fresh)
        std::copy(seed.begin(), seed.end(), slot.data);
    else
        add(slot.data, seed.data(), seed.size());
}

// dL/dx += dL/dy dy/dx, from the last node to the first: when a node has its turn, all that it goes into had theirs.
template <Real T>
void TapeState<T>::run_backward(std::uint32_t last) {
    Node* second = nullptr;  // the second result of the op that is next
    for (std::uint32_t i = last + 1; i-- > 0;) {
        Node& n = node(i);
        if (!n.grad) continue;
        if (n.second) {
            // The op's closure needs a gradient of the first result, too.
            const GradientSlot<T> first = slot(i - 1);
            if (first.fresh) std::fill_n(first.data, node(i - 1).value.size(), T(0));
            second = &n;
            continue;
        }
        if (!n.backward) continue;
        Backward<T> context(*this, i);
        n.backward(context);
        if (n.grad && !n.keep_grad) release_grad(n);
        if (second && !second->keep_grad) release_grad(*second);
        second = nullptr;
    }
}

template <Real T>
void TapeState<T>::zero_grad() {
    for (std::uint32_t i = 0; i < size_; ++i) release_grad(node(i));
}

template <Real T>
void TapeState<T>::rewind(std::uint32_t size) {
    std::size_t inputs_left = inputs_.size();
    for (std::uint32_t i = size_; i-- > size;) {
        Node& n = node(i);
        give_back(n.value.take_buffer());
        release_grad(n);
        if (n.backward) n.backward.reset();
        n.needs_grad = false;
        n.keep_grad = false;
        n.bound = nullptr;
        n.second = false;
        if (n.input_count) inputs_left = n.first_input;
        n.input_count = 0;
    }
    inputs_.resize(inputs_left);
    while (!steps_.empty() && steps_.back()->node >= size) steps_.pop_back();
    if (!sinks_.empty()) std::erase_if(sinks_, [&](const auto& entry) { return entry.first >= size; });
    size_ = size;
    ++generation_;
}

template <Real T>
Var<T> TapeState<T>::append_second(const char* name, const Var<T>& first, Tensor<T>&& value) {
    if (first.index() + 1 != size_ || first.state_ != this)
        throw TapeError(std::string(name) + ": a second result has to follow the first");
    const bool needs_grad = node(first.index()).needs_grad;
    Node& n = append(name, std::move(value));
    n.needs_grad = n.second = needs_grad;
    if (needs_grad) {
        n.first_input = static_cast<std::uint32_t>(inputs_.size());
        n.input_count = 1;
        inputs_.push_back(first.index());
    }
    return Var<T>(this, size_ - 1, generation_);
}

template <Real T>
bool Backward<T>::has_sink(int k) const {
    return state_.sink_of(input_index(k)) && state_.uses(input_index(k)) == 1;
}

template <Real T>
SinkSlot<T> Backward<T>::sink(int k) {
    state_.node(input_index(k)).value = Tensor<T>();
    return state_.sink_of(input_index(k));
}

template <Real T>
T* Backward<T>::accumulate(int k) {
    const GradientSlot<T> s = slot(k);
    if (s.fresh) std::fill_n(s.data, input(k).size(), T(0));
    return s.data;
}

template <Real T>
void Backward<T>::pass_grad(int k) {
    auto& from = state_.node(index_);
    auto& to = state_.node(input_index(k));
    if (!to.needs_grad) return;
    if (!to.grad && !to.bound && !from.keep_grad) {
        to.grad = std::exchange(from.grad, nullptr);
        return;
    }
    const GradientSlot<T> s = slot(k);
    if (s.fresh)
        std::copy_n(grad(), from.value.size(), s.data);
    else
        add(s.data, grad(), from.value.size());
}

template <Real T>
void Tape<T>::check(const char* what, const Var<T>& x) const {
    if (&x.state() != state_) throw TapeError(std::string(what) + ": this Var belongs to another tape");
}

template <Real T>
void Tape<T>::backward(const Var<T>& output, T seed) {
    check("backward", output);
    if (output.size() != 1)
        throw TapeError("backward: the output has shape " + pollen::to_string(output.shape()) +
                        "; give a seed of that shape, or reduce it to one number, for example by sum()");
    state_->seed(output, Tensor<T>::borrow(&seed, output.shape()));
    state_->run_backward(output.index());
}

template <Real T>
void Tape<T>::backward(const Var<T>& output, const Tensor<T>& seed) {
    check("backward", output);
    state_->seed(output, seed);
    state_->run_backward(output.index());
}

template <Real T>
void Tape<T>::backward(std::span<const Output> outputs) {
    std::uint32_t last = 0;
    for (const Output& o : outputs) {
        check("backward", o.output);
        last = std::max(last, o.output.index());
    }
    for (const Output& o : outputs) state_->seed(o.output, o.seed);
    if (!outputs.empty()) state_->run_backward(last);
}

template <Real T>
void Tape<T>::accumulate_into(const Var<T>& x, std::span<T> to) {
    check("accumulate_into", x);
    state_->bind_grad(x.index(), to);
}

template <Real T>
void Tape<T>::accumulate_into(const Var<T>& x, GradientSink<T>& to, std::size_t number) {
    check("accumulate_into", x);
    state_->bind_grad(x.index(), {&to, number});
}

template <Real T>
void Tape<T>::accumulate_here(const Var<T>& x) {
    check("accumulate_here", x);
    state_->unbind_grad(x.index());
}

template <Real T>
void Tape<T>::replay() {
    state_->replay();
}

template <Real T>
void Tape<T>::keep_grad(const Var<T>& x) {
    check("keep_grad", x);
    state_->keep_grad(x.index());
}

template <Real T>
typename Tape<T>::Mark Tape<T>::mark() const {
    const std::uint32_t size = state_->size();
    return {size, size ? state_->node(size - 1).generation : 0};
}

template <Real T>
void Tape<T>::rewind(Mark mark) {
    if (mark.size > state_->size() || (mark.size && state_->node(mark.size - 1).generation != mark.generation))
        throw TapeError("rewind: the tape was rewound past this mark or cleared since it was made");
    state_->rewind(mark.size);
}

template class Tape<float>;
template class Tape<double>;
template class TapeState<float>;
template class TapeState<double>;
template class Backward<float>;
template class Backward<double>;
template class Var<float>;
template class Var<double>;

}  // namespace pollen
