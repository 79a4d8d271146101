#include "volume.hpp"

#include "../common/figure.hpp"
#include "../common/table.hpp"

#include <pollen/autograd/math.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <numbers>
#include <string>
#include <vector>

namespace {

struct Moving {
    double q, p;
};
using Step = std::function<Moving(Moving)>;

constexpr double h = 0.05;
constexpr int step_count = 40;

// U = 2 (q^2 - 1)^2
double slope(double q) { return 8 * q * (q * q - 1); }

Moving leapfrog_step(Moving z) {
    z.p -= h / 2 * slope(z.q);
    z.q += h * z.p;
    z.p -= h / 2 * slope(z.q);
    return z;
}

Moving kick_and_drift(Moving z) {
    z.p -= h * slope(z.q);
    z.q += h * z.p;
    return z;
}

Moving euler_step(Moving z) { return {z.q + h * z.p, z.p - h * slope(z.q)}; }

// The area inside a closed line.
double area(const std::vector<Moving>& line) {
    double twice = 0;
    for (std::size_t k = 0; k < line.size(); ++k) {
        const Moving &a = line[k], &b = line[(k + 1) % line.size()];
        twice += a.q * b.p - b.q * a.p;
    }
    return std::abs(twice) / 2;
}

}  // namespace

void volume(const Example& example, bool slip) {
    std::printf("5. A disc in phase space, U = 2 (q^2 - 1)^2, %d steps of %g\n", step_count, h);
    std::vector<Moving> disc;
    constexpr int corners = 20000;
    for (int k = 0; k < corners; ++k) {
        const double angle = 2 * std::numbers::pi * k / corners;
        disc.push_back({-0.9 + 0.3 * pollen::math::cos(angle), 1.6 + 0.3 * pollen::math::sin(angle)});
    }
    ResultTable table({"rule", "area after / before", "there and back, farthest off"});
    Figure figure(example.path("hmc_tour_volume"), 3);
    const auto show = [&](const std::string& name, const Step& step) {
        std::vector<Moving> now = disc;
        Panel& panel = figure.panel(name, "q", "p");
        const auto draw = [&](const char* label) {
            std::vector<double> q, p;
            for (std::size_t i = 0; i <= now.size(); i += 20) {
                q.push_back(now[i % now.size()].q);
                p.push_back(now[i % now.size()].p);
            }
            panel.line(label, q, p);
        };
        draw("before");
        for (int t = 0; t < step_count; ++t) {
            for (Moving& z : now) z = step(z);
            if (t == step_count / 4 - 1) draw("after 10 steps");
        }
        draw("after 40 steps");
        double off = 0;
        for (std::size_t k = 0; k < now.size(); ++k) {
            Moving z{now[k].q, -now[k].p};
            for (int t = 0; t < step_count; ++t) z = step(z);
            off = std::max({off, std::abs(z.q - disc[k].q), std::abs(z.p + disc[k].p)});
        }
        table.row({name, {area(now) / area(disc), 4}, {off, 10}});
        panel.set("set xrange [-2.5:2.5]");
        panel.set("set yrange [-4:4]");
    };
    show("leapfrog", slip ? kick_and_drift : leapfrog_step);
    show("kick, then drift", kick_and_drift);
    show("Euler", euler_step);
    table.show();
    table.save(example.path("hmc_tour_volume"));
    std::printf(
        "A leapfrog step keeps the area and finds its way back. A kick and a drift keep the area, but the way back "
        "has\n"
        "to begin with the drift. Euler's rule does neither.\n\n");
    figure.save();
}
