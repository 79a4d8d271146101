#pragma once

#include <pollen/autograd/kernels/broadcast.hpp>
#include <pollen/nn/distributions/argument.hpp>
#include <pollen/nn/distributions/kernels/law_loops.hpp>

#include <array>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>

// A law (kernels/law_loops.hpp) as one node of the tape: the sum over all elements of its arguments, broadcast against
// each other, or the elements themselves. The derivatives are worked out along with the value, where a gradient will be
// wanted, and kept; on the way back they are multiplied by the gradient. So nothing of the arguments has to be kept.
namespace pollen {

template <Real T, std::size_t n>
using Args = std::array<ArgRef<T>, n>;

// The derivatives of one argument take this much room: whole batches.
template <Real T>
std::int64_t padded(std::int64_t size) {
    constexpr std::int64_t width = kernels::Batch<T>::size;
    return (size + width - 1) & -width;
}

// Where arguments stand in memory. `simple` where each is a single number or has the shape of all the others: nothing
// has to be repeated then.
template <Real T, std::size_t n>
struct Operands {
    const Args<T, n>& args;
    kernels::Sources<T, n> in;
    std::int64_t size = 1;
    std::int64_t room = 0;  // for the derivatives with respect to the arguments that want them
    bool simple = true;

    explicit Operands(const Args<T, n>& a) : args(a) {
        const Shape* full = nullptr;
        for (std::size_t k = 0; k < n; ++k) {
            const Shape* shape = a[k].shape();
            const std::int64_t count = shape ? shape->size() : 1;
            in[k] = {a[k].data(), count != 1};
            if (a[k].needs_grad()) room += padded<T>(count);
            if (count == 1) continue;
            if (full) simple = simple && same(*full, *shape);
            full = shape;
            size = count;
        }
    }

  private:
    [[gnu::noinline]] static bool same(const Shape& a, const Shape& b) { return a == b; }
};

// Arguments that are neither single numbers nor of the full shape are written out in it.
template <Real T, std::size_t n>
class Repeated {
  public:
    Repeated(const char* name, Operands<T, n>& ops, Pool& pool) {
        for (const ArgRef<T>& arg : ops.args)
            if (arg.shape()) shape_ = broadcast(name, shape_, *arg.shape());
        ops.size = shape_.size();
        for (std::size_t k = 0; k < n; ++k) {
            if (!ops.in[k].moves || ops.args[k].size() == ops.size) continue;
            held_[k] = Tensor<T>::empty(shape_, pool);
            kernels::repeat_into<T>({held_[k].fresh_data(), true}, shape_, ops.in[k].data, *ops.args[k].shape());
            ops.in[k].data = held_[k].data();
        }
    }
    const Shape& shape() const { return shape_; }

