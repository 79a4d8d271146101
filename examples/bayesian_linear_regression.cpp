// Bayesian linear regression: the one network whose posterior is known, and what each method makes of it.
//
//     ./run example bayesian_linear_regression
//
// A line through 16 points: y = a + b x + N(0, s^2) with s = 0.7 known, and the prior N(0, p^2) with p = 1 on both
// coefficients. With the rows (1, x_i) of X the posterior of w = (a, b) is normal,
//
//     precision L = X'X / s^2 + I / p^2        mean m = L^-1 X'y / s^2        (Bishop, Pattern recognition and
//                                                                             machine learning, 2006, Eq. 3.50)
//
// and the prediction at x has the variance (1, x) L^-1 (1, x)' + s^2. All x are to one side of 0, so that a and b are
// correlated: a line that begins higher has to rise less. Each of the methods below is a line of the table:
//
//     least squares    w = (X'X)^-1 X'y: no prior, no uncertainty but the noise
//     ridge            the minimum of |y - Xw|^2 + lambda |w|^2, which is m if lambda = s^2 / p^2
//     MAP              the same by gradient descent on U = -log p(w, data)
//     HMC              draws from the posterior
//     SGLD             the same along gradients of 4 of the 16 points, in steps e of 0.002
//     SGLD, accepted on batches
//                      a step of SGLD as a proposal, accepted or rejected by the energy of its 4 points. It takes two
//                      gradients a step, and is exact only if the batch is all points
//     SGLD, T = 1/2    the rule as some lectures have it, w -= eta grad U~ + N(0, eta): half of the noise is missing
//                      (it should be N(0, 2 eta)), and what is sampled is exp(-2 U)
//     SGLD, noise of published code
//                      a published optimiser has w -= r (g + N(0, r)), g the gradient of the mean loss U / N. Its noise
//                      is multiplied by the rate r once more, so that a step adds the variance r^3, not 2 r / N. With
//                      e = 2 r / N this is SGLD at T = r^2 N / 2
//     BBB              Bayes by Backprop with independent weights. Its optimum is known, too: the mean m, and the
//                      standard deviations 1 / sqrt(L_kk), those of one coefficient where the other is known
//
// Expected output: ridge and MAP equal the exact mean; HMC and SGLD have its standard deviations, 0.498 and 0.241, and
// the correlation -0.94 (SGLD at this step, by its own law: 0.500, 0.244, -0.92; accepted on batches 0.497, 0.242,
// -0.93), with T = 1/2 they are 0.354 and 0.174; with the noise of the published code, T = 0.002, they are 0.034 and
// 0.031, and would be 0.025 and 0.029 by the noise of the batches alone; BBB has 0.172 and 0.083. At x = 5, beyond the
// data, the exact sd of a prediction is 1.03; BBB says 0.83, and a point estimate 0.70 as everywhere.
#include "common/example.hpp"
#include "common/figure.hpp"
#include "common/table.hpp"

#include <pollen/autograd/math.hpp>
#include <pollen/nn/likelihoods/gaussian.hpp>
#include <pollen/nn/potentials/network_potential.hpp>
#include <pollen/nn/training/train.hpp>
#include <pollen/nn/variational/bayes.hpp>
#include <pollen/samplers/full_batch/hmc.hpp>
#include <pollen/samplers/minibatch/minibatch_mh.hpp>
#include <pollen/samplers/minibatch/sgld.hpp>
#include <pollen/samplers/run/run_chains.hpp>

#include <array>
#include <cmath>
#include <cstdio>
#include <numbers>
#include <numeric>

using namespace pollen;

const Tensor<double> x{1, 1.13, 1.27, 1.4, 1.53, 1.67, 1.8, 1.93, 2.07, 2.2, 2.33, 2.47, 2.6, 2.73, 2.87, 3};
const Tensor<double> y{0.65, 0.25, 1.39, 1.32, 2.18, 1.65, 0.4, 1.28, 2.89, 2.94, 2.23, 1.98, 2.37, 2.2, 2.39, 2.62};
constexpr double noise_sd = 0.7, prior_sd = 1;
constexpr std::array places{2.0, 5.0};  // x of the predictions in the table: among the data, and beyond them

