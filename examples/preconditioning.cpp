// Preconditioning: a long narrow valley, and a step that knows its shape.
//
//     ./run example preconditioning
//
// How much do SGD and SGLD gain if every direction has a step of its own? The valley is U = (x^2 + 100 y^2) / 2, or the
// same turned by 45 degrees. Its curvatures are 1 and 100: a rate that is small enough for y is slow for x. With a
// matrix G the steps are
//
//     theta -= e G grad U                                        descent
//     theta -= e/2 G grad U, theta += N(0, e G)                  SGLD (Psgld)
//
// which is the same as plain steps in the coordinates G^-1/2 theta. If G is the inverse of the curvatures, the valley
// is round there (Dauphin, de Vries & Bengio, Equilibrated adaptive learning rates for non-convex optimization, 2015).
// RMSprop's G (Li, Chen, Carlson & Carin, Preconditioned stochastic gradient Langevin dynamics, 2016) is learned on the
// way: 1 / (lambda + the root mean square of the gradient), one number for each coordinate.
//
// Expected output: two tables and the figure preconditioning. Plain descent needs 346 steps until U is a millionth, and
// 10 with G = 1, 1/100. With that G, SGLD has 100 times as many effective draws along the valley. In the turned valley
// no diagonal G is of use, and a full matrix is worth as much as before. RMSprop's G is worth a factor of 9 here: the
// gradients of draws go with the root of the curvature.
#include "common/example.hpp"
#include "common/figure.hpp"
#include "common/stage.hpp"
#include "common/table.hpp"

#include <pollen/autograd/math.hpp>
#include <pollen/nn/potentials/function_potential.hpp>
#include <pollen/samplers/full_batch/kinetic_langevin.hpp>
#include <pollen/samplers/minibatch/psgld.hpp>
#include <pollen/samplers/minibatch/sgld.hpp>
#include <pollen/samplers/run/run_chains.hpp>

#include <array>
#include <cmath>
#include <cstdio>
#include <limits>
#include <numbers>
#include <string>
#include <vector>

using namespace pollen;

using Point = std::array<double, 2>;

constexpr double stiff = 100;  // the curvature across the valley; along it is 1

// The valley, turned by 45 degrees or not.
struct Valley {
    bool turned = false;
    bool slip = false;  // the broken twin: the potential has the slope G grad U

    // From coordinates to those along and across the valley, and back: the same turn and reflection.
    Point turn(const Point& x) const {
        const double r = std::numbers::sqrt2 / 2;
        return turned ? Point{r * (x[0] + x[1]), r * (x[0] - x[1])} : x;
    }
    double energy(const Point& x) const {
        const Point v = turn(x);
        return (v[0] * v[0] + stiff * v[1] * v[1]) / 2;
    }
    Point gradient(const Point& x) const {
        const Point v = turn(x);
        return turn({v[0], stiff * v[1]});
    }
    FunctionPotential<double> potential() const {
        FunctionPotential<double> u({"x", "y"}, [valley = *this](std::span<const double> x, std::span<double> slope) {
            const Point at{x[0], x[1]}, g = valley.gradient(at);
            if (!slope.empty()) {
                slope[0] = g[0];
                slope[1] = valley.slip ? g[1] / stiff : g[1];
            }
            return valley.energy(at);
        });
        return u;
    }
    // The inverse of the curvatures, row by row.
    std::vector<double> inverse() const {
        const Point a = turn({1, 0}), b = turn({0, 1});  // its columns are turned, scaled and turned back
        const Point first = turn({a[0], a[1] / stiff}), second = turn({b[0], b[1] / stiff});
        return {first[0], first[1], second[0], second[1]};
    }
};

// theta -= rate G grad U, with G row by row, from a place on the slope of the valley.
std::vector<Point> descend(const Valley& valley, double rate, const std::vector<double>& G, std::int64_t steps) {
    std::vector<Point> path{valley.turn({10, 1})};
    for (std::int64_t t = 0; t < steps; ++t) {
        const Point x = path.back(), g = valley.gradient(x);
        path.push_back({x[0] - rate * (G[0] * g[0] + G[1] * g[1]), x[1] - rate * (G[2] * g[0] + G[3] * g[1])});
    }
    return path;
}

// ---- 1. Descent. ----

struct Descent {
    std::string name;
    Valley valley;
    double rate;
    std::vector<double> G;
    double keeps;  // what a step leaves of the slowest part, by its law
};

