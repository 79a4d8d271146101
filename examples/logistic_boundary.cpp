// Logistic regression far from its data: the weights that fit best, and the average over all that fit.
//
//     ./run example logistic_boundary
//
// 16 points of two classes in the plane, p(y = 1 | x, w) = sigmoid(w_0 + w_1 x_1 + w_2 x_2), and the prior N(0, 3^2) on
// each weight. How sure is the model of points where it has seen nothing?
//
//     point estimate       p(y | x) ~ sigmoid(w^ . x)                    w^ = argmax p(w | data)
//     posterior average    p(y | x) = integral sigmoid(w . x) p(w | data) dw
//
// The point estimate knows one boundary. Its probabilities depend on the distance from it alone, and far away they are
// 0 or 1 on all sides. Many boundaries separate these points; they agree near the data and fan out behind them, and so
// the average is undecided where the lines disagree. In direction u it tends to P(w . u > 0), not to 0 or 1; nor does
// it tend to 1/2 everywhere: straight on behind its own class no line that fits disagrees.
//
// Weights of maximal likelihood, which lectures like to compare with, do not exist here: the classes can be separated,
// and longer weights are always better. The prior makes the maximum a point.
//
// The integral is over three weights, so that a grid gives it to all digits; NUTS, and SGLD along gradients of 4
// points, come to the same. (After MacKay, The evidence framework applied to classification networks, 1992.)
//
// Expected output: at (-10, 10) the point estimate says 0.020, the average 0.433; at (0, -10), below all data, 2e-10
// and 0.021; at (1, 0.6), among the points of class 1, both 0.99. NUTS agrees with the grid within 2.3 standard errors,
// SGLD within 0.01 (its steps do not shrink). The figure has a map of both, and p along the way to the upper left.
#include "common/example.hpp"
#include "common/figure.hpp"
#include "common/table.hpp"

#include <pollen/autograd/math.hpp>
#include <pollen/nn/layers/dense.hpp>
#include <pollen/nn/likelihoods/bernoulli.hpp>
#include <pollen/nn/potentials/network_potential.hpp>
#include <pollen/nn/training/train.hpp>
#include <pollen/samplers/draws/predict_draws.hpp>
#include <pollen/samplers/full_batch/nuts.hpp>
#include <pollen/samplers/minibatch/sgld.hpp>
#include <pollen/samplers/run/run_chains.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>

using namespace pollen;

// Eight points of class 0, then eight of class 1.
const Tensor<double> points{{-1.5, -0.6}, {-1.0, -1.4}, {-2.2, -1.3}, {-2.1, -0.9}, {-0.1, -1.8}, {-1.7, -0.8},
                            {0.1, -1.5},  {-0.5, -0.6}, {0.8, 0.7},   {1.7, 0.6},   {0.5, 0.4},   {0.5, 0.0},
                            {0.5, 0.4},   {1.0, -0.2},  {0.6, -0.3},  {1.3, -0.2}};
const Tensor<double> classes{0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1};
constexpr double prior_sd = 3;

struct Place {
    double x, y;
};
// w_0, w_1, w_2
struct Weights {
    double bias, x, y;
    double logit(Place at) const { return bias + x * at.x + y * at.y; }
};

// log p(w) + log p(data | w), without constants
double log_posterior(const Weights& w) {
    double log_p = -(w.bias * w.bias + w.x * w.x + w.y * w.y) / (2 * prior_sd * prior_sd);
    for (std::int64_t i = 0; i < classes.size(); ++i) {
        const double z = w.logit({points(i, 0), points(i, 1)});
        log_p -= math::softplus(classes(i) == 1 ? -z : z);
    }
    return log_p;
}

