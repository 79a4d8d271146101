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
// the prior, the last term, is needed. With two hidden units all of it is known exactly: given w the energy is
// quadratic in v, and over the two numbers w there is a grid.
//
//     1  temperature: the mean energy <E>, and the heat capacity d<E> / dT = Var(E) / T^2
//     2  multi-modality: hidden units can change places, and change sign with what follows them; n units have n! 2^n
//        images of the same network, all with the same energy
//     3  a sampler that walks stays in the one of these rivers that it met first (Metropolis et al., Equation of state
//        calculations by fast computing machines, 1953); tempering comes to all (Swendsen & Wang 1986)
//     4  momenta (Duane et al., Hybrid Monte Carlo, 1987): p(w, p) ~ exp(-E - p.p / 2). The original tour
//        has a plus before p.p / 2. That has no finite integral, and a sampler that accepts by it is too cold: along a
//        trajectory E + p.p / 2 stays what it is, so steps that leave exp(-E) as it is are accepted with
//        min(1, exp(-2 dE)), and what comes out is exp(-3 E): T = 1/3.
//
// Expected output: <E> = 14.816 at T = 1; the heat capacity is 2 = 4/2 as long as the valleys are quadratic in the four
// weights, and more where they melt into each other. Metropolis and NUTS stay in one river a chain; tempering comes to
// all eight, with 1/8 of the draws in each; the prediction f is the same by all three. <E> = 13.496, that of T = 1/3,
// by the sampler with the wrong sign.
#include "common/example.hpp"
#include "common/figure.hpp"
#include "common/table.hpp"

#include <pollen/nn/model.hpp>
#include <pollen/samplers/metropolis.hpp>
#include <pollen/samplers/nuts.hpp>
#include <pollen/samplers/run.hpp>
#include <pollen/samplers/tempering.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <functional>
#include <numeric>
#include <set>

using namespace pollen;

constexpr double sigma = 0.25, s = 2;
constexpr double probe = 0.2;  // where predictions are compared

struct Data {
    Tensor<double> x = Tensor<double>::linspace(-2, 2, 21), y = x;
    // A steep step and a gentle slope against it; errors of sigma, up and down in turn.
    Data() {
        for (std::int64_t i = 0; i < x.size(); ++i)
            y(i) = 1.5 * std::tanh(4 * x(i)) - 2 * std::tanh(x(i) / 2) + (i % 2 == 0 ? sigma : -sigma);
    }
};
const Data data;

// The energy of a network with n hidden units.
std::function<void(Model<double>&)> network(std::int64_t n) {
    return [n](Model<double>& m) {
        const auto w = m.real("w", {n}), v = m.real("v", {n});
        const auto f = matmul(tanh(outer(m.tape().constant(data.x), w)), v);
        m.prior(-(square(w) + square(v)) / (2 * s * s));
        m.likelihood(-square(f - data.y) / (2 * sigma * sigma));
        m.quantity("f", sum(tanh(probe * w) * v));
    };
}

// ---- Exactly. ----

// For given weights w, with H = phi' phi / sigma^2 + 1 / s^2 and phi_ik = tanh(w_k x_i):
//     E(w, v) = lowest + (v - best)' H (v - best) / 2
struct Valley {
    double lowest, determinant, f;  // of H; f at the best v

    Valley(double w1, double w2) {
        double h11 = 1 / (s * s), h22 = h11, h12 = 0, g1 = 0, g2 = 0, yy = 0;
        for (std::int64_t i = 0; i < data.x.size(); ++i) {
            const double p = std::tanh(w1 * data.x(i)) / sigma, q = std::tanh(w2 * data.x(i)) / sigma;
            const double y = data.y(i) / sigma;
            h11 += p * p;
            h12 += p * q;
            h22 += q * q;
            g1 += p * y;
            g2 += q * y;
            yy += y * y;
        }
        determinant = h11 * h22 - h12 * h12;
        const double v1 = (h22 * g1 - h12 * g2) / determinant, v2 = (h11 * g2 - h12 * g1) / determinant;
        lowest = (yy + (w1 * w1 + w2 * w2) / (s * s) - g1 * v1 - g2 * v2) / 2;
        f = v1 * std::tanh(w1 * probe) + v2 * std::tanh(w2 * probe);
    }
    // log of the integral over v of exp(-E / T), constants apart
    double log_weight(double T) const { return -lowest / T - std::log(determinant) / 2; }
};