void descent(const Example& example) {
    std::printf("1. Steps of descent until U is a millionth\n");
    const double best = 2 / (1 + stiff), keeps = (stiff - 1) / (stiff + 1);
    const std::vector<double> one{1, 0, 0, 1}, diagonal{1, 0, 0, 1 / stiff}, full = Valley{true}.inverse();
    // In the turned valley both numbers on the diagonal of the curvature are this mean, so that a diagonal G is a
    // number.
    constexpr double mean = (1 + stiff) / 2;
    ResultTable table({"valley", "steps", "by the law"});
    for (const Descent& d :
         {Descent{"plain", {}, best, one, keeps}, Descent{"G = 1 / curvature", {}, 0.5, diagonal, 0.5},
          Descent{"turned, plain", {true}, best, one, keeps},
          Descent{"turned, diagonal G", {true}, best * mean, {1 / mean, 0, 0, 1 / mean}, keeps},
          Descent{"turned, full G", {true}, 0.5, full, 0.5}}) {
        const std::vector<Point> path = descend(d.valley, d.rate, d.G, 2000);
        std::size_t steps = 0;
        while (steps + 1 < path.size() && d.valley.energy(path[steps]) > 1e-6 * d.valley.energy(path[0])) ++steps;
        table.row({d.name, {static_cast<double>(steps), 0}, {std::ceil(math::log(1e-3) / math::log(d.keeps)), 0}});
    }
    table.show();
    table.save(example.path("preconditioning_descent"));
}

// ---- 2. Draws. ----

void sampling(const Example& example, std::int64_t draws, bool slip) {
    std::printf(
        "\n2. Draws: the variances along and across the valley, over the exact ones, and what draws are worth\n");
    ResultTable table(
        {"sampler", "along", "law along", "across", "law across", "effective draws along, per 1000 gradients"});
    // Plain steps go as far as across the valley they may: e stiff = 0.5, and the same in all other units.
    constexpr double product = 0.5, coarse = 1 / (1 - product / 4), fine = 1 / (1 - product / stiff / 4);
    const auto show = [&](const std::string& name, const Valley& valley, const auto& sampler, double law_along,
                          double law_across) {
        const Found run = stage(example, name, [&] {
            const Draws found = unless_stopped(
                run_chains(valley.potential(), sampler,
                           {.warmup = draws / 10, .draws = draws, .seed = example.seed, .show = Show::nothing}));
            Tensor<double> along = found["x"], over = along;
            const Tensor<double> y = found["y"];
            for (std::int64_t i = 0; i < along.size(); ++i) {
                const Point v = valley.turn({along.data()[i], y.data()[i]});
                along.mutable_data()[i] = v[0];
                over.mutable_data()[i] = v[1];
            }
            const double worth = ess_mean(along) / static_cast<double>(along.size());
            for (double& v : along.mutable_values()) v *= v;
            for (double& v : over.mutable_values()) v *= v * stiff;
            const QuantitySummary a = summarise(Chains(along)), b = summarise(Chains(over));
            return Found{{"along", {a.mean, a.mcse}}, {"across", {b.mean, b.mcse}}, {"worth", {worth}}};
        });
        const Tensor<double>&a = run.at("along"), &b = run.at("across");
        table.row({name,
                   {a(0), a(1), 3},
                   law_along > 0 ? Cell(law_along, 3) : Cell(""),
                   {b(0), b(1), 3},
                   law_across > 0 ? Cell(law_across, 3) : Cell(""),
                   {1000 * run.at("worth").item(), 2}});
    };
    const Valley straight, turned{true};
    show("SGLD", straight, Sgld{.step_size = product / stiff}, fine, coarse);
    if (slip)
        show("G = 1 / curvature", Valley{.slip = true}, Sgld{.step_size = product}, coarse, coarse);
    else
        show("G = 1 / curvature", straight,
             Psgld{.step_size = product, .preconditioner = Preconditioner::fixed({1, 1 / stiff})}, coarse, coarse);
    // On average its G is 1 / (root mean square of the gradient): 1 along the valley, 1/10 across it.
    show("RMSprop's G", straight,
         Psgld{.step_size = product / std::sqrt(stiff), .preconditioner = Preconditioner::rmsprop(0.999)}, 0, 0);
    show("turned, SGLD", turned, Sgld{.step_size = product / stiff}, fine, coarse);
    show("turned, RMSprop's G", turned,
         Psgld{.step_size = product / std::sqrt(stiff) * std::sqrt(0.505),
               .preconditioner = Preconditioner::rmsprop(0.999)},
         0, 0);
    // Psgld has diagonal matrices alone; kinetic Langevin dynamics with an infinite friction has a whole one.
    show("turned, full G", turned,
         KineticLangevin{.step_size = std::sqrt(product),
                         .friction = std::numeric_limits<double>::infinity(),
                         .metric = MetricKind::dense,
                         .inverse_metric = turned.inverse()},
         1, 1);
    table.show();
    table.save(example.path("preconditioning"));
}