  private:
    Shape shape_;
    std::array<Tensor<T>, n> held_;
};

[[noreturn]] inline void fail_without_tape(const char* name) {
    throw TapeError(std::string(name) +
                    ": no argument is a Var, so there is no tape; log_prob_each works on tensors alone");
}

template <Real T, std::size_t n>
TapeState<T>& tape_of(const char* name, const Args<T, n>& args) {
    for (const ArgRef<T>& arg : args)
        if (arg.tape()) return *arg.tape();
    fail_without_tape(name);
}

inline constexpr auto product = [](const auto& a, const auto& b) { return a * b; };

template <Real T>
[[gnu::noinline]] void pass_many(const GradientSlot<T>& slot, std::int64_t size, const T* slopes, T g) {
    kernels::map_into(slot, size, product, kernels::Stream<T>{slopes}, kernels::Splat<T>{g});
}

// dL/d(input) = dL/d(sum) d(sum)/d(input), for all inputs; the latter lie one behind the other.
template <Real T>
void pass_to_inputs(Backward<T>& b, const T* slopes) {
    const T g = b.grad()[0];
    const int count = b.input_count();
    for (int j = 0; j < count; ++j) {
        const std::int64_t size = b.input(j).size();
        const GradientSlot<T> slot = b.slot(j);
        if (!slot) continue;
        if (size == 1)
            slot.data[0] = slot.fresh ? g * slopes[0] : slot.data[0] + g * slopes[0];
        else if (slot.fresh && size <= kernels::map_grain)
            kernels::map_serial(size, slot.data, product, kernels::Stream<T>{slopes}, kernels::Splat<T>{g});
        else
            pass_many(slot, size, slopes, g);
        slopes += padded<T>(size);
    }
}

// The same for a node of elements, whose derivatives have their shape.
template <Real T>
void pass_each_to_inputs(Backward<T>& b, const T* slopes) {
    const std::int64_t size = b.value().size();
    const kernels::Stream<T> g{b.grad()};
    for (int j = 0; j < b.input_count(); ++j) {
        if (!b.wants(j)) continue;
        const kernels::Stream<T> slope{slopes};
        if (b.input(j).size() == size) {
            kernels::map_into(b.slot(j), size, product, slope, g);
        } else {
            Tensor<T> full = b.scratch(b.value().shape());
            kernels::map(size, full.fresh_data(), product, slope, g);
            kernels::sum_to(full.data(), full.shape(), b.slot(j), b.input(j).shape());
        }
        slopes += padded<T>(size);
    }
}

// The Vars among the arguments.
template <Real T, std::size_t n>
class Inputs {
  public:
    explicit Inputs(const Args<T, n>& args) {
        for (const ArgRef<T>& arg : args)
            if (arg.var()) vars_[count_++] = *arg.var();
    }
    std::span<const Var<T>> span() const { return {vars_.data(), count_}; }