// Calls use(valley, weight) on cells of a quarter of the plane, which grow with w = 0.1 sinh(u). Weights are those of
// exp(-E / T), not normalised.
void each_valley(double T, const std::function<void(const Valley&, double)>& use) {
    constexpr int cells = 100;
    const double width = std::asinh(140 * std::sqrt(T)) / cells;
    for (int i = 0; i < cells; ++i)
        for (int j = 0; j < cells; ++j) {
            const double u1 = (i + 0.5) * width, u2 = (j + 0.5) * width;
            const Valley valley(0.1 * std::sinh(u1), 0.1 * std::sinh(u2));
            use(valley, std::exp(valley.log_weight(T) + 12 / T) * std::cosh(u1) * std::cosh(u2));
        }
}

struct Exact {
    double energy, heat_capacity, f, lowest;
};

// In a valley E - lowest is exponential with mean and standard deviation T: it is quadratic in two numbers.
Exact exact(double T) {
    double z = 0, e = 0, ee = 0, f = 0, lowest = 1e9;
    each_valley(T, [&](const Valley& valley, double p) {
        const double mean = valley.lowest + T;
        z += p;
        e += p * mean;
        ee += p * (mean * mean + T * T);
        f += p * valley.f;
        lowest = std::min(lowest, valley.lowest);
    });
    return {e / z, (ee / z - e / z * e / z) / (T * T), f / z, lowest};
}

// The density of E at some energies.
std::vector<double> energy_density(double T, const std::vector<double>& energies) {
    std::vector<double> density(energies.size());
    double z = 0;
    each_valley(T, [&](const Valley& valley, double p) {
        z += p;
        for (std::size_t k = 0; k < energies.size(); ++k)
            if (energies[k] > valley.lowest) density[k] += p * std::exp((valley.lowest - energies[k]) / T) / T;
    });
    for (double& d : density) d /= z;
    return density;
}

// ---- 1. Temperature. ----

// E of all draws; a chain records E / T.
Tensor<double> energies(const Draws& draws) {
    Tensor<double> e = draws.statistic(&ChainRecord::energy);
    for (double& x : e.mutable_values()) x *= draws.temperature;
    return e;
}

// C = Var(E) / T^2 of draws, with its standard error.
struct HeatCapacity {
    double value, error;
    explicit HeatCapacity(const Draws& draws) {
        const Tensor<double> e = energies(draws);
        const double sd = summarise(Chains(e)).sd, T = draws.temperature;
        value = sd * sd / (T * T);
        error = 2 * sd * mcse_sd(e) / (T * T);
    }
};

ResultTable table_of_temperatures(const std::vector<Draws>& runs) {
    ResultTable table({"T", "mean energy", "exact", "E_min + 2T", "heat capacity", "exact C", "R-hat"});
    const double lowest = exact(0.25).lowest;
    for (const Draws& draws : runs) {
        const double T = draws.temperature;
        const QuantitySummary e = summarise(Chains(energies(draws)));
        const HeatCapacity c(draws);
        const Exact known = exact(T);
        table.row({std::to_string(std::lround(T)),
                   {e.mean, e.mcse, 3},
                   {known.energy, 3},
                   {lowest + 2 * T, 3},
                   {c.value, c.error, 3},
                   {known.heat_capacity, 3},
                   {e.rhat, 3}});
    }
    return table;
}

// ---- 2. Symmetry. ----

// All images of theta = (w, v): the hidden units in another order, and w and v of some of them negated.
std::set<std::vector<double>> images(const std::vector<double>& theta) {
    const std::size_t n = theta.size() / 2;
    std::vector<std::size_t> order(n);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::set<std::vector<double>> all;
    do
        for (std::size_t signs = 0; signs < std::size_t{1} << n; ++signs) {
            std::vector<double> image(2 * n);
            for (std::size_t k = 0; k < n; ++k) {
                const double sign = signs >> k & 1 ? -1 : 1;
                image[k] = sign * theta[order[k]];
                image[n + k] = sign * theta[n + order[k]];
            }
            all.insert(image);
        }
    while (std::ranges::next_permutation(order).found);
    return all;
}