// The exact averages at several places: a sum over a grid of all weights that have a probability worth speaking of.
std::vector<double> exact_averages(const std::vector<Place>& places) {
    constexpr double step = 0.4;
    std::vector<double> sums(places.size(), 0);
    double total = 0;
    for (double bias = -14; bias < 14; bias += step)
        for (double x = -8; x < 16; x += step)
            for (double y = -8; y < 16; y += step) {
                const Weights w{bias, x, y};
                const double p = math::exp(log_posterior(w));
                total += p;
                for (std::size_t k = 0; k < places.size(); ++k) sums[k] += p * math::sigmoid(w.logit(places[k]));
            }
    for (double& sum : sums) sum /= total;
    return sums;
}

// sigmoid(w . x) at each draw of the weights, (chains, draws).
Tensor<double> probabilities(const Draws& draws, Place at) {
    Tensor<double> bias = draws.at("bias", {0});
    const Tensor<double> x = draws.at("weight", {0, 0}), y = draws.at("weight", {0, 1});
    for (std::int64_t i = 0; i < bias.size(); ++i) {
        double& p = bias.mutable_data()[i];
        p = math::sigmoid(Weights{p, x.data()[i], y.data()[i]}.logit(at));
    }
    return bias;
}

Cell average(const Draws& draws, Place at) {
    const QuantitySummary p = summarise(Chains(probabilities(draws, at)));
    return {p.mean, p.mcse, 3};
}

// A map of p(y = 1) over the square from -10 to 10.
class Map {
  public:
    Map() : p_(side_.size() * side_.size(), 0) {
        for (const double y : side_)
            for (const double x : side_) {
                places_.push_back(x);
                places_.push_back(y);
            }
    }
    Tensor<double> places() const { return Tensor<double>({std::ssize(p_), 2}, places_); }
    void add(const Tensor<double>& logits, double weight) {
        for (std::size_t i = 0; i < p_.size(); ++i) p_[i] += weight * math::sigmoid(logits.data()[i]);
        weight_ += weight;
    }
    void draw(Panel& panel) const {
        std::vector<double> p = p_;
        for (double& value : p) value /= weight_;
        panel.heat(side_, side_, p);
        panel.colour_of("exact");
        panel.contours("p = 0.5", side_, side_, p, {0.5});
        panel.contours("0.25 and 0.75", side_, side_, p, {0.25, 0.75});
        panel.contours("0.1 and 0.9", side_, side_, p, {0.1, 0.9});
        const auto column = [](std::int64_t first, int which) {
            std::vector<double> values;
            for (std::int64_t i = first; i < first + 8; ++i) values.push_back(points(i, which));
            return values;
        };
        panel.points("class 0", column(0, 0), column(0, 1));
        panel.crosses("class 1", column(8, 0), column(8, 1));
        panel.set("set xrange [-10:10]");
        panel.set("set yrange [-10:10]");
        panel.set("set palette defined (0 '#ffffff', 1 '#bbbbbb')");
        panel.set("set cbrange [0:1]");
        panel.set("set colorbox");
    }

  private:
    static constexpr int cells_ = 60;
    static std::vector<double> make_side() {
        std::vector<double> side;
        for (int k = 0; k <= cells_; ++k) side.push_back(-10 + 20.0 * k / cells_);
        return side;
    }
    std::vector<double> side_ = make_side(), places_, p_;
    double weight_ = 0;
};

