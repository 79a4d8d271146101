// SGD as a sampler: steps that do not shrink, and the noise of the batches as the only noise.
//
//     ./run example constant_sgd
//
// SGD with a step that stays never comes to rest: it walks about the minimum, and the smaller the batch, the farther.
// Which step makes that walk most like the posterior? Along theta -= E/2 grad U~, with L the curvature of U and V the
// covariance of grad U~, the answers of Mandt, Hoffman and Blei (Stochastic gradient descent as approximate Bayesian
// inference, 2017; their step is e N / 2 on the mean loss) are
//
//     scalar E = 4 d / Tr V            diagonal E_kk = 4 / V_kk            full E = 4 V^-1
//
// and at any step the walk has the covariance S that solves
//
//     S = M S M' + E V E' / 4        M = I - E L / 2
//
// Here theta is the mean of 1000 points in the plane, for which we assume a normal law of precision A, so that L = 1000
// A. The points have another covariance C than A^-1, so V = N^2/n (1 - n/N) A C A and L do not commute. If they did,
// the three could not be told apart by the directions of their ellipses: where the model is right, V is a multiple of L
// already. The points lie on an ellipse, which makes their covariance C to all digits, and V and S with it.
//
// Expected output: the table has each form as it was measured beside its law. The divergence KL[walk || posterior] is
// 1.09 for the scalar, 0.81 for the diagonal and 0.002 for the full step, which alone leans the way the posterior does:
// correlations 0.54, 0.47 and -0.745, of the posterior -0.735. Twice the best scalar step, or half of it, is worse.
#include "common/example.hpp"
#include "common/figure.hpp"
#include "common/table.hpp"

#include <pollen/autograd/math.hpp>
#include <pollen/data/sets/dataset.hpp>
#include <pollen/nn/distributions/multivariate_normal.hpp>
#include <pollen/nn/potentials/model.hpp>
#include <pollen/samplers/minibatch/constant_sgd.hpp>
#include <pollen/samplers/run/run_chains.hpp>

#include <array>
#include <cmath>
#include <cstdio>
#include <functional>
#include <numbers>

using namespace pollen;
using Form = ConstantSgd::Form;

// ---- Matrices of two rows and columns. ----

struct Matrix {
    double aa = 0, ab = 0, ba = 0, bb = 0;

    double determinant() const { return aa * bb - ab * ba; }
    double trace() const { return aa + bb; }
    Matrix transposed() const { return {aa, ba, ab, bb}; }
};
Matrix operator*(const Matrix& x, const Matrix& y) {
    return {x.aa * y.aa + x.ab * y.ba, x.aa * y.ab + x.ab * y.bb, x.ba * y.aa + x.bb * y.ba, x.ba * y.ab + x.bb * y.bb};
}
Matrix operator*(double c, const Matrix& x) { return {c * x.aa, c * x.ab, c * x.ba, c * x.bb}; }
Matrix operator+(const Matrix& x, const Matrix& y) { return {x.aa + y.aa, x.ab + y.ab, x.ba + y.ba, x.bb + y.bb}; }
Matrix inverse(const Matrix& x) { return (1 / x.determinant()) * Matrix{x.bb, -x.ab, -x.ba, x.aa}; }
// The lower triangular R with R R' = x.
Matrix cholesky(const Matrix& x) {
    const double a = std::sqrt(x.aa), b = x.ba / a;
    return {a, 0, b, std::sqrt(x.bb - b * b)};
}

// ---- The posterior and the noise. ----

constexpr std::int64_t items = 1000, batch = 10;
constexpr Matrix assumed_precision{1.5, 0.9, 0.9, 1}, covariance_of_items{1, -0.3, -0.3, 0.3};

Matrix curvature() { return static_cast<double>(items) * assumed_precision; }
Matrix posterior() { return inverse(curvature()); }

// V = N^2/n (1 - n/N) A C A
Matrix gradient_noise() {
    const auto big = static_cast<double>(items), small = static_cast<double>(batch);
    return (big * big / small * (1 - small / big)) * (assumed_precision * covariance_of_items * assumed_precision);
}

// Points on an ellipse with the mean 0 and the sample covariance C.
Tensor<double> make_items() {
    Tensor<double> points = Tensor<double>::zeros({items, 2});
    const Matrix r = cholesky(covariance_of_items);
    const double radius = std::sqrt(2.0 * (items - 1) / items);
    for (std::int64_t i = 0; i < items; ++i) {
        const double angle = 2 * std::numbers::pi * static_cast<double>(i) / items;
        points.mutable_at(i, 0) = radius * r.aa * math::cos(angle);
        points.mutable_at(i, 1) = radius * (r.ba * math::cos(angle) + r.bb * math::sin(angle));
    }
    return points;
}