ResultTable table_of_symmetries(std::uint64_t seed) {
    ResultTable table({"hidden units", "n! 2^n", "images", "energy", "greatest difference"});
    for (const std::int64_t n : {1, 2, 3, 4}) {
        ModelPotential<double> potential(network(n));
        Random random(seed);
        std::vector<double> theta(static_cast<std::size_t>(2 * n));
        random.fill_normal(theta);
        const double here = potential.evaluate(theta, {}).total();
        double difference = 0;
        const auto all = images(theta);
        for (const std::vector<double>& image : all)
            difference = std::max(difference, std::abs(potential.evaluate(image, {}).total() - here));
        const double count = std::tgamma(static_cast<double>(n) + 1) * std::exp2(static_cast<double>(n));
        table.row({std::to_string(n), {count, 0}, {static_cast<double>(all.size()), 0}, {here, 4}, {difference, 12}});
    }
    return table;
}

// ---- 3. Rivers. ----

// Two signs, and which of the units is the steeper one: eight parts of space that the symmetry carries into each other.
std::size_t river(double w1, double w2) {
    return (w1 > 0 ? 1 : 0) + (w2 > 0 ? 2 : 0) + (std::abs(w1) > std::abs(w2) ? 4 : 0);
}

struct Rivers {
    std::array<double, 8> share = {}, error = {};
    double of_a_chain = 0;  // how many a chain was in, on average

    explicit Rivers(const Draws& draws) {
        const Tensor<double> w1 = draws["w[1]"], w2 = draws["w[2]"];
        for (std::size_t r = 0; r < 8; ++r) {
            Tensor<double> inside = w1;
            std::set<std::int64_t> chains;
            for (std::int64_t c = 0; c < std::ssize(draws.chains); ++c)
                for (std::int64_t t = 0; t < draws.size(); ++t) {
                    inside(c, t) = river(w1(c, t), w2(c, t)) == r;
                    if (inside(c, t) == 1) chains.insert(c);
                }
            share[r] = summarise(Chains(inside)).mean;
            error[r] = mcse_mean(inside);
            of_a_chain += static_cast<double>(chains.size()) / static_cast<double>(draws.chains.size());
        }
    }
};

ResultTable table_of_rivers(const std::vector<std::pair<std::string, const Draws*>>& runs) {
    ResultTable table({"sampler", "rivers of a chain", "least share", "greatest share", "R-hat of w1", "R-hat of f",
                       "mean f", "exact f"});
    const double f = exact(1).f;
    for (const auto& [name, draws] : runs) {
        const Rivers rivers(*draws);
        const auto share = [&](auto at) {
            return Cell(*at, rivers.error[static_cast<std::size_t>(at - rivers.share.begin())], 3);
        };
        const auto [least, greatest] = std::ranges::minmax_element(rivers.share);
        const QuantitySummary found = summarise(Chains((*draws)["f"]));
        table.row({name,
                   {rivers.of_a_chain, 2},
                   share(least),
                   share(greatest),
                   {rhat((*draws)["w[1]"]), 3},
                   {found.rhat, 3},
                   {found.mean, found.mcse, 4},
                   {f, 4}});
    }
    return table;
}

// ---- 4. Momenta. ----

struct Particle {
    std::vector<double> theta, momentum, slope;
    double energy = 0;

    double kinetic() const { return std::inner_product(momentum.begin(), momentum.end(), momentum.begin(), 0.0) / 2; }
    void leapfrog(Potential<double>& potential, double step) {
        for (std::size_t i = 0; i < theta.size(); ++i) momentum[i] -= step / 2 * slope[i];
        for (std::size_t i = 0; i < theta.size(); ++i) theta[i] += step * momentum[i];
        energy = potential.evaluate(theta, slope).total();
        for (std::size_t i = 0; i < theta.size(); ++i) momentum[i] -= step / 2 * slope[i];
    }
};

