#pragma once

#include <pollen/nn/distributions/density.hpp>

#include <concepts>
#include <span>

// A distribution of your own, from the formula of its density in plain numbers:
//
//     struct GumbelLaw {
//         static constexpr const char* name = "gumbel_lpdf";
//         static constexpr std::array parameters{Parameter{"mu"}, Parameter{"beta", Bound::positive}};
//
//         // log p(x), and its derivatives with respect to x, mu and beta in d[0], d[1] and d[2]
//         template <class T>
//         static T log_prob(T x, T mu, T beta, T* d);
//
//         // Optional: a draw, made of a random number u, uniform and between 0 and 1
//         static double draw(double u, double mu, double beta);
//     };
//     template <class T>
//     using Gumbel = OwnDensity<T, GumbelLaw>;
//
//     auto gumbel_lpdf(const auto& x, const auto& mu, const auto& beta) { return lpdf<Gumbel>(x, mu, beta); }
namespace pollen::distributions {

// An argument of the density: element i is data[i * step].
template <Real T>
struct Column {
    const T* data;
    std::int64_t step;
};

// The density as a function of columns: x, then the parameters. It writes log p to value, and the derivatives with
// respect to argument k to slopes[k], unless that is null.
template <Real T>
using LawOfColumns = void (*)(std::int64_t count, const Column<T>* args, T* value, T* const* slopes);

// What stands behind OwnDensity. The arguments broadcast as in NumPy.
template <Real T>
void check_own_parameters(const char* name, std::span<const Parameter> parameters, std::span<const ArgRef<T>> args);
template <Real T>
Var<T> own_terms(const char* name, std::span<const Parameter> parameters, LawOfColumns<T> law,
                 std::span<const ArgRef<T>> args);
template <Real T>
Tensor<T> own_terms_each(const char* name, LawOfColumns<T> law, std::span<const ArgRef<T>> args);
template <Real T>
Tensor<T> own_draws(const char* name, double (*draw)(double u, const double* parameters), const Shape& shape,
                    const RandomKey& key, std::span<const Arg<T>> parameters);

template <Real T, class Law>
class OwnDensity {
    static constexpr std::size_t n = Law::parameters.size();
    template <class F>
    static decltype(auto) with_indices(const F& f) {
        return [&]<std::size_t... k>(std::index_sequence<k...>)->decltype(auto) {
            return f.template operator()<k...>();
        }
        (std::make_index_sequence<n>());
    }

  public:
    template <class... P>
    requires(sizeof...(P) == n && (... && std::constructible_from<Arg<T>, P>)) explicit OwnDensity(P&&... parameters)
        : parameters_{Arg<T>(std::forward<P>(parameters))...} {
        with_indices([&]<std::size_t... k>() { check({parameters_[k]...}); });
    }

    // The sum over all elements, the elements as a node, and the elements of a tensor.
    Var<T> log_prob(const ArgRef<T>& x) const { return sum(log_prob_terms(x)); }
    Var<T> log_prob_terms(const ArgRef<T>& x) const {
        return own_terms<T>(Law::name, Law::parameters, columns, with(x));
    }
    Tensor<T> log_prob_each(const Tensor<T>& x) const { return own_terms_each<T>(Law::name, columns, with(x)); }
    // log_prob of a distribution made of these parameters, for once: x, then the parameters.
    static Var<T> lpdf(const std::array<ArgRef<T>, n + 1>& args) {
        with_indices([&]<std::size_t... k>() { check({args[k + 1]...}); });
        return sum(own_terms<T>(Law::name, Law::parameters, columns, args));
    }

    // Draws of the shape given, to which the parameters broadcast.
    Tensor<T> sample(const Shape& shape, const RandomKey& key) const requires requires { &Law::draw; }
    {
        const auto draw = [](double u, const double* p) {
            return with_indices([&]<std::size_t... k>() { return Law::draw(u, p[k]...); });
        };
        return own_draws<T>(Law::name, draw, shape, key, parameters_);
    }

    // The k-th parameter, in the order of the constructor.
    const Arg<T>& parameter(std::size_t k) const { return parameters_[k]; }

  private:
    static void check(const std::array<ArgRef<T>, n>& args) {
        check_own_parameters<T>(Law::name, Law::parameters, args);
    }
    std::array<ArgRef<T>, n + 1> with(const ArgRef<T>& x) const {
        return with_indices([&]<std::size_t... k>() { return std::array<ArgRef<T>, n + 1>{x, parameters_[k]...}; });
    }
    static void columns(std::int64_t count, const Column<T>* args, T* value, T* const* slopes) {
        const auto at = [args](std::size_t k, std::int64_t i) { return args[k].data[i * args[k].step]; };
        for (std::int64_t i = 0; i < count; ++i) {
            T d[n + 1];
            value[i] = with_indices([&]<std::size_t... k>() { return Law::log_prob(at(0, i), at(k + 1, i)..., d); });
            for (std::size_t k = 0; k <= n; ++k)
                if (slopes[k]) slopes[k][i] = d[k];
        }
    }

    std::array<Arg<T>, n> parameters_;
};

}  // namespace pollen::distributions
