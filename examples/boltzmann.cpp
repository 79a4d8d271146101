// A network as a physicist sees it: energy, temperature, eight rivers that are one, and momenta.
//
//     ./run example boltzmann
//
// The weights of a network with the energy E at the temperature T are distributed like the molecules of a gas,
//
//     p(w, v) ~ exp(-E(w, v) / T),    E = sum_i (f(x_i) - y_i)^2 / (2 sigma^2) + (|w|^2 + |v|^2) / (2 s^2),
//     f(x) = sum_k v_k tanh(w_k x)
//
// and at T = 1 that is the posterior. The tour that this one follows takes the mean squared error alone for the energy;
// but tanh saturates, the error stays below a bound however large w is, and exp(-E / T) would have no finite integral:
// the prior, the last term, is needed. With two hidden units all of it is known exactly (boltzmann/exact.hpp).
//
//     1  temperature: the mean energy <E>, and the heat capacity d<E> / dT = Var(E) / T^2
//     2  entropy: exp(-E / T) is the law with the least free energy F = U - T S, U its mean energy and S its entropy.
//     The
//        same at T = 1: -F is the log evidence, and the evidence bound of variational inference is -F of another law
//     3  symmetry: hidden units can change places, and change sign with what follows them; a network of n units has
//        n! 2^n images, all with the same energy
//     4  so the posterior of two units flows in eight rivers. A sampler that walks stays in the one that it met first
//        (Metropolis et al., Equation of state calculations by fast computing machines, 1953); tempering comes to all
//        (Swendsen & Wang, Replica Monte Carlo simulation of spin glasses, 1986)
//     5  momenta (Duane et al., Hybrid Monte Carlo, 1987): p(theta, p) ~ exp(-E - p.p / 2). The original tour
//        has a plus before p.p / 2. That has no finite integral, and a sampler that accepts by it is too cold: along a
//        trajectory E + p.p / 2 stays what it is, so steps that leave exp(-E) as it is are accepted with
//        min(1, exp(-2 dE)), and what comes out is exp(-3 E): T = 1/3.
//
// Expected output: five tables and the figures boltzmann and boltzmann_entropy. <E> = 14.816 at T = 1; the heat
// capacity is about 2 = 4/2 as long as the valleys are quadratic in the four weights, and more where they melt into
// each other. U - S, the free energy at T = 1, is least for the law at T = 1: 12.470. Metropolis and NUTS stay in one
// river a chain; tempering comes to all eight, with 1/8 of the draws in each; the prediction f is the same by all
// three. <E> = 13.496, that of T = 1/3, by the sampler with the wrong sign.
#include "boltzmann/entropy.hpp"
#include "boltzmann/exact.hpp"
#include "boltzmann/heat.hpp"
#include "boltzmann/network.hpp"
#include "boltzmann/signed_hmc.hpp"
#include "boltzmann/symmetry.hpp"
#include "common/example.hpp"
#include "common/figure.hpp"
#include "common/table.hpp"

#include <pollen/autograd/math.hpp>
#include <pollen/samplers/full_batch/metropolis.hpp>
#include <pollen/samplers/full_batch/nuts.hpp>
#include <pollen/samplers/full_batch/tempering.hpp>
#include <pollen/samplers/run/run_chains.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>

using namespace pollen;

ResultTable table_of_symmetries(std::uint64_t seed) {
    ResultTable table({"hidden units", "n! 2^n", "images", "energy", "greatest difference"});
    for (const std::int64_t n : {1, 2, 3, 4}) {
        ModelPotential<double> potential(network(n));
        std::vector<double> theta(static_cast<std::size_t>(2 * n));
        Random(seed).fill_normal(theta);
        const double here = potential.evaluate(theta, {}).total();
        double difference = 0;
        const auto all = images(theta);
        for (const std::vector<double>& image : all)
            difference = std::max(difference, std::abs(potential.evaluate(image, {}).total() - here));
        double count = 1;  // n! 2^n
        for (std::int64_t k = 1; k <= n; ++k) count *= static_cast<double>(2 * k);
        table.row({std::to_string(n), {count, 0}, {static_cast<double>(all.size()), 0}, {here, 4}, {difference, 12}});
    }
    return table;
}

