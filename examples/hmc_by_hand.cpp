// Hamiltonian Monte Carlo by hand: one network, two answers, the weights that fit best, and a sample of all weights
// that fit; with nothing of pollen but tensors, the tape and random numbers.
//
//     ./run example hmc_by_hand
//
// Thirty noisy points of a curve, with a hole in the middle, and a network 1-20-20-1. Its potential energy
//
//     U(w) = sum w^2 / (2 prior_sd^2) + sum (y - f(x, w))^2 / (2 noise_sd^2)        p(w | data) ~ exp(-U(w))
//
// is all that both halves use: gradient descent finds a minimum of U, and Hamiltonian Monte Carlo (Neal 2011) draws
// from exp(-U). Where there is data the two agree; in the hole the best fit is as sure as everywhere else, the sample
// is not.
//
// Expected output: both curves drawn as text; the posterior sd of the curve is 0.05 at x = -1, among the data, and 0.24
// at x = 0.05, in the hole.
#include "common/example.hpp"
#include "common/figure.hpp"
#include "common/table.hpp"

#include <pollen/autograd/math.hpp>
#include <pollen/autograd/ops.hpp>
#include <pollen/autograd/random.hpp>
#include <pollen/autograd/tape.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

using namespace pollen;

constexpr int hidden = 20;
constexpr double noise_sd = 0.1;
constexpr double prior_sd = 1.0;
constexpr int descent_steps = 3000;
constexpr double descent_rate = 0.003;
constexpr int leapfrogs = 60;
constexpr double target_acceptance = 0.8;

// The plot shows x from -1.9 to 1.9, a column each 0.05, and y from -2 to 2.
constexpr int plot_width = 77;
constexpr int plot_height = 21;
constexpr double plot_x = 1.9, plot_y = 2.0;

std::size_t column_of(double x) {
    return static_cast<std::size_t>(std::lround((x + plot_x) / (2 * plot_x) * (plot_width - 1)));
}

double curve(double x) { return math::sin(3 * x) * math::cos(x); }

struct Data {
    Tensor<double> x, y;
};

// y = curve(x) + noise, for x in (-1.4, -0.4) and (0.5, 1.4)
Data make_data(std::uint64_t seed) {
    Random random(seed);
    std::vector<double> x, y;
    for (int i = 0; i < 30; ++i) {
        const double at = i < 15 ? random.uniform(-1.4, -0.4) : random.uniform(0.5, 1.4);
        x.push_back(at);
        y.push_back(curve(at) + noise_sd * random.normal());
    }
    return {Tensor<double>({30, 1}, x), Tensor<double>({30, 1}, y)};
}

// Weights and biases, one tensor each.
using Weights = std::vector<Tensor<double>>;

Weights draw_prior(Random& random) {
    Weights w;
    for (const Shape& shape :
         {Shape{1, hidden}, Shape{hidden}, Shape{hidden, hidden}, Shape{hidden}, Shape{hidden, 1}, Shape{1}}) {
        w.push_back(Tensor<double>::zeros(shape));
        random.fill_normal(w.back().mutable_values(), 0.0, prior_sd / 2);
    }
    return w;
}

Var<double> network(Var<double> x, const std::vector<Var<double>>& w) {
    x = tanh(matmul(x, w[0]) + w[1]);
    x = tanh(matmul(x, w[2]) / std::sqrt(hidden) + w[3]);
    return matmul(x, w[4]) / std::sqrt(hidden) + w[5];
}

// U(w); its gradient goes into `gradient`.
double potential(Tape<double>& tape, const Data& data, const Weights& weights, Weights& gradient) {
    tape.clear();
    std::vector<Var<double>> w;
    for (const Tensor<double>& t : weights) w.push_back(tape.borrow_variable(t));
    const Var<double> outputs = network(tape.borrow(data.x), w);
    Var<double> u = sum(square(outputs - tape.borrow(data.y))) / (2 * noise_sd * noise_sd);
    for (const Var<double>& v : w) u = u + sum(square(v)) / (2 * prior_sd * prior_sd);
    tape.backward(u);
    for (std::size_t k = 0; k < w.size(); ++k) gradient[k] = w[k].grad();
    return u.item();
}

