#include <pollen/autograd/math.hpp>
#include <pollen/nn/potentials/function_potential.hpp>
#include <pollen/samplers/full_batch/detail/hamiltonian.hpp>

#include "../../support.hpp"

#include <array>
#include <cmath>
#include <utility>

using namespace pollen;

// What makes HMC right without a Jacobian in its acceptance: a leapfrog step keeps volume in phase space, and runs
// backward when the momentum turns round.
BOOST_AUTO_TEST_SUITE(leapfrog)

using Point = std::array<double, 4>;  // x, y and their momenta

// A curved valley: U = x^2 / 2 + 5 (y - x^2)^2.
FunctionPotential<double> banana() {
    return {2, [](std::span<const double> x, std::span<double> slope) {
                const double off = x[1] - x[0] * x[0];
                if (!slope.empty()) {
                    slope[0] = x[0] - 20 * off * x[0];
                    slope[1] = 10 * off;
                }
                return x[0] * x[0] / 2 + 5 * off * off;
            }};
}

constexpr double step = 0.1, beta = 0.7;

struct Leapfrog {
    Metric<double> metric;
    std::int64_t steps = 10;

    Point operator()(const Point& at) const {
        auto potential = banana();
        detail::Phase<double> from, to;
        from.resize(2);
        to.resize(2);
        from.position = {at[0], at[1]};
        from.momentum = {at[2], at[3]};
        from.energy = potential.evaluate(from.position, from.gradient);
        detail::trajectory(potential, metric, beta, step, steps, from, to, {});
        return {to.position[0], to.position[1], to.momentum[0], to.momentum[1]};
    }
};

// Euler's rule: both steps from where the point was. It serves as the twin that must fail.
struct Euler {
    std::int64_t steps = 10;

    Point operator()(Point at) const {
        auto potential = banana();
        for (std::int64_t k = 0; k < steps; ++k) {
            std::array<double, 2> slope;
            potential.evaluate(std::span(at).first(2), slope);
            for (std::size_t i : {0, 1}) {
                at[i] += step * at[i + 2];
                at[i + 2] -= step * beta * slope[i];
            }
        }
        return at;
    }
};

// The determinant of the matrix of derivatives, from central differences of fourth order, whose error is about 1e-9.
template <class Map>
double volume(const Map& map, const Point& at) {
    constexpr double h = 1e-3;
    std::array<Point, 4> m;  // row by row, by what is moved
    for (std::size_t i = 0; i < 4; ++i) {
        const auto moved = [&](double by) {
            Point there = at;
            there[i] += by;
            return map(there);
        };
        const Point a = moved(-2 * h), b = moved(-h), c = moved(h), d = moved(2 * h);
        for (std::size_t j = 0; j < 4; ++j) m[i][j] = (8 * (c[j] - b[j]) - (d[j] - a[j])) / (12 * h);
    }
    double determinant = 1;
    for (std::size_t k = 0; k < 4; ++k) {  // Gauss's elimination with pivots
        std::size_t pivot = k;
        for (std::size_t i = k + 1; i < 4; ++i)
            if (std::abs(m[i][k]) > std::abs(m[pivot][k])) pivot = i;
        if (pivot != k) {
            std::swap(m[pivot], m[k]);
            determinant = -determinant;
        }
        determinant *= m[k][k];
        for (std::size_t i = k + 1; i < 4; ++i) {
            const double factor = m[i][k] / m[k][k];
            for (std::size_t j = k; j < 4; ++j) m[i][j] -= factor * m[k][j];
        }
    }
    return determinant;
}

// How far from its beginning a trajectory ends that goes on with its momentum turned round.
template <class Map>
double there_and_back(const Map& map, const Point& at) {
    Point end = map(at);
    end = map({end[0], end[1], -end[2], -end[3]});
    return std::max(
        {std::abs(end[0] - at[0]), std::abs(end[1] - at[1]), std::abs(end[2] + at[2]), std::abs(end[3] + at[3])});
}

const Point starts[] = {{0.3, -0.2, 1, 0.5}, {-1, 1.2, 0.4, -1.5}, {1.4, 1.6, -2, 0.1}};

Leapfrog with_metric(MetricKind kind, const std::vector<double>& inverse) {
    Leapfrog map{Metric<double>(kind, 2)};
    if (!inverse.empty()) map.metric.set_inverse(inverse, "test");
    return map;
}

BOOST_AUTO_TEST_CASE(keeps_volume) {
    for (const Point& at : starts)
        for (const Leapfrog& map : {with_metric(MetricKind::unit, {}), with_metric(MetricKind::diagonal, {0.5, 2}),
                                    with_metric(MetricKind::dense, {1, 0.6, 0.6, 2})})
            BOOST_TEST(std::abs(volume(map, at) - 1) < 1e-7);
}

BOOST_AUTO_TEST_CASE(euler_does_not_keep_volume) {
    for (const Point& at : starts) BOOST_TEST(std::abs(volume(Euler{}, at) - 1) > 0.05);
}

// 100 steps there and 100 back; only rounding is left.
BOOST_AUTO_TEST_CASE(runs_backward) {
    for (const Point& at : starts)
        for (Leapfrog map : {with_metric(MetricKind::unit, {}), with_metric(MetricKind::diagonal, {0.5, 2}),
                             with_metric(MetricKind::dense, {1, 0.6, 0.6, 2})}) {
            map.steps = 100;
            BOOST_TEST(there_and_back(map, at) < 1e-9);
        }
}

BOOST_AUTO_TEST_CASE(euler_does_not_run_backward) {
    for (const Point& at : starts) BOOST_TEST(there_and_back(Euler{}, at) > 0.05);
}

BOOST_AUTO_TEST_SUITE_END()
