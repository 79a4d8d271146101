#include "minibatch_checks.hpp"

#include <pollen/samplers/minibatch/cyclical.hpp>

using namespace pollen;
using namespace pollen::test;

BOOST_AUTO_TEST_SUITE(cyclical)

// The weighted mean of (x - m)^2 over many cycles against the exact recursion of the variance,
//     s_{t+1} = (1 - a_t)^2 s_t + e_t^2 V / 4 + e_t T where there is noise,
// with the standard error from the cycles, which hardly know of each other. A false alarm in one of 10^6 tests.
BOOST_AUTO_TEST_CASE(exact_law) {
    for (const double t : {1.0, 0.1}) {
        const NoisyGaussian<double> potential(one_dimension(1), 0.1 * std::sqrt(t), 50, t);
        const double v = potential.noise(5)[0][0];
        const int length = 40, cycles = 4000;
        const Cyclical sampler{
            .step_size = 0.8, .steps = length * cycles, .cycles = cycles, .exploration = 0.5, .batch = 5};
        const auto chain = sampler.begin(potential.clone(), ChainStart<double>{{0.5}, 3, 0, 0});
        double s = 0, expected = 0, weights = 0;
        std::vector<std::vector<double>> means(1);
        for (int c = 0; c < cycles; ++c) {
            double sum = 0, weight = 0;
            for (int k = 0; k < length; ++k) {
                const double e = 0.4 * (std::cos(std::numbers::pi * k / length) + 1);
                BOOST_REQUIRE(std::abs(chain->weight() - (k > length / 2 ? e : 0)) < 1e-15);
                const double x = chain->position()[0] - 0.5;
                sum += chain->weight() * x * x;
                weight += chain->weight();
                if (c == cycles / 2) {
                    expected += chain->weight() * s;
                    weights += chain->weight();
                }
                s = (1 - e / 2) * (1 - e / 2) * s + e * e * v / 4 + (k >= length / 2 ? e * t : 0);
                BOOST_REQUIRE(std::abs(chain->step().step_size - e) < 1e-15);
            }
            means[0].push_back(sum / weight);
        }
        BOOST_TEST(std::abs(z_score(means, expected / weights)) < 5);
    }
}

// The same of SGHMC, with the covariance P of (x, v):
//     P_{t+1} = A P_t A' + (h_t^2 V + 2 h_t a T where there is noise) (1 1; 1 1),    A = (1 - h_t, 1 - a; -h_t, 1 - a)
void check_law_of_momenta(double t) {
    const double a = 0.3;
    const NoisyGaussian<double> potential(one_dimension(1), 0.1 * std::sqrt(t), 50, t);
    const double v = potential.noise(5)[0][0];
    const int length = 60, cycles = 12000;
    const Cyclical sampler{.step_size = 0.2,
                           .steps = length * cycles,
                           .cycles = cycles,
                           .exploration = 0.5,
                           .dynamics = Cyclical::Dynamics::hamiltonian,
                           .friction = a,
                           .batch = 5};
    const auto chain = sampler.begin(potential.clone(), ChainStart<double>{{0.5}, 3, 0, 0});
    Matrix p = matrix(2);
    double expected = 0, weights = 0;
    std::vector<std::vector<double>> means(1);
    for (int c = 0; c < cycles; ++c) {
        double sum_of_squares = 0, weight = 0;
        for (int k = 0; k < length; ++k) {
            const double h = 0.1 * (std::cos(std::numbers::pi * k / length) + 1);
            const double x = chain->position()[0] - 0.5;
            sum_of_squares += chain->weight() * x * x;
            weight += chain->weight();
            if (c == cycles / 2) {
                expected += chain->weight() * p[0][0];
                weights += chain->weight();
            }
            const Matrix step{{1 - h, 1 - a}, {-h, 1 - a}};
            const double q = h * h * v + (k >= length / 2 ? 2 * h * a * t : 0);
            p = sum(times_transposed(times(step, p), step), {{q, q}, {q, q}});
            chain->step();
        }
        means[0].push_back(sum_of_squares / weight);
    }
    BOOST_TEST(std::abs(z_score(means, expected / weights)) < 5);
    // A tenth more or less would be seen.
    BOOST_TEST(std::abs(z_score(means, 1.1 * expected / weights)) > 8);
}
BOOST_AUTO_TEST_CASE(exact_law_of_momenta) {
    for (const double t : {1.0, 0.1}) check_law_of_momenta(t);
}

