#pragma once

#include <pollen/autograd/ops.hpp>

namespace pollen {

// The node of an op that gives the numbers of x from `offset` on another shape and leaves them where they are: nothing
// is copied. That is safe because a tape drops its nodes in reverse order, so the memory outlives the new node.
template <Real T, class B>
Var<T> share(const char* name, Var<T> x, const Shape& shape, std::int64_t offset, B&& backward) {
    return x.state().record(
        name, std::span<const Var<T>>(&x, 1), Tensor<T>::borrow(x.value().data() + offset, shape),
        [offset](Forward<T>& node) { node.share(0, offset); }, std::forward<B>(backward));
}

// The same for all of x: the gradient is passed on as it is.
template <Real T>
Var<T> share(const char* name, Var<T> x, const Shape& shape) {
    return share(name, x, shape, 0, [](Backward<T>& b) { b.pass_grad(0); });
}

}  // namespace pollen
