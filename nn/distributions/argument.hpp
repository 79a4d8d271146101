#pragma once

#include <pollen/autograd/ops.hpp>

#include <type_traits>
#include <utility>

namespace pollen {

// What a density takes as a value or a parameter: a Var, or a constant, which is a number or a tensor. A tensor is held
// by its handle, so it may go out of scope.
template <Real T>
class Arg {
  public:
    Arg(Var<T> var) : kind_(Kind::var), var_(var) {}
    Arg(const Tensor<T>& tensor) : kind_(Kind::tensor), tensor_(tensor) {}
    Arg(Tensor<T>&& tensor) : kind_(Kind::tensor), tensor_(std::move(tensor)) {}
    template <PlainNumber S>
    Arg(S number) : kind_(Kind::number), number_(static_cast<T>(number)) {}

    // The same for a tensor that outlives the argument: nothing is counted.
    static Arg borrow(const Tensor<T>& tensor) { return Arg(&tensor); }
    template <class A>
    static Arg borrow(const A& other) {
        return Arg(other);
    }

    const Var<T>* var() const { return kind_ == Kind::var ? &var_ : nullptr; }
    const Tensor<T>* tensor() const {
        return kind_ == Kind::tensor ? &tensor_ : kind_ == Kind::borrowed ? borrowed_ : nullptr;
    }
    const T* number() const { return kind_ == Kind::number ? &number_ : nullptr; }

    // The numbers of a Var or a tensor; null for a number.
    const Tensor<T>* values() const { return kind_ == Kind::var ? &var_.value() : tensor(); }

    const T* data() const { return var() ? var()->value().data() : tensor() ? tensor()->data() : &number_; }
    std::int64_t size() const { return var() ? var()->size() : tensor() ? tensor()->size() : 1; }
    Shape shape() const { return var() ? var()->shape() : tensor() ? tensor()->shape() : Shape{}; }
    Tensor<T> value() const { return var() ? var()->value() : tensor() ? *tensor() : Tensor<T>::scalar(number_); }

    // As a node of the tape: itself, or a constant.
    Var<T> on(TapeState<T>& tape) const { return var() ? *var() : tape.leaf("constant", value(), false); }

  private:
    enum class Kind : unsigned char { number, var, tensor, borrowed };

    explicit Arg(const Tensor<T>* borrowed) : kind_(Kind::borrowed), borrowed_(borrowed) {}

    Kind kind_;
    T number_ = 0;
    const Tensor<T>* borrowed_ = nullptr;
    Var<T> var_;
    Tensor<T> tensor_;
};

// An argument for the length of one call: it points at the caller's Var or tensor, and nothing is owned or counted.
template <Real T>
class ArgRef {
  public:
    ArgRef(const Var<T>& var) : var_(&var), tape_(&var.state()) {
        const auto& node = tape_->node(var.index());
        data_ = node.value.data();
        shape_ = &node.value.shape();
        wanted_ = node.needs_grad;
    }
    ArgRef(const Tensor<T>& tensor) : data_(tensor.data()), shape_(&tensor.shape()) {}
    // Numbers in memory, as a tensor of this shape.
    ArgRef(const T* data, const Shape& shape) : data_(data), shape_(&shape) {}
    ArgRef(const Arg<T>& arg) {
        if (arg.var())
            *this = ArgRef(*arg.var());
        else if (arg.tensor())
            *this = ArgRef(*arg.tensor());
        else
            number_ = *arg.number();
    }
    template <PlainNumber S>
    ArgRef(S number) : number_(static_cast<T>(number)) {}

    const Var<T>* var() const { return var_; }
    TapeState<T>* tape() const { return tape_; }  // null but for a Var
    bool needs_grad() const { return wanted_; }
    const T* data() const { return shape_ ? data_ : &number_; }
    const Shape* shape() const { return shape_; }  // null for a number
    std::int64_t size() const { return shape_ ? shape_->size() : 1; }

  private:
    const Var<T>* var_ = nullptr;
    TapeState<T>* tape_ = nullptr;
    const T* data_ = nullptr;
    const Shape* shape_ = nullptr;
    T number_ = 0;
    bool wanted_ = false;
};

// The number type of a Var or a tensor; void for a plain number, which takes the others' type.
template <class A>
struct RealIn {
    using type = void;
};
template <Real T>
struct RealIn<Var<T>> {
    using type = T;
};
template <Real T>
struct RealIn<Tensor<T>> {
    using type = T;
};
template <Real T>
struct RealIn<Arg<T>> {
    using type = T;
};

// The number type that arguments have in common: that of the first Var or tensor, and double where all are numbers.
template <class... A>
struct RealOfAll {
    using type = double;
};
template <class A, class... Rest>
struct RealOfAll<A, Rest...> {
    using first = typename RealIn<std::remove_cvref_t<A>>::type;
    using type =
        typename std::conditional_t<std::is_void_v<first>, RealOfAll<Rest...>, std::type_identity<first>>::type;
};
template <class... A>
using RealOf = typename RealOfAll<A...>::type;

// What a density over numbers of type T takes.
template <class A, class T>
concept ArgumentOf =
    PlainNumber<A> || std::same_as<typename RealIn<A>::type, T>;  // Var<T>, Tensor<T>, Arg<T> or a number

// Says in words what an argument that does not fit should have been.
template <class... A>
constexpr bool arguments_fit() {
    constexpr bool fit = (... && ArgumentOf<A, RealOf<A...>>);
    static_assert(fit,
                  "pollen: data are Tensor<T> with the model's T: a density takes Var<T>, Tensor<T> and plain numbers, "
                  "not a std::vector or Indices, nor float beside double; cast<double>(x) makes a Tensor<double>");
    return fit;
}

}  // namespace pollen
