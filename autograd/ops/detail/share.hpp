#pragma once

#include <pollen/autograd/ops.hpp>

namespace pollen {

// The numbers of x from `offset` on, under another shape and in the same memory: nothing is copied. That is safe
// because a tape drops its nodes in reverse order, so the memory outlives the new node.
template <Real T>
Tensor<T> shared(const Var<T>& x, const Shape& shape, std::int64_t offset = 0) {
    return Tensor<T>::borrow(x.value().data() + offset, shape);
}

// The node of an op that only gives all of x another shape: the gradient is passed on as it is.
template <Real T>
Var<T> share(const char* name, Var<T> x, const Shape& shape) {
    return record(name, {x}, shared(x, shape), [](Backward<T>& b) { b.pass_grad(0); });
}

}  // namespace pollen
