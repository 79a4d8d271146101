#pragma once

#include <pollen/samplers/calibration/calibration.hpp>

#include <array>
#include <cmath>

// Models for tests by simulation, small enough for a billion evaluations: each has a few numbers without bounds, a
// prior and a likelihood that can be simulated, and the energy with its gradient written out.
namespace pollen::test {

// -log of uniform numbers: exponentials. Their sum has the law Gamma(shape, 1).
inline double draw_gamma(int shape, Random& random) {
    double sum = 0;
    for (int k = 0; k < shape; ++k) sum -= std::log1p(-random.uniform<double>());
    return sum;
}

// mu ~ N(0, 1),  sigma ~ Gamma(4, 4),  y_1, y_2, y_3 ~ N(mu, sigma).  x = (mu, log sigma)
//
//     U = mu^2 / 2 + 4 sigma - 3 log sigma - log sigma (the Jacobian) + 3 log sigma + sum (y_i - mu)^2 / (2 sigma^2)
struct MeanAndScale {
    static constexpr std::size_t size = 2;
    static std::vector<Quantity> quantities() { return {{"mu", {}, 0}, {"sigma", {}, 1}}; }

    static std::vector<double> prior(Random& random) {
        const double mu = random.normal<double>();
        return {mu, std::log(draw_gamma(4, random) / 4)};
    }

    MeanAndScale(std::span<const double> x, Random& random, bool with_jacobian = true)
        : jacobian(with_jacobian ? 1 : 0) {
        double y[n];
        for (double& v : y) mean += (v = random.normal(x[0], std::exp(x[1]))) / n;
        for (const double v : y) squares += (v - mean) * (v - mean);
    }
    double energy(std::span<const double> x, std::span<double> g) const {
        const double mu = x[0], sigma = std::exp(x[1]), precision = 1 / (sigma * sigma), away = mu - mean;
        const double rest = (squares + n * away * away) * precision;
        if (!g.empty()) {
            g[0] = mu + n * away * precision;
            g[1] = 4 * sigma + (n - 3 - jacobian) - rest;
        }
        return mu * mu / 2 + 4 * sigma + (n - 3 - jacobian) * x[1] + rest / 2;
    }
    static void values(std::span<const double> x, std::span<double> out) {
        out[0] = x[0];
        out[1] = std::exp(x[1]);
    }

    static constexpr int n = 3;
    double jacobian, mean = 0, squares = 0;
};

// mu ~ N(0, 1),  tau ~ half-normal(1),  z_j ~ N(0, 1),  y_j ~ N(mu + tau z_j, s_j), j = 1, 2, 3.  x = (mu, log tau, z)
//
//     U = mu^2 / 2 + tau^2 / 2 - log tau (the Jacobian) + z'z / 2 + sum_j (y_j - mu - tau z_j)^2 / (2 s_j^2)
struct Groups {
    static constexpr std::size_t size = 5;
    static constexpr double s[3] = {0.6, 0.9, 1.2};
    static std::vector<Quantity> quantities() { return {{"mu", {}, 0}, {"tau", {}, 1}, {"z", {3}, 2}}; }

    static std::vector<double> prior(Random& random) {
        std::vector<double> x(size);
        random.fill_normal(x);
        x[1] = std::log(std::abs(x[1]));
        return x;
    }

    Groups(std::span<const double> x, Random& random) {
        for (std::size_t j = 0; j < 3; ++j) y[j] = random.normal(x[0] + std::exp(x[1]) * x[2 + j], s[j]);
    }
    double energy(std::span<const double> x, std::span<double> g) const {
        const double mu = x[0], tau = std::exp(x[1]);
        double u = (mu * mu + tau * tau) / 2 - x[1], g_mu = mu, g_tau = tau;
        for (std::size_t j = 0; j < 3; ++j) {
            const double z = x[2 + j], precision = 1 / (s[j] * s[j]), away = mu + tau * z - y[j];
            u += (z * z + away * away * precision) / 2;
            g_mu += away * precision;
            g_tau += away * precision * z;
            if (!g.empty()) g[2 + j] = z + away * precision * tau;
        }
        if (!g.empty()) {
            g[0] = g_mu;
            g[1] = g_tau * tau - 1;
        }
        return u;
    }
    static void values(std::span<const double> x, std::span<double> out) {
        std::copy(x.begin(), x.end(), out.begin());
        out[1] = std::exp(x[1]);
    }

