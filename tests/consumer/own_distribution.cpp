// A distribution of your own: Gumbel's. With z = (x - mu) / beta,
//     log p(x) = -z - exp(-z) - log beta
#include <pollen/autograd/gradcheck.hpp>
#include <pollen/nn/distributions/own_density.hpp>

#include <cmath>
#include <iostream>

using namespace pollen;

struct GumbelLaw {
    static constexpr const char* name = "gumbel_lpdf";
    static constexpr std::array parameters{distributions::Parameter{"mu"},
                                           distributions::Parameter{"beta", distributions::Bound::positive}};

    // log p(x), and its derivatives with respect to x, mu and beta
    template <class T>
    static T log_prob(T x, T mu, T beta, T* d) {
        const T z = (x - mu) / beta, e = std::exp(-z);
        d[0] = (e - 1) / beta;
        d[1] = -d[0];
        d[2] = (z - z * e - 1) / beta;
        return -z - e - std::log(beta);
    }

    // A draw, made of a uniform random number
    static double draw(double u, double mu, double beta) { return mu - beta * std::log(-std::log(u)); }
};

template <class T>
using Gumbel = distributions::OwnDensity<T, GumbelLaw>;

auto gumbel_lpdf(const auto& x, const auto& mu, const auto& beta) { return distributions::lpdf<Gumbel>(x, mu, beta); }

int main() {
    // SciPy: gumbel_r.logpdf([0.5, 3, -1], 1, 2).sum()
    const Tensor<double> x{0.5, 3, -1};
    Tape<double> tape;
    const double sum = gumbel_lpdf(x, 1, tape.variable(Tensor<double>::scalar(2))).item();
    if (std::abs(sum + 6.1996282279980655) > 1e-13) return 1;

    // Columns, rows and numbers broadcast.
    const auto f = [](std::span<const Var<double>> v) { return gumbel_lpdf(v[0], v[1], v[2]); };
    const GradcheckResult check = gradcheck(f, {x, x.reshaped({3, 1}), Tensor<double>::scalar(2)});
    if (!check) return std::cerr << check.message << "\n", 1;

    // The mean is mu + 0.5772 beta; that of 100,000 draws has a standard error of 0.004 beta.
    const Tensor<double> draws = Gumbel<double>(1, 2).sample({100'000}, {.seed = 1});
    double mean = 0;
    for (const double draw : draws) mean += draw / 100'000;
    std::cout << "a distribution of your own: the mean of draws is " << mean << "\n";
    return std::abs(mean - 2.1544) < 0.04 ? 0 : 1;
}