  private:
    std::array<Var<T>, n> vars_;
    std::size_t count_ = 0;
};

// Where arguments have to be repeated: derivatives in the full shape, and then summed to the arguments' own.
template <class Law, Real T, std::size_t n>
[[gnu::noinline]] void evaluate_repeated(const char* name, Operands<T, n>& ops, kernels::Sinks<T, n + 1> out,
                                         Pool& pool) {
    const Repeated<T, n> full(name, ops, pool);
    const kernels::Sinks<T, n + 1> own = out;
    std::array<Tensor<T>, n> held;
    for (std::size_t k = 0; k < n; ++k) {
        if (!out[k + 1].data || !out[k + 1].moves) continue;
        held[k] = Tensor<T>::empty(full.shape(), pool);
        out[k + 1].data = held[k].fresh_data();
    }
    kernels::evaluate<Law, true>(ops.in, ops.size, out);
    for (std::size_t k = 0; k < n; ++k)
        if (own[k + 1].data != out[k + 1].data)
            kernels::sum_to(static_cast<const T*>(held[k].data()), full.shape(), {own[k + 1].data, true},
                            *ops.args[k].shape());
}

template <Real T, std::size_t n, class Evaluate>
[[gnu::noinline]] Var<T> record_many(const char* name, TapeState<T>& tape, const Args<T, n>& args, std::int64_t room,
                                     const Evaluate& evaluate) {
    Tensor<T> y = tape.empty(Shape{}), slopes = tape.empty(Shape{room});
    evaluate(y.fresh_data(), slopes.fresh_data());
    return tape.record(name, Inputs<T, n>(args).span(), std::move(y),
                       [slopes = std::move(slopes)](Backward<T>& b) { pass_to_inputs(b, slopes.data()); });
}

// The node of a sum: evaluate(y, slopes) writes it and, for each argument that wants a gradient, its derivatives, one
// behind the other and padded. They need `room` numbers.
template <Real T, std::size_t n, class Evaluate>
Var<T> record_sloped(const char* name, TapeState<T>& tape, const Args<T, n>& args, std::int64_t room,
                     const Evaluate& evaluate) {
    // A few derivatives stand behind the value, in the same buffer; many have their own, which ends with the node.
    constexpr std::int64_t value_room = kernels::Batch<T>::size, most = 512 / sizeof(T);
    if (value_room + room <= most) {
        const auto bytes = static_cast<std::size_t>(value_room + room) * sizeof(T);
        Tensor<T> y = Tensor<T>::adopt(tape.pool().take_here(bytes), Shape{});
        evaluate(y.fresh_data(), y.fresh_data() + value_room);
        return tape.record(name, Inputs<T, n>(args).span(), std::move(y),
                           [](Backward<T>& b) { pass_to_inputs(b, b.value().data() + value_room); });
    }
    return record_many(name, tape, args, room, evaluate);
}

// What throws if arguments are out of bounds. The caller has called it already; a replay calls it again.
template <Real T, std::size_t n>
using ArgsCheck = std::type_identity_t<void (*)(const Args<T, n>&)>;

template <Real T, std::size_t n>
void no_bounds(const Args<T, n>&) {}

// Writes the value of a law at the arguments and the derivatives with respect to those that want them, one behind the
// other and padded.
template <Real T, std::size_t n>
using Evaluate = void (*)(const char* name, const Args<T, n>& args, Pool& pool, T* value, T* slopes);

// As a node of the tape: itself, or a constant that holds its numbers.
template <Real T>
Var<T> on_tape(const ArgRef<T>& arg, TapeState<T>& tape) {
    if (arg.var()) return *arg.var();
    const std::span<const T> values(arg.data(), static_cast<std::size_t>(arg.size()));
    return tape.leaf("constant", Tensor<T>(arg.shape() ? *arg.shape() : Shape{}, values), false);
}
template <Real T, std::size_t n>
std::array<Var<T>, n> on_tape(const Args<T, n>& args, TapeState<T>& tape) {
    std::array<Var<T>, n> vars;
    for (std::size_t k = 0; k < n; ++k) vars[k] = on_tape(args[k], tape);
    return vars;
}

// A node that can be replayed. All arguments are inputs, the constants too, so that evaluate can be called again with
// what they are then. For laws it is a pointer, so that this is compiled once for all of them.
template <Real T, std::size_t n, class Again>
[[gnu::noinline]] Var<T> record_replayed(const char* name, const std::array<Var<T>, n>& inputs, const Shape& shape,
                                         Tensor<T>&& slopes, ArgsCheck<T, n> check, const Again& evaluate,
                                         void (*pass)(Backward<T>&, const T*)) {
    const auto forward = [name, check, evaluate, to = slopes.fresh_data()](Forward<T>& node) {
        std::array<Var<T>, n> vars;
        for (std::size_t k = 0; k < n; ++k) vars[k] = node.input_var(static_cast<int>(k));
        const auto now = std::apply([](const auto&... var) { return Args<T, n>{var...}; }, vars);
        check(now);
        evaluate(name, now, node.pool(), node.value(), to);
    };
    return inputs[0].state().record(name, std::span<const Var<T>>(inputs), shape, forward,
                                    [pass, slopes = std::move(slopes)](Backward<T>& b) { pass(b, slopes.data()); });
}

// Writes the sum and, one behind the other, the derivatives with respect to the arguments that want them.
template <class Law, Real T, std::size_t n>
void evaluate_sum(const char* name, Operands<T, n>& ops, Pool& pool, T* y, T* slopes) {
    kernels::Sinks<T, n + 1> out{{{y, false}}};
    for (std::size_t k = 0; k < n; ++k) {
        if (!ops.args[k].needs_grad()) continue;
        out[k + 1] = {slopes, ops.in[k].moves};
        slopes += padded<T>(ops.args[k].size());
    }
    if (!ops.simple)
        evaluate_repeated<Law>(name, ops, out, pool);
    else if (ops.room > 0)
        kernels::evaluate<Law, true>(ops.in, ops.size, out);
    else
        kernels::evaluate<Law, false>(ops.in, ops.size, out);
}

// sum over all elements of the law at the arguments
template <class Law, Real T, std::size_t n>
Var<T> law_sum(const char* name, const Args<T, n>& args, ArgsCheck<T, n> check) {
    TapeState<T>& tape = tape_of(name, args);
    Operands<T, n> ops(args);
    if (tape.replays()) {
        const Evaluate<T, n> again = [](const char* op, const Args<T, n>& now, Pool& pool, T* y, T* slopes) {
            Operands<T, n> operands(now);
            evaluate_sum<Law>(op, operands, pool, y, slopes);
        };
        return record_replayed(name, on_tape(args, tape), Shape{}, tape.empty(Shape{ops.room}), check, again,
                               pass_to_inputs<T>);
    }
    return record_sloped(name, tape, args, ops.room,
                         [&](T* y, T* slopes) { evaluate_sum<Law>(name, ops, tape.pool(), y, slopes); });
}

// The elements, in the shape of the arguments broadcast against each other: without a tape, and as a node.
template <class Law, Real T, std::size_t n>
Tensor<T> law_each(const char* name, const Args<T, n>& args) {
    Operands<T, n> ops(args);
    const Repeated<T, n> full(name, ops, Pool::global());
    Tensor<T> y = Tensor<T>::empty(full.shape());
    kernels::evaluate<Law, false>(ops.in, ops.size, kernels::Sinks<T, n + 1>{{{y.fresh_data(), true}}});
    return y;
}

// Writes the elements and the derivatives with respect to the arguments that want them, which have been repeated.
template <class Law, Real T, std::size_t n>
void write_terms(const Operands<T, n>& ops, T* y, T* slopes) {
    kernels::Sinks<T, n + 1> out{{{y, true}}};
    for (std::size_t k = 0; k < n; ++k) {
        if (!ops.args[k].needs_grad()) continue;
        out[k + 1] = {slopes, true};
        slopes += padded<T>(ops.size);
    }
    kernels::evaluate<Law, true>(ops.in, ops.size, out);
}

template <class Law, Real T, std::size_t n>
void evaluate_terms(const char* name, const Args<T, n>& args, Pool& pool, T* y, T* slopes) {
    Operands<T, n> ops(args);
    const Repeated<T, n> full(name, ops, pool);
    write_terms<Law>(ops, y, slopes);
}

// The node of elements; `evaluate` is for a replay.
template <Real T, std::size_t n>
[[gnu::noinline]] Var<T> record_terms(const char* name, const Args<T, n>& args, ArgsCheck<T, n> check,
                                      void (*write)(const Operands<T, n>&, T*, T*), Evaluate<T, n> evaluate) {
    TapeState<T>& tape = tape_of(name, args);
    Operands<T, n> ops(args);
    const Repeated<T, n> full(name, ops, tape.pool());
    std::int64_t wanted = 0;
    for (const ArgRef<T>& arg : args) wanted += arg.needs_grad();
    Tensor<T> slopes = tape.empty(Shape{wanted, padded<T>(ops.size)});
    if (tape.replays())
        return record_replayed(name, on_tape(args, tape), full.shape(), std::move(slopes), check, evaluate,
                               pass_each_to_inputs<T>);
    Tensor<T> y = tape.empty(full.shape());
    write(ops, y.fresh_data(), slopes.fresh_data());
    return tape.record(name, Inputs<T, n>(args).span(), std::move(y),
                       [slopes = std::move(slopes)](Backward<T>& b) { pass_each_to_inputs(b, slopes.data()); });
}

template <class Law, Real T, std::size_t n>
Var<T> law_terms(const char* name, const Args<T, n>& args, ArgsCheck<T, n> check) {
    return record_terms<T, n>(name, args, check, write_terms<Law, T, n>, evaluate_terms<Law, T, n>);
}

}  // namespace pollen
