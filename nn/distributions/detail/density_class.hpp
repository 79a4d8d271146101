#pragma once

#include <pollen/autograd/support/checks.hpp>
#include <pollen/nn/distributions/density.hpp>
#include <pollen/nn/distributions/detail/density_node.hpp>
#include <pollen/nn/distributions/detail/noise.hpp>
#include <pollen/nn/distributions/detail/scalar_map.hpp>

#include <cmath>
#include <tuple>

// The members of Density, for the .cpp file of each distribution. A law of this kind has, besides the formulas of
// kernels/law_loops.hpp,
//
//     name, node            the distribution's name and that of its nodes
//     parameters            what each is called, and its bounds; check(parameters...) where that is not enough
//     mean(p...), variance(p...), cdf(x, p...)            of doubles
//     noise(shape, key) and Draw, the law that makes draws of noise and the parameters (noise.hpp);
//         or sample(shape, key, p...) and, where it is pathwise, rsample(shape, key, p...)
//     Kl                    the law of the divergence: f(p...; q...)
namespace pollen::distributions {

using kernels::Batch;
using kernels::Wanted;

// Of a batch, and of a number.
template <Bound bound, class T>
auto within(const Batch<T>& x) {
    const Batch<T> zero(T(0)), infinite(std::numeric_limits<T>::infinity());
    if constexpr (bound == Bound::number)
        return x <= infinite;
    else if constexpr (bound == Bound::positive)
        return x > zero;
    else
        return x > zero && x < infinite;
}
template <Real T>
bool within(Bound bound, T x) {
    const T infinite = std::numeric_limits<T>::infinity();
    if (bound == Bound::none) return true;
    return (bound == Bound::number ? x <= infinite : x > 0) && (bound != Bound::finite_positive || x < infinite);
}

template <Real T>
[[noreturn]] void refuse(const char* law, const Parameter& parameter, const ArgRef<T>& arg, std::int64_t i) {
    throw DomainError(std::string(law) + ": " + parameter.name + " is " + to_text(static_cast<double>(arg.data()[i])) +
                      (arg.size() == 1 ? "" : " at element " + std::to_string(i)) + "; it must be " +
                      (parameter.bound == Bound::number     ? "a number"
                       : parameter.bound == Bound::positive ? "positive"
                                                            : "positive and finite"));
}

template <class Law, std::size_t k, Real T>
void check_parameter(const ArgRef<T>& arg) {
    constexpr Bound bound = Law::parameters[k].bound;
    if constexpr (bound != Bound::none) {
        constexpr std::int64_t width = Batch<T>::size;
        const T* x = arg.data();
        const std::int64_t n = arg.size();
        std::int64_t i = 0;
        for (; i + width <= n; i += width)
            if (!xsimd::all(within<bound>(Batch<T>::load_unaligned(x + i)))) break;
        for (; i < n; ++i)
            if (!within(bound, x[i])) refuse(Law::name, Law::parameters[k], arg, i);
    }
}

// Throws where a parameter is out of bounds; x may stand before them.
template <class Law, Real T, std::size_t n>
void check_parameters(const Args<T, n>& args) {
    constexpr std::size_t count = Law::parameters.size(), first = n - count;
    [&]<std::size_t... k>(std::index_sequence<k...>) {
        (check_parameter<Law, k>(args[first + k]), ...);
        if constexpr (requires { Law::check(args[first + k]...); }) Law::check(args[first + k]...);
    }
    (std::make_index_sequence<count>());
}

template <Real T, std::size_t n>
Args<T, n> refs(const std::array<Arg<T>, n>& parameters) {
    return std::apply([](const auto&... p) { return Args<T, n>{p...}; }, parameters);
}
template <Real T, std::size_t n>
Args<T, n + 1> refs(const ArgRef<T>& x, const std::array<Arg<T>, n>& parameters) {
    return std::apply([&x](const auto&... p) { return Args<T, n + 1>{x, p...}; }, parameters);
}
template <Real T, std::size_t n>
Args<T, 2 * n> refs(const std::array<Arg<T>, n>& p, const std::array<Arg<T>, n>& q) {
    return std::apply(
        [&q](const auto&... a) {
            return std::apply([&](const auto&... b) { return Args<T, 2 * n>{a..., b...}; }, q);
        },
        p);
}

// The node of draws whose noise depends on parameters. draw(name, args, pool, x, slopes) writes them and their
// derivatives as a law does. A replay draws again: which random numbers are refused depends on the parameters.
template <Real T, std::size_t n, class Draw>
Var<T> record_draws(const Shape& shape, const std::array<Arg<T>, n>& parameters, const Draw& draw) {
    TapeState<T>& tape = tape_of("rsample", refs(parameters));
    std::array<Var<T>, n> inputs;
    std::int64_t wanted = 0;
    for (std::size_t k = 0; k < n; ++k) {
        inputs[k] = parameters[k].on(tape);
        wanted += inputs[k].needs_grad();
    }
    Tensor<T> slopes = tape.empty(Shape{wanted, padded<T>(shape.size())});
    return record_replayed("rsample", inputs, shape, std::move(slopes), no_bounds<T, n>, draw, pass_each_to_inputs<T>);
}

template <Real T, class Law, std::size_t n, unsigned has>
Density<T, Law, n, has>::Density(std::array<Arg<T>, n> parameters) : parameters_(std::move(parameters)) {
    check_parameters<Law>(refs(parameters_));
}

template <Real T, class Law, std::size_t n, unsigned has>
Var<T> Density<T, Law, n, has>::lpdf(const std::array<ArgRef<T>, n + 1>& args) {
    check_parameters<Law>(args);
    return law_sum<Law>(Law::node, args, check_parameters<Law, T, n + 1>);
}

template <Real T, class Law, std::size_t n, unsigned has>
Var<T> Density<T, Law, n, has>::lpdf_unchecked(const std::array<ArgRef<T>, n + 1>& args) {
    return law_sum<Law>(Law::node, args, no_bounds<T, n + 1>);
}

template <Real T, class Law, std::size_t n, unsigned has>
Var<T> Density<T, Law, n, has>::log_prob(const ArgRef<T>& x) const {
    return law_sum<Law>(Law::node, refs(x, parameters_), check_parameters<Law, T, n + 1>);
}

template <Real T, class Law, std::size_t n, unsigned has>
Var<T> Density<T, Law, n, has>::log_prob_terms(const ArgRef<T>& x) const {
    return law_terms<Law>(Law::node, refs(x, parameters_), check_parameters<Law, T, n + 1>);
}

template <Real T, class Law, std::size_t n, unsigned has>
Tensor<T> Density<T, Law, n, has>::log_prob_each(const Tensor<T>& x) const {
    return law_each<Law>(Law::node, refs<T>(x, parameters_));
}

template <Real T, class Law, std::size_t n, unsigned has>
Tensor<T> Density<T, Law, n, has>::sample(const Shape& shape, const RandomKey& key) const {
    for (const Arg<T>& p : parameters_) check_sample_shape(Law::name, p.shape(), shape);
    if constexpr (requires { typename Law::Draw; })
        return law_each<typename Law::Draw>(Law::name, refs<T>(Law::noise(shape, key), parameters_));
    else
        return std::apply([&](const auto&... p) { return Law::sample(shape, key, p...); }, parameters_);
}

template <Real T, class Law, std::size_t n, unsigned has>
Var<T> Density<T, Law, n, has>::rsample(const Shape& shape, const RandomKey& key) const
    requires((has & pathwise) != 0) {
    for (const Arg<T>& p : parameters_) check_sample_shape(Law::name, p.shape(), shape);
    if constexpr ((has & pathwise) == 0)
        return {};
    else if constexpr (requires { typename Law::Draw; })
        return law_terms<typename Law::Draw>("rsample", refs<T>(Law::noise(shape, key), parameters_),
                                             no_bounds<T, n + 1>);
    else
        return std::apply([&](const auto&... p) { return Law::rsample(shape, key, p...); }, parameters_);
}

template <Real T, class Law, std::size_t n, unsigned has>
Tensor<T> Density<T, Law, n, has>::mean() const {
    return std::apply([&](const auto&... p) { return scalar_map<T>(Law::name, shape(), Law::mean, p...); },
                      parameters_);
}

template <Real T, class Law, std::size_t n, unsigned has>
Tensor<T> Density<T, Law, n, has>::variance() const {
    return std::apply([&](const auto&... p) { return scalar_map<T>(Law::name, shape(), Law::variance, p...); },
                      parameters_);
}

template <Real T, class Law, std::size_t n, unsigned has>
Tensor<T> Density<T, Law, n, has>::cdf(const Tensor<T>& x) const {
    const Shape all = joint_shape(Law::name, x.shape(), parameters_);
    return std::apply([&](const auto&... p) { return scalar_map<T>(Law::name, all, Law::cdf, Arg<T>(x), p...); },
                      parameters_);
}

template <Real T, class Law, std::size_t n, unsigned has>
Var<T> Density<T, Law, n, has>::kl_to(const Density& q) const requires((has & divergence) != 0) {
    if constexpr ((has & divergence) == 0)
        return {};
    else
        return law_sum<typename Law::Kl>("kl", refs(parameters_, q.parameters_), no_bounds<T, 2 * n>);
}

template <Real T, class Law, std::size_t n, unsigned has>
Tensor<T> Density<T, Law, n, has>::kl_each_to(const Density& q) const requires((has & divergence) != 0) {
    if constexpr ((has & divergence) == 0)
        return {};
    else
        return law_each<typename Law::Kl>("kl", refs(parameters_, q.parameters_));
}

template <Real T, class Law, std::size_t n, unsigned has>
Shape Density<T, Law, n, has>::shape() const {
    return joint_shape(Law::node, Shape{}, parameters_);
}

// A distribution function below the support.
inline double zero_or_nan(double x) { return std::isnan(x) ? x : 0; }

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

// The float and double versions of a distribution; n and has as in its header. clang before 16 also makes the members
// whose `requires` does not hold: those return {}.
#define POLLEN_INSTANTIATE_DENSITY(Name, n, has)             \
    template class Density<float, Name##Law<float>, n, has>; \
    template class Density<double, Name##Law<double>, n, has>;
