#pragma once

#include <pollen/autograd/kernels/broadcast.hpp>
#include <pollen/nn/distributions/argument.hpp>

#include <array>

// f(x, p, q, ...) of numbers one by one, in double: for functions without a SIMD form, off the beaten path.
namespace pollen {

// The arguments as doubles of one shape.
template <Real T>
Tensor<double> repeated(const char* name, const Arg<T>& arg, const Shape& shape) {
    const Shape from = arg.shape();
    if (!broadcasts_to(from, shape))
        throw ShapeError(std::string(name) + ": a parameter of shape " + to_string(from) +
                         " does not broadcast to the shape asked for, " + to_string(shape));
    Tensor<T> full = Tensor<T>::empty(shape);
    kernels::repeat_into<T>({full.fresh_data(), true}, shape, arg.data(), from);
    return cast<double>(full);
}

template <Real T, class F, class... Parameter>
Tensor<T> scalar_map(const char* name, const Shape& shape, const F& f, const Parameter&... parameter) {
    Tensor<T> out = Tensor<T>::empty(shape);
    T* to = out.fresh_data();
    [&](const auto&... full) {
        parallel_for(shape.size(), 1024, [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t i = begin; i < end; ++i) to[i] = static_cast<T>(f(full.data()[i]...));
        });
    }(repeated<T>(name, parameter, shape)...);
    return out;
}

// The shape of x and parameters broadcast against each other.
template <Real T, std::size_t n>
Shape joint_shape(const char* name, const Shape& x, const std::array<Arg<T>, n>& parameters) {
    Shape out = x;
    for (const Arg<T>& p : parameters) out = broadcast(name, out, p.shape());
    return out;
}

}  // namespace pollen