// x_i ~ N(theta, A^-1), and a flat prior
ModelPotential<double> make_potential() {
    const Dataset<double> data{make_items()};
    const Matrix r = cholesky(inverse(assumed_precision));
    const Tensor<double> root{{r.aa, r.ab}, {r.ba, r.bb}};
    return ModelPotential<double>(
        [=](Model<double>& m) {
            const auto theta = m.real("theta", {2});
            m.likelihood(multi_normal_cholesky_lpdf(data.take(m.batch()).inputs, theta, root));
        },
        items);
}

// ---- Laws, and how far they are from the posterior. ----

Matrix best_step(Form form, const Matrix& v) {
    if (form == Form::full) return 4 * inverse(v);
    if (form == Form::diagonal) return {4 / v.aa, 0, 0, 4 / v.bb};
    return {8 / v.trace(), 0, 0, 8 / v.trace()};
}

// S = Q + M Q M' + M^2 Q M'^2 + ..., the sum doubled in length again and again; Q = E V E' / 4
Matrix law(const Matrix& step, const Matrix& v) {
    Matrix m = Matrix{1, 0, 0, 1} + -0.5 * (step * curvature()), s = 0.25 * (step * v * step.transposed());
    for (int k = 0; k < 40; ++k) {
        s = s + m * s * m.transposed();
        m = m * m;
    }
    return s;
}

// KL[N(0, S) || posterior] = (Tr L S - d - log det L S) / 2
double divergence(const Matrix& s) {
    const Matrix ratio = curvature() * s;
    return (ratio.trace() - 2 - math::log(ratio.determinant())) / 2;
}

// ---- Measurements. ----

// The covariance of the draws of all chains, or of all but one.
Matrix covariance_of(const Draws& draws, std::int64_t without = -1) {
    const Tensor<double> theta = draws["theta"];
    double count = 0, a = 0, b = 0;
    Matrix s;
    for (std::int64_t c = 0; c < theta.shape()[0]; ++c)
        for (std::int64_t k = 0; c != without && k < theta.shape()[1]; ++k) {
            const double x = theta(c, k, 0), y = theta(c, k, 1);
            ++count;
            a += x;
            b += y;
            s = s + Matrix{x * x, x * y, x * y, y * y};
        }
    a /= count;
    b /= count;
    return (1 / count) * s + Matrix{-a * a, -a * b, -a * b, -b * b};
}

// A number that depends on the covariance, with its standard error by leaving out one chain after the other.
Cell measured(const Draws& draws, int digits, const std::function<double(const Matrix&)>& number) {
    const auto chains = static_cast<std::int64_t>(draws.chains.size());
    const auto k = static_cast<double>(chains);
    double mean = 0, squares = 0;
    for (std::int64_t c = 0; c < chains; ++c) {
        const double value = number(covariance_of(draws, c));
        mean += value / k;
        squares += value * value / k;
    }
    return {number(covariance_of(draws)), std::sqrt((k - 1) * std::max(0.0, squares - mean * mean)), digits};
}

double correlation(const Matrix& s) { return s.ab / std::sqrt(s.aa * s.bb); }

// ---- Figures. ----

// The points two standard deviations from 0.
void ellipse(Panel& panel, const std::string& name, const Matrix& s) {
    std::vector<double> x, y;
    const Matrix r = cholesky(s);
    for (int k = 0; k <= 100; ++k) {
        const double angle = 2 * std::numbers::pi * k / 100;
        x.push_back(2 * r.aa * math::cos(angle));
        y.push_back(2 * (r.ba * math::cos(angle) + r.bb * math::sin(angle)));
    }
    panel.line(name, x, y);
}

void draw_walk(Panel& panel, const Draws& draws, const Matrix& s) {
    const Tensor<double> theta = draws["theta"];
    std::vector<double> x, y;
    for (std::int64_t k = 0; k < std::min<std::int64_t>(100, theta.shape()[1]); ++k)
        for (std::int64_t c = 0; c < theta.shape()[0]; ++c) {
            x.push_back(theta(c, k, 0));
            y.push_back(theta(c, k, 1));
        }
    panel.points("SGD", x, y);
    ellipse(panel, "its law", s);
    ellipse(panel, "posterior", posterior());
    panel.set("set xrange [-0.15:0.15]");
    panel.set("set yrange [-0.15:0.15]");
}

