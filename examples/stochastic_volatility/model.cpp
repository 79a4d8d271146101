#include "model.hpp"

#include "filter.hpp"

#include <pollen/autograd/math.hpp>
#include <pollen/nn/distributions.hpp>

#include <cmath>

using namespace pollen;

namespace {

// log p(s | sigma):   s_1 ~ N(0, 100),   s_i ~ N(s_{i-1}, sigma)
void walk(Model<double>& m, Var<double> s, Var<double> sigma) {
    const std::int64_t n = s.size();
    m.prior(normal_lpdf(slice(s, 0, 0, 1), 0, 100));
    const auto before = slice(s, 0, 0, n - 1), after = slice(s, 0, 1, n);
    m.prior(normal_lpdf(after, before, sigma));
}

Var<double> centred_path(Model<double>& m, Var<double> sigma, std::int64_t n) {
    const auto s = m.real("s", {n});
    walk(m, s, sigma);
    return s;
}

// s_i = s_{i-1} + sigma z_i
Var<double> path_of_innovations(Model<double>& m, Var<double> sigma, std::int64_t n) {
    const auto first = m.real("s_1", {1}), z = m.real("z", {n - 1});
    m.prior(normal_lpdf(first, 0, 100));
    m.prior(normal_lpdf(z, 0, 1));
    return m.quantity("s", cumsum(concat({first, sigma * z}), 0));
}

// Given sigma, the precision of s in the posterior is about that of the walk and a constant c on the diagonal, the
// mean curvature of -log p(r_i | s_i), which is 2 nu / (nu + 3), here at nu = 10. That matrix is tridiagonal, 2a + c on
// its diagonal and -a beside it, with a = 1 / sigma^2. It is B'B (but for the two ends) with
//
//     (B s)_i = d s_i - e s_{i-1},   d e = a,   d^2 + e^2 = 2a + c      so   d, e = (sqrt(4a + c) +- sqrt(c)) / 2
template <class Number>
struct Factor {
    Number d, e;
};
double square(double x) { return x * x; }
template <class Number>  // a double, or a Var
Factor<Number> factor_of(const Number& sigma) {
    using std::sqrt;
    constexpr double c = 2 * 10 / (10 + 3.0);
    const Number a = 1.0 / square(sigma), root = sqrt(4.0 * a + c);
    return {0.5 * (root + std::sqrt(c)), 0.5 * (root - std::sqrt(c))};
}

// z = B (s - level) has nearly the variance 1 and no correlations in the posterior, whatever sigma is. The way back:
//
//     s_i - level = e/d (s_{i-1} - level) + z_i / d,   log |ds/dz| = -n log d
Var<double> filtered_path(Model<double>& m, Var<double> sigma, std::int64_t n, double level, bool jacobian) {
    const auto z = m.real("z", {n});
    const auto [d, e] = factor_of(sigma);
    const auto scaled = z / d, keep = e / d;
    const auto s = m.quantity("s", filter(scaled, keep) + level);
    if (jacobian) m.prior(-static_cast<double>(n) * log(d));
    walk(m, s, sigma);
    return s;
}

Var<double> path(Form form, Model<double>& m, Var<double> sigma, std::int64_t n, double level) {
    switch (form) {
        case Form::centred:
            return centred_path(m, sigma, n);
        case Form::innovations:
            return path_of_innovations(m, sigma, n);
        case Form::filtered:
        case Form::no_jacobian:
            break;
    }
    return filtered_path(m, sigma, n, level, form == Form::filtered);
}

// What path() makes s of: log sigma, log nu and the coordinates of s.
Numbers coordinates(Form form, double sigma, double nu, const Numbers& s, double level) {
    const auto [d, e] = factor_of(sigma);
    Numbers theta{math::log(sigma), math::log(nu)};
    for (std::size_t i = 0; i < s.size(); ++i) {
        if (form == Form::centred) theta.push_back(s[i]);
        if (form == Form::innovations) theta.push_back(i == 0 ? s[0] : (s[i] - s[i - 1]) / sigma);
        if (form == Form::filtered || form == Form::no_jacobian)
            theta.push_back(d * (s[i] - level) - (i == 0 ? 0 : e * (s[i - 1] - level)));
    }
    return theta;
}

}  // namespace

ModelPotential<double> volatility(Form form, const Tensor<double>& returns) {
    return ModelPotential<double>([form, returns, level = level_of(returns)](Model<double>& m) {
        const auto sigma = m.positive("sigma"), nu = m.positive("nu");
        m.prior(exponential_lpdf(sigma, 10));
        m.prior(exponential_lpdf(nu, 0.1));
        const auto s = path(form, m, sigma, returns.size(), level);
        m.likelihood(student_t_lpdf(returns, nu, 0, exp(s)));
    });
}

Numbers start_of(Form form, const Tensor<double>& returns, double sigma) {
    const double level = level_of(returns);
    return coordinates(form, sigma, 10, Numbers(static_cast<std::size_t>(returns.size()), level), level);
}

PathScale path_scale(double sigma) {
    const auto [d, e] = factor_of(sigma);
    return {d, e};
}

double log_density_at_a_point(Form form, const Tensor<double>& returns) {
    Numbers s;
    for (std::int64_t i = 0; i < returns.size(); ++i) s.push_back(-4.5 + 0.5 * math::sin(static_cast<double>(i) / 20));
    return -volatility(form, returns).evaluate(coordinates(form, 0.1, 10, s, level_of(returns)), {}).total();
}