    std::array<double, 3> y;
};

// Logistic regression on two inputs that are almost the same:  b ~ N(0, 1.5^2),  y_i = 1 with probability s(a_i' b)
//
//     U = b'b / (2 * 1.5^2) + sum_i log(1 + exp(t_i)),    t_i = -a_i' b where y_i = 1, and a_i' b otherwise
struct Classes {
    static constexpr std::size_t size = 3, n = 6;
    static constexpr double precision = 1 / (1.5 * 1.5);
    static constexpr double a[n][3] = {{1, -1.6, -1.5}, {1, -1, -0.8}, {1, -0.2, -0.5},
                                       {1, 0.3, 0.6},   {1, 0.9, 1.2}, {1, 1.8, 1.5}};
    static std::vector<Quantity> quantities() { return {{"b", {3}, 0}}; }

    static std::vector<double> prior(Random& random) {
        std::vector<double> b(size);
        random.fill_normal(b, 0, 1.5);
        return b;
    }

    Classes(std::span<const double> b, Random& random) {
        for (std::size_t i = 0; i < n; ++i)
            sign[i] = random.uniform<double>() < 1 / (1 + std::exp(-dot(i, b))) ? -1 : 1;
    }
    double energy(std::span<const double> b, std::span<double> g) const {
        double u = 0, slope[3] = {};
        for (std::size_t k = 0; k < 3; ++k) u += b[k] * b[k] * precision / 2;
        for (std::size_t i = 0; i < n; ++i) {
            const double t = sign[i] * dot(i, b), e = std::exp(-std::abs(t));
            u += std::max(t, 0.0) + std::log1p(e);
            const double p = sign[i] * (t > 0 ? 1 : e) / (1 + e);
            for (std::size_t k = 0; k < 3; ++k) slope[k] += p * a[i][k];
        }
        for (std::size_t k = 0; k < g.size(); ++k) g[k] = b[k] * precision + slope[k];
        return u;
    }
    static void values(std::span<const double> b, std::span<double> out) { std::copy(b.begin(), b.end(), out.begin()); }

    static double dot(std::size_t i, std::span<const double> b) {
        return a[i][0] * b[0] + a[i][1] * b[1] + a[i][2] * b[2];
    }
    std::array<double, n> sign;
};

// One of these as a potential.
template <class M>
class SmallPotential final : public Potential<double> {
  public:
    explicit SmallPotential(const M& model) : model_(model) {}

    std::unique_ptr<Potential<double>> clone() const override { return std::make_unique<SmallPotential>(*this); }
    std::int64_t size() const override { return M::size; }
    std::int64_t items() const override { return 0; }
    Energy evaluate(std::span<const double> x, std::span<double> g) override { return {0, model_.energy(x, g)}; }
    Energy evaluate(std::span<const double> x, std::span<double> g, std::span<const std::int64_t>) override {
        return {0, model_.energy(x, g)};
    }
    const std::vector<Quantity>& quantities() const override {
        static const std::vector<Quantity> all = M::quantities();
        return all;
    }
    void values(std::span<const double> x, std::span<double> out) override { M::values(x, out); }
    const std::vector<Quantity>& blocks() const override { return quantities(); }
    std::string describe() const override { return "small"; }

