// Eight schools: a hierarchical model, and how a sampler says that it was written in the wrong way.
//
//     ./run example eight_schools                 four chains, in memory
//     ./run example eight_schools DIRECTORY       the same, and files of draws as CmdStan writes them in DIRECTORY; the
//                                                 same command again goes on from what is there
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
// second way, with four; and the figures eight_schools and eight_schools_funnel. In the second there are no draws of a
// small tau where theta is moved, and nothing but the warnings says so.
#include "example.hpp"
#include "figure.hpp"

#include <pollen/nn/distributions.hpp>
#include <pollen/nn/model.hpp>
#include <pollen/samplers/nuts.hpp>
#include <pollen/samplers/run.hpp>

#include <cmath>
#include <cstdio>

using namespace pollen;

constexpr std::uint64_t seed = 1;

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

void draw_effects(const Draws& draws) {
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
    Figure figure("eight_schools", "What a school learns from the others: 90 % intervals", "school", "effect, points");
    figure.intervals("measured", school, measured, measured_low, measured_high);
    for (double& x : school) x += 0.2;
    figure.intervals("posterior", school, mean, low, high);
    figure.set("set xrange [0.5:8.8]");
    figure.set("set yrange [-40:60]");
    figure.set("set xtics 1");
    figure.set("set key top right");
    figure.save();
}

// log tau against theta[1], the neck of the funnel below.
void draw_funnel(const Draws& draws, const Draws& centred) {
    struct Points {
        std::vector<double> theta, log_tau;
    };
    const auto points_of = [](const Draws& from, bool divergent_only) {
        const Tensor<double> theta = from["theta[1]"], tau = from["tau"];
        const Tensor<double> divergent = from.statistic(&ChainRecord::divergent);
        Points points;
        for (std::int64_t i = 0; i < tau.size(); ++i) {
            if (divergent_only && divergent.data()[i] == 0) continue;
            points.theta.push_back(theta.data()[i]);
            points.log_tau.push_back(std::log(tau.data()[i]));
        }
        return points;
    };
    const Points all = points_of(draws, false), some = points_of(centred, false), lost = points_of(centred, true);
    Figure figure("eight_schools_funnel", "A funnel: the smaller tau is, the less room have the effects",
                  "effect of school 1", "log tau");
    figure.points("moving z", all.theta, all.log_tau);
    figure.points("moving theta", some.theta, some.log_tau);
    figure.crosses("moving theta, divergent", lost.theta, lost.log_tau);
    figure.set("set xrange [-20:50]");
    figure.set("set yrange [-8:4]");
    figure.set("set key bottom right");
    figure.save();
}

int run(const Arguments& arguments) {
    const std::string directory = arguments.values.empty() ? "" : arguments.values[0];
    const Nuts sampler{.target_acceptance = 0.95};  // steps smaller than usual: a cautious choice for a hierarchy
    RunOptions options{.seed = seed, .resume = !directory.empty()};
    if (arguments.quick) options.warmup = options.draws = 100;

    std::printf("Moving z, with theta = mu + tau z:\n\n");
    options.directory = directory;
    options.name = "eight_schools";
    const Draws draws = run_chains(ModelPotential<double>(schools), sampler, options);
    if (draws.interrupted) return 1;
    std::printf("%s\n", summary(draws).c_str());

    std::printf("Moving theta itself; the posterior is the same:\n\n");
    options.directory = directory.empty() ? "" : directory + "/centred";
    options.name = "eight_schools_centred";
    const Draws centred = run_chains(ModelPotential<double>(centred_schools), sampler, options);
    if (centred.interrupted) return 1;
    std::printf("%s\n", summary(centred).c_str());

    draw_effects(draws);
    draw_funnel(draws, centred);
    for (const Draws* each : {&draws, &centred})
        for (const std::string& file : each->files) std::printf("draws: %s\n", file.c_str());
    return 0;
}

int main(int argc, char** argv) { return run_example(argc, argv, run); }
