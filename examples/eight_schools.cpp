// Eight schools: a hierarchical model, and how a sampler says that it was written in the wrong way.
//
//     ./run example eight_schools
//
// In eight schools coaching was found to change the results of a test by y points, with a standard error sigma (Rubin,
// Estimation in parallel randomized experiments, 1981). The effects theta of the schools are normal around a common
// mean mu, and how far they spread, tau, is learned with them: a school with an uncertain result borrows from the
// others.
//
// Both ways to write it down have the same posterior. In the first the sampler moves z = (theta - mu) / tau, in the
// second theta itself, whose spread depends on tau: a funnel, into whose neck no single step size leads.
//
// Expected output: mu about 4.4 with sd 3.3, tau about 3.6 with sd 3.2, and no warnings; then the same table for the
// second way, with four; and three panels. In the last, where theta is moved, there are no draws of a small tau, and
// nothing but the warnings says so. The draws are in files as CmdStan writes them, in results/eight_schools/kept.
#include "common/example.hpp"
#include "common/figure.hpp"
#include "common/table.hpp"

#include <pollen/autograd/math.hpp>
#include <pollen/nn/distributions.hpp>
#include <pollen/nn/potentials/model.hpp>
#include <pollen/samplers/full_batch/nuts.hpp>
#include <pollen/samplers/run/run_chains.hpp>

#include <algorithm>
#include <cstdio>
#include <numeric>

using namespace pollen;

const Tensor<double> y{28, 8, -3, 7, -1, 1, 18, 12};
const Tensor<double> sigma{15, 10, 16, 11, 9, 11, 10, 18};

// theta = mu + tau z
void schools(Model<double>& m) {
    const auto mu = m.real("mu");
    const auto tau = m.positive("tau");
    const auto z = m.real("z", {8});
    m.prior(normal_lpdf(mu, 0, 5));
    m.prior(half_cauchy_lpdf(tau, 5));
    m.prior(normal_lpdf(z, 0, 1));
    const auto theta = m.quantity("theta", mu + tau * z);
    m.likelihood(normal_lpdf(y, theta, sigma));
}

// theta ~ N(mu, tau)
void centred_schools(Model<double>& m) {
    const auto mu = m.real("mu");
    const auto tau = m.positive("tau");
    const auto theta = m.real("theta", {8});
    m.prior(normal_lpdf(mu, 0, 5));
    m.prior(half_cauchy_lpdf(tau, 5));
    m.prior(normal_lpdf(theta, mu, tau));
    m.likelihood(normal_lpdf(y, theta, sigma));
}

void draw_effects(Panel& panel, const Draws& draws) {
    std::vector<double> school, measured, measured_low, measured_high, mean, low, high;
    for (std::int64_t k = 0; k < 8; ++k) {
        const QuantitySummary theta = summarise(Chains(draws.at("theta", {k})));
        school.push_back(static_cast<double>(k + 1));
        measured.push_back(y(k));
        measured_low.push_back(y(k) - 1.645 * sigma(k));
        measured_high.push_back(y(k) + 1.645 * sigma(k));
        mean.push_back(theta.mean);
        low.push_back(theta.q5);
        high.push_back(theta.q95);
    }
    panel.intervals("measured", school, measured, measured_low, measured_high);
    for (double& x : school) x += 0.2;
    panel.intervals("posterior", school, mean, low, high);
    panel.set("set xrange [0.5:8.8]");
    panel.set("set yrange [-40:60]");
    panel.set("set xtics 1");
}

// log tau against theta[1], the neck of the funnel below.
void draw_funnel(Panel& panel, const Draws& draws) {
    const Tensor<double> theta = draws["theta[1]"], tau = draws["tau"];
    const Tensor<double> divergent = draws.statistic(&ChainRecord::divergent);
    std::vector<double> effect, log_tau, divergent_effect, divergent_log_tau;
    for (std::int64_t i = 0; i < tau.size(); ++i) {
        effect.push_back(theta.data()[i]);
        log_tau.push_back(math::log(tau.data()[i]));
        if (divergent.data()[i] == 0) continue;
        divergent_effect.push_back(effect.back());
        divergent_log_tau.push_back(log_tau.back());
    }
    panel.colour_of("NUTS");
    panel.points("draws", effect, log_tau);
    panel.crosses("divergent", divergent_effect, divergent_log_tau);
    panel.set("set xrange [-20:50]");
    panel.set("set yrange [-8:4]");
}

int main(int argc, char** argv) {
    Example example("Eight schools: a hierarchical model by NUTS, written in a right way and in a wrong one.",
                    "2 seconds");
    std::int64_t length = 1000;
    example.option("--draws", length, 250, "draws of each of four chains, after as many of warm-up", 100);
    return example.run(argc, argv, [&] {
        const Nuts sampler{.target_acceptance = 0.95};  // steps smaller than usual: a cautious choice for a hierarchy
        ResultTable table({"parameter", "mean", "sd", "published"});
        const auto sample = [&](const std::string& name, const auto& model) {
            const Draws draws = unless_stopped(run_chains(ModelPotential<double>(model), sampler,
                                                          {.warmup = length,
                                                           .draws = length,
                                                           .seed = example.seed,
                                                           .directory = example.kept(name),
                                                           .resume = true,
                                                           .name = name}));
            std::printf("%s\n", summary(draws).c_str());
            return draws;
        };
        std::printf("Moving z, with theta = mu + tau z:\n\n");
        const Draws draws = sample("eight_schools", schools);
        std::printf("Moving theta itself; the posterior is the same:\n\n");
        const Draws centred = sample("eight_schools_centred", centred_schools);

        for (const auto& [name, published] : {std::pair("mu", "4.4 (sd 3.3)"), {"tau", "3.6 (sd 3.2)"}}) {
            const QuantitySummary s = summarise(Chains(draws[name]));
            table.row({name, {s.mean, s.mcse, 2}, {s.sd, 2}, published});
        }
        table.show();
        table.save(example.path("eight_schools"));

        ResultTable health({"sampler moves", "divergences", "R-hat of tau", "effective draws of tau", "warnings"});
        for (const auto& [name, run] : {std::pair("z", &draws), {"theta", &centred}}) {
            const Tensor<double> divergent = run->statistic(&ChainRecord::divergent);
            const QuantitySummary tau = summarise(Chains((*run)["tau"]));
            health.row({name,
                        {std::accumulate(divergent.begin(), divergent.end(), 0.0), 0},
                        {tau.rhat, 3},
                        {std::min(tau.ess_bulk, tau.ess_tail), 0},
                        {static_cast<double>(warnings(*run).size()), 0}});
        }
        health.show();
        health.save(example.path("eight_schools_health"));

        Figure figure(example.path("eight_schools"), 3);
        draw_effects(figure.panel("Effects of the schools, 90 % intervals", "school", "effect, points"), draws);
        draw_funnel(figure.panel("The sampler moves z", "effect of school 1, points", "log tau"), draws);
        draw_funnel(figure.panel("The sampler moves theta", "effect of school 1, points", "log tau"), centred);
        figure.save();
    });
}