// What a method says of the line: a normal distribution of the intercept a and the slope b, and, where that was
// estimated from draws, standard errors.
struct Line {
    double a = 0, b = 0, variance_a = 0, variance_b = 0, covariance = 0;
    double error_a = Cell::none, error_b = Cell::none, error_sd_a = Cell::none, error_sd_b = Cell::none;
    std::array<double, 2> error_prediction{Cell::none, Cell::none};

    double mean(double at) const { return a + b * at; }
    // The sd of a new y at x, whose noise is part of it.
    double prediction_sd(double at) const {
        return std::sqrt(variance_a + 2 * at * covariance + at * at * variance_b + noise_sd * noise_sd);
    }
    double correlation() const { return covariance / std::sqrt(variance_a * variance_b); }
};

// The normal distribution with precision X'X / s^2 + ridge I and mean precision^-1 X'y / s^2.
Line solve(double ridge) {
    const double s2 = noise_sd * noise_sd, n = static_cast<double>(x.size());
    const double x1 = std::accumulate(x.begin(), x.end(), 0.0), y1 = std::accumulate(y.begin(), y.end(), 0.0);
    const double xx = std::inner_product(x.begin(), x.end(), x.begin(), 0.0);
    const double xy = std::inner_product(x.begin(), x.end(), y.begin(), 0.0);
    const double aa = n / s2 + ridge, ab = x1 / s2, bb = xx / s2 + ridge, determinant = aa * bb - ab * ab;
    return {.a = (bb * y1 - ab * xy) / (s2 * determinant),
            .b = (aa * xy - ab * y1) / (s2 * determinant),
            .variance_a = bb / determinant,
            .variance_b = aa / determinant,
            .covariance = -ab / determinant};
}

Line point(double a, double b) { return {.a = a, .b = b}; }

Line from_draws(const Draws& draws) {
    const Tensor<double> a = draws.at("bias", {0}), b = draws.at("weight", {0, 0});
    const QuantitySummary of_a = summarise(Chains(a)), of_b = summarise(Chains(b));
    Line line{.a = of_a.mean,
              .b = of_b.mean,
              .variance_a = of_a.sd * of_a.sd,
              .variance_b = of_b.sd * of_b.sd,
              .error_a = of_a.mcse,
              .error_b = of_b.mcse,
              .error_sd_a = mcse_sd(a),
              .error_sd_b = mcse_sd(b)};
    for (std::int64_t i = 0; i < a.size(); ++i)
        line.covariance += (a.data()[i] - of_a.mean) * (b.data()[i] - of_b.mean) / static_cast<double>(a.size() - 1);
    for (std::size_t k = 0; k < places.size(); ++k) {
        Tensor<double> mean = a;
        for (std::int64_t i = 0; i < a.size(); ++i) mean.mutable_data()[i] += places[k] * b.data()[i];
        // d sqrt(v + s^2) = sd / sqrt(v + s^2) d sd, with v = sd^2 the variance of the mean
        line.error_prediction[k] = mcse_sd(mean) * summarise(Chains(mean)).sd / line.prediction_sd(places[k]);
    }
    return line;
}

void add_row(ResultTable& table, const std::string& method, const Line& line) {
    const bool spread = line.variance_a > 0;
    table.row({method,
               {line.a, line.error_a, 3},
               spread ? Cell(std::sqrt(line.variance_a), line.error_sd_a, 3) : "-",
               {line.b, line.error_b, 3},
               spread ? Cell(std::sqrt(line.variance_b), line.error_sd_b, 3) : "-",
               spread ? Cell(line.correlation(), 2) : "-",
               {line.prediction_sd(places[0]), line.error_prediction[0], 3},
               {line.prediction_sd(places[1]), line.error_prediction[1], 3}});
}

// The two curves mean -+ 2 sd of predictions.
struct Edges {
    explicit Edges(const Line& line, double from = -1, double step = 0.1) {
        for (double at = from; at <= 6.001; at += step) {
            position.push_back(at);
            middle.push_back(line.mean(at));
            low.push_back(line.mean(at) - 2 * line.prediction_sd(at));
            high.push_back(line.mean(at) + 2 * line.prediction_sd(at));
        }
    }
    std::vector<double> position, middle, low, high;
};