// Hamiltonian Monte Carlo on exp(-E - sign p.p / 2), where sign is 1, or -1 by mistake: the energies of 8 chains.
Tensor<double> hmc(double sign, std::int64_t draws, std::uint64_t seed) {
    ModelPotential<double> potential(network(2));
    Tensor<double> energies = Tensor<double>::empty({8, draws});
    for (std::int64_t c = 0; c < 8; ++c) {
        Random random(seed, static_cast<std::uint32_t>(c));
        Particle now{{0.5, 4, -2, 1.5}, std::vector<double>(4), std::vector<double>(4)};
        now.energy = potential.evaluate(now.theta, now.slope).total();
        for (std::int64_t t = -100; t < draws; ++t) {
            random.fill_normal(now.momentum);
            Particle next = now;
            for (std::uint32_t k = 20 + random.below(41); k > 0; --k) next.leapfrog(potential, 0.015);
            const double rise = next.energy - now.energy + sign * (next.kinetic() - now.kinetic());
            if (random.uniform() < std::exp(-rise)) now = next;
            if (t >= 0) energies(c, t) = now.energy;
        }
    }
    return energies;
}

ResultTable table_of_signs(const Tensor<double>& right, const Tensor<double>& wrong) {
    ResultTable table({"p(theta, p)", "mean energy", "exact", "at T"});
    const auto add = [&](const char* law, const Tensor<double>& energy, double T, const char* text) {
        const QuantitySummary e = summarise(Chains(energy));
        table.row({law, {e.mean, e.mcse, 3}, {exact(T).energy, 3}, text});
    };
    add("exp(-E - p.p / 2)", right, 1, "1");
    add("exp(-E + p.p / 2)", wrong, 1.0 / 3, "1/3");
    return table;
}

// ---- Figures. ----

Panel& plane(Figure& figure, const std::string& title) {
    Panel& panel = figure.panel(title, "w1", "w2");
    panel.set("set xrange [-8:8]");
    panel.set("set yrange [-8:8]");
    panel.set("unset key");
    return panel;
}

void draw_density(Panel& panel, double T) {
    std::vector<double> at, density;
    for (double w = -7.95; w < 8; w += 0.1) at.push_back(w);
    for (const double w2 : at)
        for (const double w1 : at) density.push_back(std::exp(Valley(w1, w2).log_weight(T)));
    panel.heat(at, at, density);
}

// 60 draws of each chain.
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

void draw_heat_capacity(Panel& panel, const std::vector<Draws>& runs) {
    std::vector<double> curve_T, curve_C, T, value, low, high;
    for (int k = -4; k <= 20; ++k) {
        curve_T.push_back(std::exp2(k / 4.0));
        curve_C.push_back(exact(curve_T.back()).heat_capacity);
    }
    for (const Draws& draws : runs) {
        const HeatCapacity c(draws);
        T.push_back(draws.temperature);
        value.push_back(c.value);
        low.push_back(c.value - c.error);
        high.push_back(c.value + c.error);
    }
    panel.line("exact", curve_T, curve_C);
    panel.intervals("tempering", T, value, low, high);
    panel.dashed("a quadratic valley", {0.5, 32}, {2, 2});
    panel.set("set logscale x 2");
    panel.set("set xrange [0.5:32]");
    panel.set("set yrange [1.5:4]");
}

void draw_energies(Panel& panel, const Tensor<double>& right, const Tensor<double>& wrong) {
    const std::vector<double> of_right(right.begin(), right.end()), of_wrong(wrong.begin(), wrong.end());
    const BinnedDraws hot(of_right, 12.5, 21, 34), cold(of_wrong, 12.5, 21, 34);
    std::vector<double> at;
    for (double e = 12.5; e < 21; e += 0.1) at.push_back(e);
    panel.steps("the right sign", hot.begin, hot.density);
    panel.steps("the wrong sign", cold.begin, cold.density);
    panel.colour(0);
    panel.line("exact, T = 1", at, energy_density(1, at));
    panel.line("exact, T = 1/3", at, energy_density(1.0 / 3, at));
    panel.set("set key top right");
}