// to += scale from, for all tensors
void add_scaled(Weights& to, double scale, const Weights& from) {
    for (std::size_t k = 0; k < to.size(); ++k) {
        double* t = to[k].mutable_data();
        for (std::int64_t i = 0; i < to[k].size(); ++i) t[i] += scale * from[k].data()[i];
    }
}

double norm2(const Weights& w) {
    double total = 0;
    for (const Tensor<double>& t : w)
        for (double x : t) total += x * x;
    return total;
}

std::vector<double> predict(Tape<double>& tape, const Weights& weights) {
    tape.clear();
    std::vector<Var<double>> w;
    for (const Tensor<double>& t : weights) w.push_back(tape.constant(t));
    const Tensor<double> x = Tensor<double>::linspace(-plot_x, plot_x, plot_width).reshaped({plot_width, 1});
    const Tensor<double> y = network(tape.constant(x), w).value();
    return {y.begin(), y.end()};
}

// Data as o, the curve as *, and two standard deviations around it as dots.
void plot(const char* title, const Data& data, const std::vector<double>& mean, const std::vector<double>& sd) {
    std::vector<std::string> rows(plot_height, std::string(plot_width, ' '));
    const auto row = [](double y) {
        return static_cast<int>(std::lround((plot_y - y) / (2 * plot_y) * (plot_height - 1)));
    };
    const auto put = [&](int r, std::size_t column, char mark) {
        if (r >= 0 && r < plot_height) rows[static_cast<std::size_t>(r)][column] = mark;
    };
    for (std::size_t c = 0; c < plot_width; ++c) {
        const int top = std::max(row(mean[c] + 2 * sd[c]), 0),
                  bottom = std::min(row(mean[c] - 2 * sd[c]), plot_height - 1);
        for (int r = top; r <= bottom; ++r) put(r, c, '.');
        put(row(mean[c]), c, '*');
    }
    for (std::int64_t i = 0; i < data.x.size(); ++i) put(row(data.y.data()[i]), column_of(data.x.data()[i]), 'o');
    std::printf("\n%s\n+%s+\n", title, std::string(plot_width, '-').c_str());
    for (const std::string& line : rows) std::printf("|%s|\n", line.c_str());
    std::printf("+%s+\n", std::string(plot_width, '-').c_str());
}

// Adam (Kingma and Ba 2015) down to a minimum of U.
Weights descend(Tape<double>& tape, const Data& data, Weights w, int steps) {
    Weights gradient = w, m = w, v = w;
    for (auto* moments : {&m, &v})
        for (Tensor<double>& t : *moments) t = Tensor<double>::zeros(t.shape());
    double u = 0;
    for (int step = 1; step <= steps; ++step) {
        u = potential(tape, data, w, gradient);
        const double rate = descent_rate * std::sqrt(1 - math::pow(0.999, step)) / (1 - math::pow(0.9, step));
        for (std::size_t k = 0; k < w.size(); ++k) {
            double *at = w[k].mutable_data(), *m_k = m[k].mutable_data(), *v_k = v[k].mutable_data();
            for (std::int64_t i = 0; i < w[k].size(); ++i) {
                const double g = gradient[k].data()[i];
                m_k[i] += 0.1 * (g - m_k[i]);
                v_k[i] += 0.001 * (g * g - v_k[i]);
                at[i] -= rate * m_k[i] / (std::sqrt(v_k[i]) + 1e-8);
            }
        }
    }
    std::printf("gradient descent: %d steps, U = %.2f\n", steps, u);
    return w;
}