// In ten dimensions, where curvature and noise do not commute: the mean of |x - m|^2 is the trace of S,
//     S_{t+1} = M S_t M' + e_t^2 V / 4 + e_t T where there is noise,    M = I - e_t L / 2
BOOST_AUTO_TEST_CASE(exact_law_in_ten_dimensions) {
    const Matrix l = ten_dimensions();
    for (const double t : {1.0, 0.1}) {
        const NoisyGaussian<double> potential(l, 0.3 * std::sqrt(t), 50, t);
        const Matrix v = potential.noise(5);
        const int length = 40, cycles = 3000;
        const Cyclical sampler{
            .step_size = 0.6, .steps = length * cycles, .cycles = cycles, .exploration = 0.5, .batch = 5};
        const auto chain = sampler.begin(potential.clone(), ChainStart<double>{std::vector<double>(10, 0.5), 3, 0, 0});
        Matrix s = matrix(10);
        double expected = 0;
        std::vector<std::vector<double>> means(1);
        for (int c = 0; c < cycles; ++c) {
            double squares = 0, law = 0, weights = 0;
            for (int k = 0; k < length; ++k) {
                const double e = 0.3 * (std::cos(std::numbers::pi * k / length) + 1);
                for (const double x : chain->position()) squares += chain->weight() * (x - 0.5) * (x - 0.5);
                weights += chain->weight();
                if (c < 20) {  // by then it repeats itself
                    law += chain->weight() * trace(s);
                    const Matrix m = sum(matrix(10, 1), l, -e / 2);
                    s = sum(times_transposed(times(m, s), m), v, e * e / 4);
                    if (k >= length / 2) s = sum(s, matrix(10, e * t));
                }
                chain->step();
            }
            if (c < 20) expected = law / weights;
            means[0].push_back(squares / weights);
        }
        BOOST_TEST(std::abs(z_score(means, expected)) < 5);
        BOOST_TEST(std::abs(z_score(means, 1.1 * expected)) > 8);
    }
}

// Without noise, and over all items, exploration is SGD, or momentum.
BOOST_AUTO_TEST_CASE(exploration) {
    const NoisyGaussian<double> potential(one_dimension(1), 0.1);
    for (const auto dynamics : {Cyclical::Dynamics::langevin, Cyclical::Dynamics::hamiltonian}) {
        const bool momenta = dynamics == Cyclical::Dynamics::hamiltonian;
        const Cyclical sampler{
            .step_size = 0.1, .steps = 100, .cycles = 1, .exploration = 0.6, .dynamics = dynamics, .friction = 0.2};
        const auto chain = sampler.begin(potential.clone(), ChainStart<double>{{3}, 3, 0, 0});
        double x = 2.5, v = 0;
        for (int k = 0; k < 61; ++k) {
            const double e = 0.05 * (std::cos(std::numbers::pi * k / 100) + 1);
            v = momenta ? 0.8 * v - e * x : -e / 2 * x;
            x += v;
            chain->step();
            BOOST_TEST((std::abs(chain->position()[0] - 0.5 - x) < 1e-12) == (k < 60));
        }
    }
}

// Large steps find both wells of U = 10 (x^2 - 1)^2, small ones stay in one of them.
BOOST_AUTO_TEST_CASE(finds_other_modes) {
    const Written<double> wells(1, [](std::span<const double> x, std::span<double> g) {
        const double y = x[0] * x[0] - 1;
        if (!g.empty()) g[0] = 40 * y * x[0];
        return 10 * y * y;
    });
    const auto crossings = [&](double step) {
        const Cyclical sampler{.step_size = step, .steps = 10000, .cycles = 100, .exploration = 0.2};
        const auto chain = sampler.begin(wells.clone(), ChainStart<double>{{1}, 3, 0, 0});
        int count = 0;
        bool side = true;
        for (int c = 0; c < 100; ++c) {
            for (int k = 0; k < 99; ++k) chain->step();
            count += side != (chain->position()[0] > 0);
            side = chain->position()[0] > 0;
            chain->step();
        }
        return count;
    };
    BOOST_TEST(crossings(0.06) > 5);
    BOOST_TEST(crossings(0.001) == 0);
}