ResultTable table_of_rivers(const std::vector<std::pair<std::string, const Draws&>>& runs) {
    ResultTable table({"sampler", "rivers of a chain", "least share", "greatest share", "R-hat of w1", "R-hat of f",
                       "mean f", "exact f"});
    for (const auto& [name, draws] : runs) {
        const Rivers rivers(draws);
        const auto share = [&](auto at) { return Cell(*at, rivers.error[std::size_t(at - rivers.share.begin())], 3); };
        const auto [least, greatest] = std::ranges::minmax_element(rivers.share);
        const QuantitySummary f = summarise(Chains(draws["f"]));
        table.row({name,
                   {rivers.of_a_chain, 2},
                   share(least),
                   share(greatest),
                   {rhat(draws["w[1]"]), 3},
                   {f.rhat, 3},
                   {f.mean, f.mcse, 4},
                   {exact(1).f, 4}});
    }
    return table;
}

ResultTable table_of_signs(const Tensor<double>& right, const Tensor<double>& wrong) {
    ResultTable table({"p(theta, p)", "mean energy", "exact", "at T"});
    const auto add = [&](const char* law, const Tensor<double>& energies, double T, const char* text) {
        const QuantitySummary e = summarise(Chains(energies));
        table.row({law, {e.mean, e.mcse, 3}, {exact(T).energy, 3}, text});
    };
    add("exp(-E - p.p / 2)", right, 1, "1");
    add("exp(-E + p.p / 2)", wrong, 1.0 / 3, "1/3");
    return table;
}

Panel& plane(Figure& figure, const std::string& title) {
    Panel& panel = figure.panel(title, "w1", "w2");
    panel.set("set xrange [-8:8]");
    panel.set("set yrange [-8:8]");
    panel.no_key();
    return panel;
}

void draw_density(Panel& panel, double T) {
    std::vector<double> at, density;
    for (double w = -7.95; w < 8; w += 0.1) at.push_back(w);
    for (const double w2 : at)
        for (const double w1 : at) density.push_back(math::exp(Valley(w1, w2).log_weight(T)));
    const double highest = std::ranges::max(density);
    for (double& d : density) d /= highest;
    panel.heat(at, at, density);
    panel.set("set colorbox");
    panel.set("set cbrange [0:1]");
    panel.set("set cblabel 'density, highest = 1'");
}

// 60 draws of each chain, or some more, in a colour of their own.
void draw_draws(Panel& panel, const Draws& draws) {
    const Tensor<double> w1 = draws["w[1]"], w2 = draws["w[2]"];
    for (std::int64_t c = 0; c < std::ssize(draws.chains); ++c) {
        std::vector<double> x, y;
        for (std::int64_t t = 0; t < draws.size(); t += draws.size() / 60) {
            x.push_back(w1(c, t));
            y.push_back(w2(c, t));
        }
        panel.points("chain " + std::to_string(c + 1), x, y);
    }
}

void draw_energies(Panel& panel, const Tensor<double>& right, const Tensor<double>& wrong) {
    const BinnedDraws hot({right.begin(), right.end()}, 12.5, 21, 34), cold({wrong.begin(), wrong.end()}, 12.5, 21, 34);
    std::vector<double> at;
    for (double e = 12.5; e < 21; e += 0.1) at.push_back(e);
    panel.colour_of("HMC");
    panel.steps("the right sign", hot.begin, hot.density);
    panel.steps("the wrong sign", cold.begin, cold.density);
    panel.line("exact, T = 1", at, energy_density(1, at));
    panel.dashed("exact, T = 1/3", at, energy_density(1.0 / 3, at));
}

constexpr const char* closing = R"(
1 The mean energy is that of four quadratic terms, T/2 each, while it is cold; where the valleys melt into each other
  the heat capacity rises above 2, as it does where ice melts.
2 Heat adds energy and entropy. U - S, the free energy at T = 1, is least for the law at T = 1: those that are hotter
  pay more in energy than they gain in entropy, and the one that is colder the other way round. The gain of entropy that
  is measured comes from the energies of draws alone.
3 All images of a network have the same energy, up to rounding: modes come in families of n! 2^n, here in eights, of
  which each is one river.
