#pragma once

#include <pollen/nn/checks.hpp>
#include <pollen/nn/distributions/density.hpp>
#include <pollen/nn/kernels/density_node.hpp>
#include <pollen/nn/kernels/scalar_map.hpp>

#include <cmath>
#include <tuple>

// The members of Density, for the .cpp file of each distribution, and checks of parameters. A law of this kind has
// besides its formula the name of its nodes, `node`, and check(args), which throws where a parameter is out of bounds;
// args[0] is x, or null where there is none yet.
namespace pollen::distributions {

using kernels::Batch;
using kernels::Wanted;

template <Real T, std::size_t n>
Args<T, n + 1> joint(const Arg<T>& x, const std::array<Arg<T>, n>& parameters) {
    Args<T, n + 1> args{&x};
    for (std::size_t k = 0; k < n; ++k) args[k + 1] = &parameters[k];
    return args;
}

template <Real T, class Law, std::size_t n>
Density<T, Law, n>::Density(std::array<Arg<T>, n> parameters) : parameters_(std::move(parameters)) {
    Args<T, n + 1> args{};
    for (std::size_t k = 0; k < n; ++k) args[k + 1] = &parameters_[k];
    Law::check(args);
}

template <Real T, class Law, std::size_t n>
Var<T> Density<T, Law, n>::lpdf_of(const std::array<const Arg<T>*, n + 1>& args) {
    Law::check(args);
    return law_sum<Law>(Law::node, args);
}

template <Real T, class Law, std::size_t n>
Var<T> Density<T, Law, n>::log_prob(const Arg<T>& x) const {
    return law_sum<Law>(Law::node, joint(x, parameters_));
}

template <Real T, class Law, std::size_t n>
Var<T> Density<T, Law, n>::log_prob_terms(const Arg<T>& x) const {
    return law_terms<Law>(Law::node, joint(x, parameters_));
}

template <Real T, class Law, std::size_t n>
Tensor<T> Density<T, Law, n>::log_prob_each(const Tensor<T>& x) const {
    const Arg<T> arg(x);
    return law_each<Law>(Law::node, joint(arg, parameters_));
}

template <Real T, class Law, std::size_t n>
Shape Density<T, Law, n>::shape() const {
    Shape out;
    for (const Arg<T>& p : parameters_) out = broadcast(Law::node, out, p.shape());
    return out;
}

// f of the parameters, and of x and the parameters, number by number in double.
template <Real T, std::size_t n, class F>
Tensor<T> map_parameters(const char* name, const std::array<Arg<T>, n>& parameters, const F& f) {
    const Shape shape = joint_shape(name, Shape{}, parameters);
    return std::apply([&](const auto&... p) { return scalar_map<T>(name, shape, f, p...); }, parameters);
}
template <Real T, std::size_t n, class F>
Tensor<T> map_cdf(const char* name, const Tensor<T>& x, const std::array<Arg<T>, n>& parameters, const F& f) {
    const Shape shape = joint_shape(name, x.shape(), parameters);
    const Arg<T> at(x);
    return std::apply([&](const auto&... p) { return scalar_map<T>(name, shape, f, at, p...); }, parameters);
}

// A distribution function below the support.
inline double zero_or_nan(double x) { return std::isnan(x) ? x : 0; }

template <Real T>
[[noreturn]] void refuse(const char* law, const char* what, T value, std::int64_t i, std::int64_t size,
                         const char* needed) {
    const std::string where = size == 1 ? "" : " at element " + std::to_string(i);
    throw ValueError(std::string(law) + ": " + what + " is " + to_text(static_cast<double>(value)) + where +
                     "; it must be " + needed);
}

template <Real T>
void check_positive(const char* law, const char* what, const Arg<T>& arg) {
    const Tensor<T>* values = arg.values();
    const T* x = values ? values->data() : arg.number();
    const std::int64_t n = values ? values->size() : 1;
    for (std::int64_t i = 0; i < n; ++i)
        if (!(x[i] > 0)) refuse(law, what, x[i], i, n, "positive");
}

// Positive, and not infinite.
template <Real T>
void check_finite_positive(const char* law, const char* what, const Arg<T>& arg) {
    const Tensor<T>* values = arg.values();
    const T* x = values ? values->data() : arg.number();
    const std::int64_t n = values ? values->size() : 1;
    for (std::int64_t i = 0; i < n; ++i)
        if (!(x[i] > 0 && std::isfinite(x[i]))) refuse(law, what, x[i], i, n, "positive and finite");
}

// log_prob where x is outside the support, and zeros for its slopes.
template <class T, class Bool>
Batch<T> outside(const Bool& is_outside, const Batch<T>& value) {
    return xsimd::select(is_outside, Batch<T>(-std::numeric_limits<T>::infinity()), value);
}
template <class T, class Bool>
Batch<T> zero_where(const Bool& is_outside, const Batch<T>& slope) {
    return xsimd::select(is_outside, Batch<T>(T(0)), slope);
}

// -1, 0 or 1
template <class T>
Batch<T> sign(const Batch<T>& x) {
    const Batch<T> zero(T(0)), one(T(1));
    return xsimd::select(x > zero, one, xsimd::select(x < zero, -one, x));
}

}  // namespace pollen::distributions

// The float and double versions of a distribution with n parameters, and of the divergence of two of its kind.
#define POLLEN_INSTANTIATE_DENSITY(Name, n)               \
    template class Density<float, Name##Law<float>, n>;   \
    template class Density<double, Name##Law<double>, n>; \
    template class Name<float>;                           \
    template class Name<double>;
#define POLLEN_INSTANTIATE_KL(Name)                                         \
    template Var<float> kl(const Name<float>&, const Name<float>&);         \
    template Var<double> kl(const Name<double>&, const Name<double>&);      \
    template Tensor<float> kl_each(const Name<float>&, const Name<float>&); \
    template Tensor<double> kl_each(const Name<double>&, const Name<double>&);