int main(int argc, char** argv) {
    Example example("Constant SGD: the scalar, diagonal and full steps that are nearest to the posterior.", "1 minute");
    std::int64_t draws = 5000;
    example.option("--draws", draws, 300, "draws of each of eight chains, one in 100 steps", 100);
    return example.run(argc, argv, [&] {
        const ModelPotential<double> potential = make_potential();
        const Matrix v = gradient_noise();
        std::uint64_t walks = 0;  // each has batches of its own
        const auto walk = [&](const std::string& name, Form form, const GradientNoise& noise) {
            const ConstantSgd sampler{.batch = batch, .form = form, .noise = noise};
            return unless_stopped(run_chains(potential, sampler,
                                             {.chains = 8,
                                              .warmup = 2000,
                                              .draws = draws,
                                              .thin = 100,
                                              .seed = 100 * example.seed + walks++,
                                              .radius = 0.1,
                                              .directory = example.kept(name),
                                              .resume = true,
                                              .name = name}));
        };
        // The optimal step is as long as 1 / V, so that V / c makes it c times as long.
        const auto known = [&](double c) { return GradientNoise({v.aa / c, v.ab / c, v.ba / c, v.bb / c}); };

        ResultTable table(
            {"step", "sd 1", "sd 1, law", "sd 2", "sd 2, law", "correlation", "correlation, law", "KL", "KL, law"});
        const auto row = [&](const std::string& name, const Draws& found, const Matrix& s) {
            table.row({name,
                       measured(found, 4, [](const Matrix& m) { return std::sqrt(m.aa); }),
                       {std::sqrt(s.aa), 4},
                       measured(found, 4, [](const Matrix& m) { return std::sqrt(m.bb); }),
                       {std::sqrt(s.bb), 4},
                       measured(found, 3, correlation),
                       {correlation(s), 3},
                       measured(found, 4, divergence),
                       {divergence(s), 4}});
        };
        std::vector<double> at, low, high, middle;
        const auto add_point = [&](double c, const Draws& found) {
            const Cell kl = measured(found, 4, divergence);
            at.push_back(c);
            middle.push_back(kl.value);
            low.push_back(kl.value - 2 * kl.error);
            high.push_back(kl.value + 2 * kl.error);
        };
        Figure figure(example.path("constant_sgd"), 2);
        figure.panel_size(520, 420);
        const std::array<std::pair<const char*, Form>, 3> forms{
            {{"scalar", Form::scalar}, {"diagonal", Form::diagonal}, {"full", Form::full}}};
        for (const auto& [name, form] : forms) {
            const Draws found = walk(name, form, known(1));
            const Matrix s = law(best_step(form, v), v);
            row(name, found, s);
            if (form == Form::scalar) add_point(1, found);
            draw_walk(figure.panel(std::string("SGD with a ") + name + " step", "theta 1", "theta 2"), found, s);
        }
        row("full, V estimated", walk("estimated", Form::full, GradientNoise::estimated()),
            law(best_step(Form::full, v), v));

        for (const double c : {0.25, 0.5, 2.0, 4.0}) {
            char name[40];
            std::snprintf(name, sizeof name, "scalar times %g", c);
            const Draws found = walk(name, Form::scalar, known(c));
            row(name, found, law(c * best_step(Form::scalar, v), v));
            add_point(c, found);
        }
        const Matrix s = posterior();
        table.row(
            {"posterior", "", {std::sqrt(s.aa), 4}, "", {std::sqrt(s.bb), 4}, "", {correlation(s), 3}, "", {0, 4}});
        table.show();
        table.save(example.path("constant_sgd"));

        std::vector<double> times, exact;
        for (double c = 0.125; c <= 8.01; c *= 1.1) {
            times.push_back(c);
            exact.push_back(divergence(law(c * best_step(Form::scalar, v), v)));
        }
        Panel& steps = figure.panel("Scalar steps of other lengths", "step / best step", "KL[walk || posterior], nats");
        steps.line("law", times, exact);
        steps.intervals("SGD, two standard errors", at, middle, low, high);
        steps.set("set logscale x 2");
        steps.set("set yrange [0:4]");
        figure.save();

        std::printf(
            "\nAll three walks have the covariance that their law says. A number for a step can make the walk as large "
            "as\n"
            "the posterior, not turn it: noise and curvature have different axes. A number for each coordinate "
            "stretches\n"
            "it. The full matrix makes its ellipse the posterior's, but for a percent or two that come with steps of\n"
            "finite length, and it does so with an estimated V, too. It has to be told V, which a network has no room\n"
            "for; and the law holds where U is quadratic.\n");
    });
}