constexpr const char* closing = R"(
1 The mean energy is that of four quadratic terms, T/2 each, while it is cold; where the valleys melt into each other
  the heat capacity rises above 2, as it does where ice melts.
2 All images of a network have the same energy, up to rounding: its posterior has at least n! 2^n modes.
3 R-hat of w1 says that Metropolis and NUTS did not come from river to river, and the shares of tempering are 1/8 each,
  as they must be. But R-hat and mean of the prediction f are as good for a chain in one river: all eight have the same
  water. Modes that are images of each other cost nothing; others, which differ in what they predict, would.
4 With the lost sign the sampler is right in nothing but its looks: it draws at T = 1/3. (And where leapfrog steps are
  so large that trajectories fail, it is hot: those gain more in p.p than in E, and are accepted.)
)";

int main(int argc, char** argv) {
    Example example("A network as a physicist sees it: energy, temperature, rivers and momenta.", "90 seconds");
    std::int64_t length = 8000;
    example.option("--draws", length, 120, "draws of each of 8 chains");
    return example.run(argc, argv, [&] {
        if (length < 100) throw ValueError("--draws is " + std::to_string(length) + "; at least 100 are needed");
        RunOptions options{.chains = 8, .warmup = 300, .draws = length, .seed = example.seed, .resume = true};
        const auto sample = [&](const std::string& name, const auto& sampler, double temperature) {
            std::printf("%s at T = %g\n", name.c_str(), temperature);
            ModelPotential<double> potential(network(2));
            potential.set_temperature(temperature);
            options.directory = example.kept(name + std::to_string(std::lround(temperature)));
            return unless_stopped(run_chains(potential, sampler, options));
        };
        // The hottest copy is at 24, where nothing is left of the barriers, or above.
        std::vector<Draws> tempered;
        for (const double T : example.quick ? std::vector<double>{1, 4} : std::vector<double>{1, 2, 4, 8, 16}) {
            // Steps smaller than usual: where a w is close to 0 and its v large, the valleys are narrow.
            Tempering sampler{.temperatures = {1}, .steps = {10, 30}, .target_acceptance = 0.95};
            while (T * sampler.temperatures.back() < 24)
                sampler.temperatures.push_back(1.7 * sampler.temperatures.back());
            tempered.push_back(sample("tempering", sampler, T));
        }
        const Draws nuts = sample("NUTS", Nuts{.target_acceptance = 0.95}, 1);
        options.thin = 140;  // as many energies as tempering takes for a draw
        options.warmup = 5000;
        const Draws walk = sample("Metropolis", Metropolis{}, 1);
        std::printf("HMC with both signs\n");
        const Tensor<double> right = hmc(1, length, example.seed), wrong = hmc(-1, length, example.seed);

        const auto show = [&](const ResultTable& table, const std::string& name) {
            table.show();
            table.save(example.path(name));
        };
        show(table_of_temperatures(tempered), "boltzmann_temperature");
        show(table_of_symmetries(example.seed), "boltzmann_symmetry");
        show(table_of_rivers({{"Metropolis", &walk}, {"NUTS", &nuts}, {"tempering", &tempered[0]}}), "boltzmann");
        show(table_of_signs(right, wrong), "boltzmann_sign");

        Figure figure(example.path("boltzmann"), 3);
        draw_density(plane(figure, "1  Exact, T = 1"), 1);
        draw_density(plane(figure, "1  Exact, T = 8"), 8);
        draw_heat_capacity(figure.panel("1  Where the valleys melt", "temperature T", "heat capacity"), tempered);
        draw_draws(plane(figure, "3  Metropolis, T = 1: eight chains"), walk);
        draw_draws(plane(figure, "3  Tempering, T = 1: eight chains"), tempered[0]);
        draw_energies(figure.panel("4  HMC with either sign of p.p / 2", "energy E", "density"), right, wrong);
        figure.save();
        std::printf("%s", closing);
    });
}