BOOST_AUTO_TEST_CASE(resume) {
    const NoisyGaussian<double> potential(ten_dimensions(), 0.1);
    const NoisyGaussian<float> in_float(ten_dimensions(), 0.1);
    check_resume(Cyclical{.step_size = 0.1, .steps = 30, .cycles = 3, .exploration = 0.5, .batch = 5}, potential, 10,
                 25);
    check_resume(Cyclical{.step_size = 0.01,
                          .steps = 30,
                          .cycles = 3,
                          .exploration = 0.5,
                          .dynamics = Cyclical::Dynamics::hamiltonian,
                          .batch = 5},
                 in_float, 10, 25);
}

BOOST_AUTO_TEST_CASE(threads) { check_threads(Cyclical{.step_size = 0.1, .exploration = 0}); }

BOOST_AUTO_TEST_CASE(invalid_points) {
    check_invalid(Cyclical{.step_size = 0.5, .exploration = 0});
    check_invalid_gradient(Cyclical{.step_size = 0.5, .exploration = 0, .batch = 5});
    check_invalid_gradient(
        Cyclical{.step_size = 0.1, .exploration = 0, .dynamics = Cyclical::Dynamics::hamiltonian, .batch = 5});
}

BOOST_AUTO_TEST_CASE(errors_and_description) {
    check_stochastic_errors("Cyclical", Cyclical{.batch = 5});
    const auto error = [&](const Cyclical& sampler) {
        return error_of<ValueError>([&] { sampler.begin(standard_normal(1), ChainStart<double>{{3}, 8, 0, 0}); });
    };
    BOOST_TEST(error({.step_size = 0}) == "Cyclical: step_size is 0; it must be positive");
    BOOST_TEST(error({.steps = 0}) == "Cyclical: steps is 0; it must be positive");
    BOOST_TEST(error({.cycles = 0}) == "Cyclical: cycles is 0; it must be positive");
    BOOST_TEST(error({.exploration = 1}) == "Cyclical: exploration is 1; it must be at least 0 and below 1");
    BOOST_TEST(error({.friction = 0}) == "Cyclical: friction is 0; it must be above 0 and at most 1");
    // No position of a cycle counts: of five steps, only the last one is not exploration.
    BOOST_TEST(error({.steps = 20, .cycles = 4, .exploration = 0.8}) ==
               "Cyclical: a cycle of 5 steps (.steps = 20, .cycles = 4) has less than two after the exploration, 0.8 "
               "of it, so none of its positions counts; longer cycles are needed");
    BOOST_TEST(error({.steps = 4, .cycles = 4, .exploration = 0}).starts_with("Cyclical: a cycle of 1 steps "));
    BOOST_TEST(error({.steps = 8, .cycles = 4, .exploration = 0}) == "");
    BOOST_TEST(error({.steps = 40, .cycles = 4, .exploration = 0.8}) == "");
    // No draw of the run counts.
    const auto run_error = [&](std::int64_t warmup, std::int64_t draws, std::int64_t thin) {
        return error_of<ValueError>([&] {
            Cyclical{}.begin(standard_normal(1), ChainStart<double>{{3}, 8, 0, warmup, draws, thin});
        });
    };
    BOOST_TEST(run_error(50, 100, 1) ==
               "Cyclical: all draws fall into the exploration part: Cyclical has .steps = 1000, the run has 150; set "
               ".steps to warmup + draws * thin, or make cycles shorter");
    BOOST_TEST(run_error(50, 150, 1) != "");
    BOOST_TEST(run_error(50, 151, 1) == "");
    BOOST_TEST(run_error(0, 100, 250) ==
               "Cyclical: all draws fall into the exploration part of cycles of 250 steps: one every 250 steps after 0 "
               "of warm-up; another thin or warmup is needed");
    BOOST_TEST(run_error(249, 100, 250) == "");
    BOOST_TEST(run_error(0, 100, 249) == "");
    BOOST_TEST(
        (Cyclical{.step_size = 0.25}.describe()) ==
        "Cyclical(step_size = 0.25, steps = 1000, cycles = 4, exploration = 0.8, dynamics = langevin, friction = "
        "0.1, batch = 0)");
}

BOOST_AUTO_TEST_SUITE_END()
