#pragma once

#include <pollen/autograd/kernels/broadcast.hpp>
#include <pollen/nn/kernels/density.hpp>

#include <array>
#include <span>
#include <string>

// A law (density.hpp) as one node of the tape: the sum over all elements of its arguments, broadcast against each
// other, or the elements themselves.
namespace pollen {

template <Real T, std::size_t n>
using Args = std::array<const Arg<T>*, n>;

// Where arguments stand in memory, and their sizes and shapes. `simple` where each is a single number or has the shape
// of all the others: nothing has to be repeated then.
template <Real T, std::size_t n>
struct Operands {
    std::array<kernels::Source<T>, n> in;
    std::array<const Shape*, n> shape;  // null for a number
    std::int64_t size = 1;
    bool simple = true;

    void set(std::size_t k, const T* data, const Shape* s) {
        in[k] = {data, s && s->size() != 1};
        shape[k] = s;
        if (!in[k].moves) return;
        if (!full_) {
            full_ = s;
            size = s->size();
        } else if (!(*full_ == *s)) {
            simple = false;
        }
    }
    Shape broadcast_shape(const char* name) const {
        Shape out;
        for (const Shape* s : shape)
            if (s) out = broadcast(name, out, *s);
        return out;
    }

  private:
    const Shape* full_ = nullptr;
};

template <Real T, std::size_t n>
Operands<T, n> operands_of(const Args<T, n>& args) {
    Operands<T, n> ops;
    for (std::size_t k = 0; k < n; ++k) {
        if (const Tensor<T>* values = args[k]->values())
            ops.set(k, values->data(), &values->shape());
        else
            ops.set(k, args[k]->number(), nullptr);
    }
    return ops;
}

// Arguments that are neither single numbers nor of the full shape are written out in it.
template <Real T, std::size_t n>
class Repeated {
  public:
    Repeated(const char* name, Operands<T, n>& ops, Pool& pool) : shape_(ops.broadcast_shape(name)) {
        ops.size = shape_.size();
        for (std::size_t k = 0; k < n; ++k) {
            if (!ops.in[k].moves || ops.shape[k]->size() == ops.size) continue;
            held_[k] = Tensor<T>::empty(shape_, pool);
            kernels::repeat_into<T>({held_[k].fresh_data(), true}, shape_, ops.in[k].data, *ops.shape[k]);
            ops.in[k].data = held_[k].data();
        }
    }
    const Shape& shape() const { return shape_; }

  private:
    Shape shape_;
    std::array<Tensor<T>, n> held_;
};

// What a node keeps for its way back: which input each argument is, or the number that it is.
template <class Law, Real T, std::size_t n>
struct LawBackward {
    const char* name;
    std::array<T, n> number;
    std::array<signed char, n> input;

    void operator()(Backward<T>& b) const {
        Operands<T, n> ops;
        for (std::size_t k = 0; k < n; ++k) {
            if (input[k] < 0) {
                ops.set(k, &number[k], nullptr);
            } else {
                const Tensor<T>& value = b.input(input[k]);
                ops.set(k, value.data(), &value.shape());
            }
        }
        if (!ops.simple) return repeated(b, ops);
        std::array<kernels::Sink<T>, n> out;
        for (std::size_t k = 0; k < n; ++k)
            if (input[k] >= 0) out[k] = {b.slot(input[k]), ops.in[k].moves};
        kernels::slopes_law<Law, T, n>(with_gradient(b, ops), ops.size, out);
    }

  private:
    static std::array<kernels::Source<T>, n + 1> with_gradient(Backward<T>& b, const Operands<T, n>& ops) {
        std::array<kernels::Source<T>, n + 1> in;
        for (std::size_t k = 0; k < n; ++k) in[k] = ops.in[k];
        in[n] = {b.grad(), b.value().size() != 1};
        return in;
    }

    void repeated(Backward<T>& b, Operands<T, n>& ops) const {
        const Repeated<T, n> full(name, ops, b.pool());
        std::array<kernels::Sink<T>, n> out;
        std::array<Tensor<T>, n> held;
        for (std::size_t k = 0; k < n; ++k) {
            if (input[k] < 0 || !b.wants(input[k])) continue;
            if (ops.in[k].moves) {
                held[k] = b.scratch(full.shape());
                out[k] = {{held[k].fresh_data(), true}, true};
            } else {
                out[k] = {b.slot(input[k]), false};
            }
        }
        kernels::slopes_law<Law, T, n>(with_gradient(b, ops), ops.size, out);
        for (std::size_t k = 0; k < n; ++k)
            if (out[k].moves)
                kernels::sum_to(static_cast<const T*>(held[k].data()), full.shape(), b.slot(input[k]), *ops.shape[k]);
    }
};

template <Real T, std::size_t n>
TapeState<T>& tape_of(const char* name, const Args<T, n>& args) {
    for (const Arg<T>* arg : args)
        if (arg->var()) return arg->var()->state();
    throw TapeError(std::string(name) +
                    ": no argument is a Var, so there is no tape; log_prob_each works on tensors alone");
}

template <class Law, Real T, std::size_t n>
Var<T> record_law(const char* name, TapeState<T>& tape, const Args<T, n>& args, Tensor<T>&& value) {
    std::array<Var<T>, n> inputs;
    LawBackward<Law, T, n> back{name, {}, {}};
    static_assert(sizeof back <= 96, "what is larger goes to the heap");
    std::size_t count = 0;
    for (std::size_t k = 0; k < n; ++k) {
        if (const T* number = args[k]->number()) {
            back.number[k] = *number;
            back.input[k] = -1;
        } else {
            back.input[k] = static_cast<signed char>(count);
            inputs[count++] = args[k]->on(tape);
        }
    }
    return tape.record(name, std::span<const Var<T>>(inputs.data(), count), std::move(value), back);
}

// sum over all elements of the law at the arguments
template <class Law, Real T, std::size_t n>
Var<T> law_sum(const char* name, const Args<T, n>& args) {
    TapeState<T>& tape = tape_of(name, args);
    Operands<T, n> ops = operands_of(args);
    Tensor<T> y = tape.empty(Shape{});
    if (ops.simple) {
        y.fresh_data()[0] = kernels::sum_law<Law>(ops.in, ops.size);
    } else {
        const Repeated<T, n> full(name, ops, tape.pool());
        y.fresh_data()[0] = kernels::sum_law<Law>(ops.in, ops.size);
    }
    return record_law<Law>(name, tape, args, std::move(y));
}

// The elements, in the shape of the arguments broadcast against each other: without a tape, and as a node.
template <class Law, Real T, std::size_t n>
Tensor<T> law_each(const char* name, const Args<T, n>& args, Pool& pool = Pool::global()) {
    Operands<T, n> ops = operands_of(args);
    const Repeated<T, n> full(name, ops, pool);
    Tensor<T> y = Tensor<T>::empty(full.shape(), pool);
    kernels::map_law<Law>(ops.in, ops.size, y.fresh_data());
    return y;
}

template <class Law, Real T, std::size_t n>
Var<T> law_terms(const char* name, const Args<T, n>& args) {
    TapeState<T>& tape = tape_of(name, args);
    return record_law<Law>(name, tape, args, law_each<Law>(name, args, tape.pool()));
}

}  // namespace pollen