// The points two standard deviations from the mean: within are 86 % of the draws.
std::pair<std::vector<double>, std::vector<double>> ellipse(const Line& line) {
    std::pair<std::vector<double>, std::vector<double>> points;
    const double sd_a = std::sqrt(line.variance_a), sd_b = std::sqrt(line.variance_b), rho = line.correlation();
    for (int k = 0; k <= 100; ++k) {
        const double angle = 2 * std::numbers::pi * k / 100, u = math::cos(angle), v = math::sin(angle);
        points.first.push_back(line.a + 2 * sd_a * u);
        points.second.push_back(line.b + 2 * sd_b * (rho * u + std::sqrt(1 - rho * rho) * v));
    }
    return points;
}

int main(int argc, char** argv) {
    Example example("Bayesian linear regression: exact, MAP, ridge, HMC, SGLD and Bayes by Backprop on one line.",
                    "40 seconds");
    std::int64_t draws = 10000, epochs = 20000;
    example.option("--draws", draws, 1000, "draws of each of four chains; SGLD makes 200 steps for one", 100);
    example.option("--epochs", epochs, 3000, "steps of Bayes by Backprop", 1);
    return example.run(argc, argv, [&] {
        const Dataset<double> data{x.reshaped({-1, 1}), y.reshaped({-1, 1})};
        const Dense<double> net(1, 1);  // y = weight x + bias
        auto likelihood = Gaussian<double>::known(noise_sd);

        const Line exact = solve(1 / (prior_sd * prior_sd)), least_squares = solve(0);
        // |y - Xw|^2 + lambda |w|^2 is 2 s^2 times a U whose prior has the precision lambda / s^2.
        const double lambda = noise_sd * noise_sd / (prior_sd * prior_sd);
        const Line ridge = solve(lambda / (noise_sd * noise_sd));

        Dense<double> fitted = net;
        unless_stopped(train(fitted, likelihood, data,
                             {.epochs = 3000,
                              .batch = x.size(),
                              .optimiser = Sgd{.rate = 0.1},
                              .prior = GaussianPrior{prior_sd},
                              .show = Show::nothing}));
        const Line map = point(fitted.bias.value.item(), fitted.weight.value.item());

        NetworkPotential<double> potential(net, likelihood, data, {.prior = GaussianPrior{.sd = prior_sd}});
        const auto sample = [&](const std::string& name, const auto& sampler, std::int64_t thin) {
            return unless_stopped(run_chains(potential, sampler,
                                             {.draws = draws,
                                              .thin = thin,
                                              .seed = example.seed,
                                              .directory = example.kept(name),
                                              .resume = true,
                                              .name = name}));
        };
        const Draws hmc_draws = sample("hmc", Hmc{}, 1);
        const Line hmc = from_draws(hmc_draws);
        const Sgld langevin{.step_size = 0.002, .batch = 4};
        const Line sgld = from_draws(sample("sgld", langevin, 200));
        const Line on_batches =
            from_draws(sample("mala", ApproximateMinibatchMala{.step_size = 0.002, .batch = 4}, 200));
        potential.set_temperature(0.5);
        const Line cold = from_draws(sample("sgld_cold", langevin, 200));
        // Steps on the mean loss have the rate e N / 2.
        const double items = static_cast<double>(x.size()), rate = langevin.step_size(0) * items / 2;
        potential.set_temperature(rate * rate * items / 2);
        const Line published = from_draws(sample("sgld_published", langevin, 200));

        Bayes<double> twin =
            bayesian(net, {.prior = GaussianPrior{.sd = prior_sd}, .posterior = mean_field<double>(0.3)});
        unless_stopped(train(twin, likelihood, data,
                             {.epochs = epochs,
                              .batch = x.size(),
                              .optimiser = Adam{.rate = Schedule::cosine(0.02, epochs)},
                              .seed = example.seed,
                              .samples = 10}));
        const auto& weight = *twin.weights()[0].posterior;
        const auto& bias = *twin.weights()[1].posterior;
        const double weight_sd = weight.sd_value().item(), bias_sd = bias.sd_value().item();
        const Line bbb{.a = bias.mean_value().item(),
                       .b = weight.mean_value().item(),
                       .variance_a = bias_sd * bias_sd,
                       .variance_b = weight_sd * weight_sd};

        ResultTable table(
            {"method", "intercept", "its sd", "slope", "sd of the slope", "correlation", "sd at x = 2", "sd at x = 5"});
        add_row(table, "exact", exact);
        add_row(table, "least squares", point(least_squares.a, least_squares.b));
        add_row(table, "ridge", point(ridge.a, ridge.b));
        add_row(table, "MAP", map);
        add_row(table, "HMC", hmc);
        add_row(table, "SGLD", sgld);
        add_row(table, "SGLD, accepted on batches", on_batches);
        add_row(table, "SGLD, T = 1/2", cold);
        add_row(table, "SGLD, noise of published code, T = 0.002", published);
        add_row(table, "BBB", bbb);
        table.show();
        table.save(example.path("bayesian_linear_regression"));

        Figure figure(example.path("bayesian_linear_regression"), 2);
        figure.panel_size(560, 440);
        Panel& lines = figure.panel("Predictions, two sd", "x", "y");
        // Points of HMC and of SGLD by turns, so that one does not hide the other.
        const Edges of_exact(exact), of_hmc(hmc, -0.9, 0.4), of_sgld(sgld, -0.7, 0.4), of_bbb(bbb), of_map(map);
        lines.band("exact", of_exact.position, of_exact.low, of_exact.high);
        for (std::int64_t k = 0; k < 20; ++k) {
            const std::int64_t t = k * draws / 20;
            const double intercept = hmc_draws["bias"](0, t, 0), slope = hmc_draws["weight"](0, t, 0, 0);
            lines.thin(k == 0 ? "HMC, 20 draws" : "", {-1, 6}, {intercept - slope, intercept + 6 * slope});
        }
        lines.line("BBB", of_bbb.position, of_bbb.low);
        lines.line("", of_bbb.position, of_bbb.high);
        lines.points("HMC", of_hmc.position, of_hmc.low);
        lines.points("", of_hmc.position, of_hmc.high);
        lines.crosses("SGLD", of_sgld.position, of_sgld.low);
        lines.crosses("", of_sgld.position, of_sgld.high);
        lines.line("MAP = ridge", of_map.position, of_map.middle);
        lines.line("", of_map.position, of_map.low);
        lines.line("", of_map.position, of_map.high);
        lines.crosses("data", {x.begin(), x.end()}, {y.begin(), y.end()});
        lines.set("set xrange [-1:6]");
        lines.set("set yrange [-4:8.5]");

        Panel& coefficients = figure.panel("Coefficients, two sd", "intercept", "slope");
        const auto outline = [&](const std::string& name, const Line& line) {
            const auto [a, b] = ellipse(line);
            if (name == "HMC" || name == "SGLD")  // above the exact one
                coefficients.dashed(name, a, b);
            else
                coefficients.line(name, a, b);
        };
        outline("exact", exact);
        outline("HMC", hmc);
        outline("SGLD", sgld);
        outline("SGLD, T = 1/2", cold);
        outline("BBB", bbb);
        coefficients.crosses("MAP = ridge", {map.a}, {map.b});
        coefficients.crosses("least squares", {least_squares.a}, {least_squares.b});
        coefficients.set("set xrange [-1.2:1.6]");
        coefficients.set("set yrange [0.2:1.8]");
        figure.save();

        std::printf(
            "\nRidge regression is the MAP, and both are the mean of the posterior: what they lack is its width. HMC "
            "and\n"
            "SGLD find width and correlation. Half of the noise (T = 1/2) makes everything narrower by sqrt(2). Bayes "
            "by\n"
            "Backprop with independent weights has the mean but cannot lean: its ellipse is upright, as wide and as "
            "high as\n"
            "cuts through the exact one, and its predictions beyond the data are too sure of themselves.\n");
    });
}