int main(int argc, char** argv) {
    Example example("Logistic regression far from its data: a point estimate, and the average over the posterior.",
                    "10 seconds");
    std::int64_t draws = 10000;
    example.option("--draws", draws, 1000, "draws of each of four chains; SGLD makes 100 steps for one", 100);
    return example.run(argc, argv, [&] {
        const Dataset<double> data{points, classes.reshaped({-1, 1})};
        Dense<double> net(2, 1);
        Bernoulli<double> likelihood;
        const NetworkPotential<double> potential(net, likelihood, data, {.prior = GaussianPrior{.sd = prior_sd}});

        unless_stopped(train(net, likelihood, data,
                             {.epochs = 5000,
                              .batch = data.size(),
                              .optimiser = Sgd{.rate = 0.5},
                              .prior = GaussianPrior{prior_sd},
                              .show = Show::nothing}));
        const Weights best{net.bias.value.item(), net.weight.value(0, 0), net.weight.value(0, 1)};
        std::printf("The most probable weights: %.3f, %.3f, %.3f\n\n", best.bias, best.x, best.y);

        const auto sample = [&](const std::string& name, const auto& sampler, std::int64_t thin) {
            const Draws found = unless_stopped(run_chains(potential, sampler,
                                                          {.draws = draws,
                                                           .thin = thin,
                                                           .seed = example.seed,
                                                           .directory = example.kept(name),
                                                           .resume = true,
                                                           .name = name}));
            std::printf("%s\n", summary(found).c_str());
            return found;
        };
        const Draws nuts = sample("nuts", Nuts{}, 1);
        const Draws sgld = sample("sgld", Sgld{.step_size = 0.05, .batch = 4}, 100);

        const std::vector<Place> places{{1, 0.6}, {-5, 5}, {5, -5}, {-10, 10}, {10, -10}, {0, 10}, {0, -10}};
        const std::vector<double> exact = exact_averages(places);
        ResultTable table({"place", "point estimate", "NUTS", "SGLD", "exact average"});
        for (std::size_t k = 0; k < places.size(); ++k) {
            char name[40];
            std::snprintf(name, sizeof name, "(%g, %g)", places[k].x, places[k].y);
            table.row({name,
                       {math::sigmoid(best.logit(places[k])), 3},
                       average(nuts, places[k]),
                       average(sgld, places[k]),
                       {exact[k], 3}});
        }
        std::printf("The probability of class 1:\n");
        table.show();
        table.save(example.path("logistic_boundary"));

        Figure figure(example.path("logistic_boundary"), 3);
        figure.panel_size(480, 400);
        Map of_point, of_average;
        of_point.add(predict(net, of_point.places()), 1);
        each_draw(net, nuts, of_average.places(), {.every = std::max<std::int64_t>(1, draws / 1000)},
                  [&](const Tensor<double>& logits, double weight) { of_average.add(logits, weight); });
        of_point.draw(figure.panel("Point estimate of p(y = 1)", "x1", "x2"));
        of_average.draw(figure.panel("Average over NUTS of p(y = 1)", "x1", "x2"));

        Panel& way = figure.panel("Along (-1, 1), to the upper left", "distance from the centre", "p(y = 1)");
        std::vector<Place> along;
        std::vector<double> distance, point, at_nuts, by_nuts, at_sgld, by_sgld;
        for (int d = 0; d <= 40; ++d) {
            along.push_back({-d / std::sqrt(2.0), d / std::sqrt(2.0)});
            distance.push_back(d);
            point.push_back(math::sigmoid(best.logit(along.back())));
            // By turns, so that the marks of one do not hide those of the other.
            const bool even = d % 2 == 0;
            (even ? at_nuts : at_sgld).push_back(d);
            (even ? by_nuts : by_sgld).push_back(average(even ? nuts : sgld, along.back()).value);
        }
        way.line("point estimate", distance, point);
        way.line("exact average", distance, exact_averages(along));
        way.points("NUTS", at_nuts, by_nuts);
        way.crosses("SGLD", at_sgld, by_sgld);
        way.set("set yrange [0:1]");
        figure.save();

        std::printf(
            "\nThe lines of equal probability of the point estimate are parallel to its boundary; those of the "
            "average\n"
            "fan out from the data. To the upper left and the lower right, where lines that fit the data disagree, "
            "the\n"
            "point estimate is as good as sure of a guess. Behind the data of a class both are sure, and rightly so: "
            "the\n"
            "average is no detector of distance. SGLD comes close along gradients of 4 points; its steps have a "
            "bias.\n");
    });
}