// ---- The figure. ----

void draw_valley(Panel& panel, double curvature, const std::vector<Point>& path, const char* name, double scale) {
    std::vector<double> x, y, u;
    for (int k = -60; k <= 60; ++k) {
        x.push_back(0.24 * k);
        y.push_back(0.24 * k / scale);
    }
    for (const double b : y)
        for (const double a : x) u.push_back((a * a + curvature * b * b) / 2);
    panel.colour_of("data");
    panel.contours("", x, y, u, {2, 8, 18, 32, 50, 72, 98});
    std::vector<double> at, over;
    for (const Point& p : path) {
        at.push_back(p[0]);
        over.push_back(p[1]);
    }
    panel.line(name, at, over);
    panel.points("", at, over);
    panel.set("set xrange [-12:12]");
    char text[60];
    const double most = scale > 1 ? 3 : 12;  // the narrow one not stretched as far as it would fit
    std::snprintf(text, sizeof text, "set yrange [%g:%g]", -most, most);
    panel.set(text);
}

std::vector<Point> walk(const Psgld& sampler, std::uint64_t seed) {
    const auto chain = sampler.begin<double>(std::make_unique<FunctionPotential<double>>(Valley{}.potential()),
                                             ChainStart<double>{.position = {0, 0}, .seed = seed});
    std::vector<Point> path{{0, 0}};
    for (int t = 0; t < 200; ++t) {
        chain->step();
        path.push_back({chain->position()[0], chain->position()[1]});
    }
    return path;
}

void draw(const Example& example) {
    Figure figure(example.path("preconditioning"), 2);
    const std::vector<double> one{1, 0, 0, 1}, diagonal{1, 0, 0, 1 / stiff};
    const std::vector<Point> plain = descend({}, 2 / (1 + stiff), one, 20), helped = descend({}, 0.5, diagonal, 20);
    draw_valley(figure.panel("Curvatures 1 and 100", "x", "y"), stiff, plain, "gradient descent, 20 steps", 10);
    std::vector<Point> round;
    for (const Point& p : helped) round.push_back({p[0], std::sqrt(stiff) * p[1]});
    draw_valley(figure.panel("The same with G = 1 / curvature", "x", "10 y"), 1, round,
                "gradient descent with G, 20 steps", 1);
    for (const bool helps : {false, true}) {
        const Psgld sampler{
            .step_size = helps ? 0.5 : 0.5 / stiff,
            .preconditioner = Preconditioner::fixed(helps ? std::vector{1, 1 / stiff} : std::vector{1.0, 1.0})};
        const std::vector<Point> path = walk(sampler, example.seed);
        Panel& panel = figure.panel(helps ? "200 steps with G = 1 / curvature" : "200 steps of SGLD", "x", "y");
        std::vector<double> ring_x, ring_y, x, y;
        for (int k = 0; k <= 100; ++k) {
            ring_x.push_back(2 * math::cos(2 * std::numbers::pi * k / 100));
            ring_y.push_back(0.2 * math::sin(2 * std::numbers::pi * k / 100));
        }
        for (const Point& p : path) {
            x.push_back(p[0]);
            y.push_back(p[1]);
        }
        panel.line(helps ? "pSGLD" : "SGLD", x, y);
        panel.line("posterior, two sds", ring_x, ring_y);
        panel.set("set xrange [-5:5]");
        panel.set("set yrange [-0.4:0.4]");
    }
    figure.save();
}

int main(int argc, char** argv) {
    Example example("Preconditioning: a long narrow valley, and a step that knows its shape.", "5 seconds");
    std::int64_t draws = 200000;
    bool slip = false;
    example.option("--draws", draws, 20000, "of each of four chains", 1000);
    example.flag("--slip", slip, "a broken twin for the tests: G multiplies the gradient, but not the noise");
    return example.run(argc, argv, [&] {
        descent(example);
        sampling(example, draws, slip);
        draw(example);
    });
}