void run(const Example& example, std::int64_t chain, std::int64_t discarded) {
    const Data data = make_data(example.seed);
    Tape<double> tape, predicting(Recording::off);
    Random random(example.seed, 1);

    Weights w = descend(tape, data, draw_prior(random), descent_steps);
    const std::vector<double> best = predict(predicting, w);
    plot("The best fit (*): one curve, the same certainty everywhere", data, best, std::vector<double>(plot_width, 0));

    // Momentum p ~ N(0, 1), leapfrog steps on H = U + p^2 / 2, accept with probability min(1, exp(H - H')).
    const auto start = std::chrono::steady_clock::now();
    std::vector<double> total(plot_width, 0), total2(plot_width, 0);
    Weights gradient = w, p = w;
    double u = potential(tape, data, w, gradient), step_size = 0.01, acceptance = 0;
    for (std::int64_t draw = 0; draw < chain + discarded; ++draw) {
        for (Tensor<double>& t : p) random.fill_normal(t.mutable_values());
        Weights next = w, slope = gradient;
        const double energy = u + norm2(p) / 2;
        double next_u = u;
        for (int i = 0; i < leapfrogs; ++i) {
            add_scaled(p, -step_size / 2, slope);
            add_scaled(next, step_size, p);
            next_u = potential(tape, data, next, slope);
            add_scaled(p, -step_size / 2, slope);
        }
        // A trajectory that left for where the energy is infinite, or not a number, is rejected.
        const double next_energy = next_u + norm2(p) / 2;
        const double accept = std::isfinite(next_energy) ? std::min(1.0, math::exp(energy - next_energy)) : 0;
        if (random.uniform() < accept) {
            w = next;
            u = next_u;
            gradient = slope;
        }
        if (draw < discarded) {
            step_size *= math::exp(0.1 * (accept - target_acceptance));
            continue;
        }
        acceptance += accept / static_cast<double>(chain);
        const std::vector<double> y = predict(predicting, w);
        for (std::size_t c = 0; c < plot_width; ++c) {
            total[c] += y[c];
            total2[c] += y[c] * y[c];
        }
        if ((draw - discarded + 1) % (chain / 4) == 0)
            std::printf("Hamiltonian Monte Carlo: %lld of %lld draws, U = %.1f\n",
                        static_cast<long long>(draw - discarded + 1), static_cast<long long>(chain), u);
    }
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();

    std::vector<double> mean(plot_width), sd(plot_width);
    for (std::size_t c = 0; c < plot_width; ++c) {
        mean[c] = total[c] / static_cast<double>(chain);
        sd[c] = std::sqrt(std::max(0.0, total2[c] / static_cast<double>(chain) - mean[c] * mean[c]));
    }
    plot("The posterior mean (*) and two standard deviations (.): unsure where there is no data", data, mean, sd);

    const std::int64_t gradients = (chain + discarded) * leapfrogs;
    std::printf("\nacceptance %.2f, %lld gradients of %d weights in %.1f s\n", acceptance,
                static_cast<long long>(gradients), hidden + hidden + hidden * hidden + hidden + hidden + 1, seconds);
    ResultTable table({"", "x = -1, data", "x = 0.05, none"});
    const std::size_t among = column_of(-1), hole = column_of(0.05);
    table.row({"the curve that made the data", {curve(-1), 2}, {curve(0.05), 2}});
    table.row({"best fit", {best[among], 2}, {best[hole], 2}});
    table.row({"posterior mean", {mean[among], 2}, {mean[hole], 2}});
    table.row({"posterior sd", {sd[among], 3}, {sd[hole], 3}});
    table.row({"acceptance", {acceptance, 2}, ""});
    table.show();
    table.save(example.path("hmc_by_hand"));

    Figure figure(example.path("hmc_by_hand"));
    Panel& panel = figure.panel("A curve and its posterior", "x", "y");
    std::vector<double> grid, truth, low, high;
    for (std::size_t c = 0; c < plot_width; ++c) {
        grid.push_back(plot_x * (2.0 * static_cast<double>(c) / (plot_width - 1) - 1));
        truth.push_back(curve(grid.back()));
        low.push_back(mean[c] - 2 * sd[c]);
        high.push_back(mean[c] + 2 * sd[c]);
    }
    panel.band("HMC, two sds", grid, low, high);
    panel.line("HMC, mean", grid, mean);
    panel.dashed("best fit", grid, best);
    panel.dashed("truth", grid, truth);
    panel.points("data", {data.x.begin(), data.x.end()}, {data.y.begin(), data.y.end()});
    panel.set("set yrange [-1.5:1.5]");
    figure.save();
}

int main(int argc, char** argv) {
    Example example("Hamiltonian Monte Carlo by hand, on the weights of a small network.", "2 seconds");
    std::int64_t draws = 600, warm_up = 200;
    example.option("--draws", draws, 150, "draws that are used", 4);
    example.option("--warm-up", warm_up, 100, "draws before them, in which the step is chosen", 0);
    return example.run(argc, argv, [&] { run(example, draws, warm_up); });
}