  private:
    M model_;
};

// `more` goes to the model's constructor.
template <class M, class... More>
Simulation<double> simulation_of(More... more) {
    return {M::prior, [more...](std::span<const double> x, Random& random) -> std::unique_ptr<Potential<double>> {
                return std::make_unique<SmallPotential<M>>(M(x, random, more...));
            }};
}

// Hamiltonian Monte Carlo in its plainest form, with a diagonal M^-1, partial refreshment and faults to be found.
enum class Fault {
    none,
    always_accepts,
    half_gradient,    // half of it in the kick that closes a leapfrog step, and all is accepted
    forgets_kinetic,  // accepts by U alone, without the ratio of the proposals' densities
    does_not_turn,    // keeps its direction where a proposal is rejected
    unit_momentum,    // r ~ N(0, 1), not N(0, M)
};

struct PlainHmc {
    double step_size = 0.1;
    int steps = 1;
    double alpha = 0;
    std::vector<double> inverse_metric;
    Fault fault = Fault::none;

    std::unique_ptr<Chain<double>> begin(std::unique_ptr<Potential<double>> potential, ChainStart<double> start) const;
    std::string describe() const { return "PlainHmc"; }
};

class PlainHmcChain final : public Chain<double> {
  public:
    PlainHmcChain(PlainHmc options, std::unique_ptr<Potential<double>> potential, ChainStart<double> start)
        : o_(std::move(options)), potential_(std::move(potential)), start_(std::move(start)), q_(start_.position) {
        p_.resize(q_.size());
        g_.resize(q_.size());
        u_ = potential_->evaluate(q_, g_).total();
    }

    StepStatistics step() override {
        Random random = random_of(start_.seed, start_.chain, steps_);
        const double keep = steps_ == 0 ? 0 : o_.alpha;
        for (std::size_t k = 0; k < q_.size(); ++k) {
            const double sd = o_.fault == Fault::unit_momentum ? 1 : 1 / std::sqrt(o_.inverse_metric[k]);
            p_[k] = keep * p_[k] + std::sqrt(1 - keep * keep) * sd * random.normal<double>();
        }
        std::vector<double> q = q_, p = p_, g = g_;
        double u = u_;
        const double closing = o_.fault == Fault::half_gradient ? 0.5 : 1;
        for (int t = 0; t < o_.steps; ++t) {
            for (std::size_t k = 0; k < q.size(); ++k) {
                p[k] -= o_.step_size / 2 * g[k];
                q[k] += o_.step_size * o_.inverse_metric[k] * p[k];
            }
            u = potential_->evaluate(q, g).total();
            for (std::size_t k = 0; k < q.size(); ++k) p[k] -= o_.step_size / 2 * closing * g[k];
        }
        double error = u - u_;
        if (o_.fault != Fault::forgets_kinetic) error += kinetic(p) - kinetic(p_);
        const bool always = o_.fault == Fault::always_accepts || o_.fault == Fault::half_gradient;
        if (std::isfinite(u) && (always || random.uniform<double>() < std::exp(-error))) {
            q_ = q, p_ = p, g_ = g, u_ = u;
        } else if (o_.fault != Fault::does_not_turn) {
            for (double& x : p_) x = -x;
        }
        ++steps_;
        return {};
    }
    std::span<const double> position() const override { return q_; }
    std::int64_t steps() const override { return steps_; }
    void visit(StateVisitor&) override {}

  private:
    double kinetic(const std::vector<double>& p) const {
        double sum = 0;
        for (std::size_t k = 0; k < p.size(); ++k) sum += p[k] * p[k] * o_.inverse_metric[k] / 2;
        return sum;
    }

    PlainHmc o_;
    std::unique_ptr<Potential<double>> potential_;
    ChainStart<double> start_;
    std::vector<double> q_, p_, g_;
    double u_ = 0;
    std::int64_t steps_ = 0;
};

inline std::unique_ptr<Chain<double>> PlainHmc::begin(std::unique_ptr<Potential<double>> potential,
                                                      ChainStart<double> start) const {
    return std::make_unique<PlainHmcChain>(*this, std::move(potential), std::move(start));
}

}  // namespace pollen::test