4 R-hat of w1 says that Metropolis and NUTS did not come from river to river, and the shares of tempering are 1/8 each,
  as they must be. But R-hat and mean of the prediction f are as good for a chain in one river: all eight have the same
  water. Modes that are images of each other cost nothing; others, which differ in what they predict, would.
5 With the wrong sign a sampler looks right and is not: it draws at T = 1/3. (And where leapfrog steps are so large that
  trajectories fail, it is hot: those gain more in p.p than in E, and are accepted.)
)";

int main(int argc, char** argv) {
    Example example("A network as a physicist sees it: energy, temperature, rivers and momenta.", "90 seconds");
    std::int64_t length = 8000;
    bool slip = false;
    example.option("--draws", length, 120, "draws of each of 8 chains", 100);
    example.flag("--slip", slip, "a broken twin for the tests: the measured entropy without 1 / T");
    return example.run(argc, argv, [&] {
        RunOptions options{.chains = 8, .warmup = 300, .draws = length, .seed = example.seed, .resume = true};
        const auto sample = [&](const std::string& name, const auto& sampler, double T) {
            std::printf("%s at T = %g\n", name.c_str(), T);
            ModelPotential<double> potential(network(2));
            potential.set_temperature(T);
            options.directory = example.kept(name + std::to_string(std::lround(T)));
            return unless_stopped(run_chains(potential, sampler, options));
        };
        std::vector<Draws> tempered;
        for (const double T : example.quick ? std::vector<double>{1, 4} : std::vector<double>{1, 2, 4, 8, 16}) {
            // Steps smaller than usual: where a w is close to 0 and its v large, the valleys are narrow.
            Tempering sampler{.temperatures = {1}, .steps = {10, 30}, .target_acceptance = 0.95};
            // The hottest copy is at 24, where nothing is left of the barriers, or above.
            while (T * sampler.temperatures.back() < 24)
                sampler.temperatures.push_back(1.7 * sampler.temperatures.back());
            tempered.push_back(sample("tempering", sampler, T));
        }
        const Draws nuts = sample("NUTS", Nuts{.target_acceptance = 0.95}, 1);
        options.thin = 140;  // as many energies as tempering takes for a draw: 7 copies of 20 steps
        options.warmup = 5000;
        const Draws walk = sample("Metropolis", Metropolis{}, 1);
        std::printf("HMC with both signs\n");
        const auto energies = [&](double sign) {
            ModelPotential<double> potential(network(2));
            return signed_hmc(potential, {0.5, 4, -2, 1.5}, sign, length, example.seed);
        };
        const Tensor<double> right = energies(1), wrong = energies(-1);

        const std::vector<Heat> heats(tempered.begin(), tempered.end());
        const auto show = [&](const ResultTable& table, const std::string& name) {
            table.show();
            table.save(example.path(name));
        };
        show(table_of_temperatures(heats), "boltzmann_temperature");
        show(table_of_entropies(heats, slip), "boltzmann_entropy");
        show(table_of_symmetries(example.seed), "boltzmann_symmetry");
        show(table_of_rivers({{"Metropolis", walk}, {"NUTS", nuts}, {"tempering", tempered[0]}}), "boltzmann");
        show(table_of_signs(right, wrong), "boltzmann_sign");

        Figure figure(example.path("boltzmann"), 3);
        draw_density(plane(figure, "Exact density, T = 1"), 1);
        draw_density(plane(figure, "Exact density, T = 8"), 8);
        draw_heat_capacity(figure.panel("Heat capacity (bars: one standard error)", "temperature T", "heat capacity"),
                           heats);
        draw_draws(plane(figure, "Metropolis, T = 1: eight chains"), walk);
        draw_draws(plane(figure, "Tempering, T = 1: eight chains"), tempered[0]);
        draw_energies(figure.panel("HMC with either sign of p.p / 2", "energy E", "density"), right, wrong);
        figure.save();
        Figure entropies(example.path("boltzmann_entropy"), 2);
        Panel& balance = entropies.panel("Energy and entropy", "temperature T", "energy");
        draw_entropies(balance, entropies.panel("Free energy of laws of other temperatures", "temperature of the law",
                                                "F / T above the least"));
        entropies.save();
        std::printf("%s", closing);
    });
}
