#pragma once

#include <pollen/autograd/tensor.hpp>

#include <xtensor/xadapt.hpp>
#include <xtensor/xnoalias.hpp>

#include <vector>

// The bridge to xtensor, for programs that use both. Nothing else in pollen's headers includes xtensor.
namespace pollen {

namespace detail {
inline std::vector<std::size_t> xtensor_shape(const Shape& shape) {
    return {shape.sizes().begin(), shape.sizes().end()};
}
}  // namespace detail

// The tensor's numbers as an xtensor adaptor for reading, without a copy; use it only while the tensor lives.
//
//     auto a = as_xtensor(tensor);
//     double m = xt::mean(a)();
template <class T>
auto as_xtensor(const Tensor<T>& tensor) {
    return xt::adapt(tensor.data(), static_cast<std::size_t>(tensor.size()), xt::no_ownership(),
                     detail::xtensor_shape(tensor.shape()));
}

template <class T>
auto as_xtensor(const Tensor<T>&&) = delete;  // the adaptor would outlive the numbers

// The same for writing. If other tensors share the numbers, this one gets its own first.
template <class T>
auto as_mutable_xtensor(Tensor<T>& tensor) {
    return xt::adapt(tensor.mutable_data(), static_cast<std::size_t>(tensor.size()), xt::no_ownership(),
                     detail::xtensor_shape(tensor.shape()));
}

// Any xtensor expression, evaluated into a tensor.
//
//     Tensor<double> y = from_xtensor<double>(xt::sin(a) + 1.0);
template <class T, class Expression>
Tensor<T> from_xtensor(const xt::xexpression<Expression>& expression) {
    const Expression& e = expression.derived_cast();
    const std::vector<std::int64_t> sizes(e.shape().begin(), e.shape().end());
    Tensor<T> tensor = Tensor<T>::empty(Shape(sizes));
    auto out = as_mutable_xtensor(tensor);
    xt::noalias(out) = xt::cast<T>(e);
    return tensor;
}

}  // namespace pollen
