#include "minibatch_checks.hpp"

#include <pollen/samplers/diagnostics/weighted.hpp>
#include <pollen/samplers/minibatch/detail/batch_gradient.hpp>
#include <pollen/samplers/minibatch/sgld.hpp>

using namespace pollen;
using namespace pollen::test;

BOOST_AUTO_TEST_SUITE(sgld)

// The stationary covariance at the step used, every entry, and the temperature that follows from it. z-scores beyond 5
// come once in 1.7 million times, 55 entries and four cases: a false alarm in one of 7,000 tests.
BOOST_AUTO_TEST_CASE(exact_law) {
    for (const double t : {1.0, 0.1})
        for (const Matrix& l : {one_dimension(2), ten_dimensions()}) {
            const NoisyGaussian<double> potential(l, 0.3 * std::sqrt(t), 50, t);
            const double e = 0.2;
            const Matrix v = potential.noise(5), law = sgld_law(l, v, e, t);
            if (l.size() == 1) {
                const double a = e * l[0][0] / 2;
                BOOST_TEST(std::abs(law[0][0] / ((e * t + e * e * v[0][0] / 4) / (2 * a - a * a)) - 1) < 1e-12);
            }
            const Moments got = moments(Sgld{.step_size = e, .batch = 5}, potential, law, 60000, 3);
            BOOST_TEST(got.worst < 5);
            const double expected = temperature_of(l, law);
            BOOST_TEST(std::abs(got.configurational - expected) < 5 * got.configurational_error);
            BOOST_TEST(std::abs(expected - t) > 20 * got.configurational_error);  // the step is far from exact
            BOOST_TEST(got.invalid == 0);
            // Of a chain that forgets the gradient's noise, or T, the law is another one.
            BOOST_TEST(moments(Sgld{.step_size = e}, potential, law, 20000, 3).worst > 8);
        }
}

BOOST_AUTO_TEST_CASE(float_and_full_batch) {
    const NoisyGaussian<float> potential(ten_dimensions(), 0.3);
    const Matrix none = matrix(10), law = sgld_law(ten_dimensions(), none, 0.2, 1);
    BOOST_TEST(moments(Sgld{.step_size = 0.2}, potential, law, 30000, 3).worst < 5);
    BOOST_TEST(moments(Sgld{.step_size = 0.2, .batch = 50}, potential, law, 30000, 3).worst < 5);
}

// Where the noise does not depend on theta, a control variate takes away all of it.
BOOST_AUTO_TEST_CASE(control_variate) {
    const Sgld sampler{.step_size = 0.2, .batch = 5, .control_variate = {.every = 20}};
    for (const double t : {1.0, 0.1}) {
        const NoisyGaussian<double> tempered(ten_dimensions(), 0.3, 50, t);
        const Matrix law = sgld_law(ten_dimensions(), matrix(10), 0.2, t);
        BOOST_TEST(moments(sampler, tempered, law, 30000, 3).worst < 5);
    }
    const NoisyGaussian<double> potential(ten_dimensions(), 0.3);
    const auto chain = sampler.begin(potential.clone(), ChainStart<double>{std::vector<double>(10), 1, 0, 0});
    std::int64_t gradients = 0;
    for (int k = 0; k < 40; ++k) gradients += chain->step().gradients;
    BOOST_TEST(gradients == 2 * (19 * 2 + 1));
}

// U = sum_i (l_i x^2 / 2 + c_i x), sum_i c_i = 0: the slope of an item depends on x, and so does the noise.
class Curved final : public Potential<double> {
  public:
    static constexpr std::int64_t n = 50;
    Curved() {
        Random random(7);
        double mean = 0, sum_of_slopes = 0;
        for (int i = 0; i < n; ++i) sum_of_slopes += i * i;
        for (int i = 0; i < n; ++i) {
            slopes_.push_back(i * i / sum_of_slopes);
            shifts_.push_back(0.3 * random.normal<double>());
            mean += shifts_.back() / n;
        }
        for (double& c : shifts_) c -= mean;
    }
    // The moments of N l_i about sum_i l_i = 1, i any item: the second is V of a batch of one at x - anchor = 1.
    double moment(int k) const {
        double sum = 0;
        for (const double l : slopes_) sum += std::pow(n * l - 1, k) / n;
        return sum;
    }

    std::unique_ptr<Potential<double>> clone() const override { return std::make_unique<Curved>(*this); }
    std::int64_t size() const override { return 1; }
    std::int64_t items() const override { return n; }
    Energy evaluate(std::span<const double> x, std::span<double> g) override {
        if (!g.empty()) g[0] = x[0];
        return {0, x[0] * x[0] / 2};
    }
    Energy evaluate(std::span<const double> x, std::span<double> g, std::span<const std::int64_t> batch) override {
        double slope = 0, shift = 0;
        for (const std::int64_t i : batch) {
            slope += slopes_[static_cast<std::size_t>(i)] * n / static_cast<double>(batch.size());
            shift += shifts_[static_cast<std::size_t>(i)] * n / static_cast<double>(batch.size());
        }
        if (!g.empty()) g[0] = slope * x[0] + shift;
        return {0, slope * x[0] * x[0] / 2 + shift * x[0]};
    }
    const std::vector<Quantity>& quantities() const override { return blocks_; }
    void values(std::span<const double> x, std::span<double> out) override { out[0] = x[0]; }
    const std::vector<Quantity>& blocks() const override { return blocks_; }
    std::string describe() const override { return "curved"; }

  private:
    std::vector<double> slopes_, shifts_;
    std::vector<Quantity> blocks_{{"x", {1}, 0}};
};

// With an anchor y the gradient is x + w (x - y), w = N l_i - 1 of variance V for batches of one item; so with
// a = e / 2, for the moments s = E x^2, c = E x y and b = E y^2 from step to step,
//     s = (1-a)^2 s + a^2 V (s - 2c + b) + e,    c = (1-a) c,    and b = c = s where x becomes the anchor.
// The mean of x^2 over all steps is compared. A false alarm in one of 10^6 tests.
BOOST_AUTO_TEST_CASE(control_variate_with_noise) {
    const Curved potential;
    const double e = 0.5, a = e / 2, v = potential.moment(2);
    const auto law = [&](int every, double variance) {
        double s = 1, c = 0, b = 0, mean = 0;
        for (int t = 0; t < 100 * every; ++t) {
            if (t % every == 0) {
                b = c = s;
                mean = 0;
            }
            s = (1 - a) * (1 - a) * s + a * a * variance * (s - 2 * c + b) + e;
            c *= 1 - a;
            mean += s / every;
        }
        return mean;
    };
    for (const int every : {3, 20}) {
        const Sgld sampler{.step_size = e, .batch = 1, .control_variate = {.every = every}};
        const auto chain = sampler.begin(potential.clone(), ChainStart<double>{{0}, test_seed(5), 0, 0});
        for (int t = 0; t < 100 * every; ++t) chain->step();
        std::vector<std::vector<double>> squares(1);
        for (int t = 0; t < 300000; ++t) {
            chain->step();
            squares[0].push_back(chain->position()[0] * chain->position()[0]);
        }
        BOOST_TEST(std::abs(z_score(squares, law(every, v))) < 5);
        // Without the noise that is left, and with that of an anchor which stays for another time, it is another law.
        BOOST_TEST(std::abs(z_score(squares, law(every, 0))) > 6);
        BOOST_TEST(std::abs(z_score(squares, law(23 - every, v))) > 6);
    }
}

// The variance of the gradient is V (x - y)^2, whatever x is: it falls with the distance from the anchor. The sample
// variance of m numbers has the variance (fourth moment - V^2) / m; six comparisons at 5 standard errors.
BOOST_AUTO_TEST_CASE(noise_falls_towards_the_anchor) {
    Curved potential;
    detail::BatchGradient<double> gradient("Sgld", potential, 4, 0, 1, {.every = 10});
    std::vector<double> g(1);
    const double v = potential.moment(2), error = std::sqrt((potential.moment(4) - v * v) / 40000);
    gradient.begin(0);
    gradient.arrive(std::vector{2.0}, g);
    BOOST_TEST(g[0] == 2);
    for (const double distance : {1.0, 0.1, 0.001}) {
        const std::vector<double> x{2 + distance};
        double mean = 0, variance = 0;
        for (int k = 0; k < 40000; ++k) {
            gradient(x, g);
            mean += (g[0] - x[0]) / 40000;
            variance += (g[0] - x[0]) * (g[0] - x[0]) / 40000;
        }
        BOOST_TEST(std::abs(mean) < 5 * distance * std::sqrt(v / 40000));
        BOOST_TEST(std::abs(variance / (distance * distance) - v) < 5 * error);
    }
}

// Teh's theorem: averages are weighted by the step that leaves a position, which is known before it is done. With steps
// e_t the variance at step t is s_{t+1} = (1 - a_t)^2 s_t + e_t T + e_t^2 V / 4 exactly; its weighted mean is compared.
// The tolerance is five standard errors, sqrt(2 / r) in r = sum e_t L / 2 relaxation times: a false alarm in one of
// 10^6.
BOOST_AUTO_TEST_CASE(weights) {
    const NoisyGaussian<double> potential(one_dimension(1), 0.05);
    const double v = potential.noise(5)[0][0];
    const Sgld sampler{.step_size = Schedule::polynomial_between(0.4, 0.005, 0.4, 300000), .batch = 5};
    const auto chain = sampler.begin(potential.clone(), ChainStart<double>{{0.5}, 8, 0, 0});
    WeightedMoments weighted(1);
    double relaxations = 0, expected = 0, s = 0;
    for (int t = 0; t < 300000; ++t) {
        const double e = chain->weight();
        weighted.add(chain->position(), e);
        relaxations += e / 2;
        expected += e / 2 * s;
        s = (1 - e / 2) * (1 - e / 2) * s + e + e * e * v / 4;
        BOOST_REQUIRE(chain->step().step_size == e);
    }
    BOOST_TEST(chain->weight() < 0.005);
    BOOST_TEST(std::abs(weighted.mean[0] - 0.5) < 5 * std::sqrt(2 / relaxations));
    BOOST_TEST(std::abs(weighted.variance()[0] - expected / relaxations) < 5 * std::sqrt(2 / relaxations));
    BOOST_TEST(std::abs(expected / relaxations - 1) < 0.02);
    BOOST_TEST(relaxations > 1000);
}

BOOST_AUTO_TEST_CASE(resume) {
    const NoisyGaussian<double> potential(ten_dimensions(), 0.3);
    const NoisyGaussian<float> in_float(ten_dimensions(), 0.3);
    const Schedule falling = Schedule::polynomial(0.1, 1, 0.5);
    check_resume(Sgld{.step_size = falling, .batch = 5}, potential, 10, 25);
    check_resume(Sgld{.step_size = falling, .batch = 5}, in_float, 10, 25);
    check_resume(Sgld{.step_size = falling, .batch = 5, .control_variate = {.every = 7}}, potential, 10, 25);
}

BOOST_AUTO_TEST_CASE(threads) { check_threads(Sgld{.step_size = 0.1}); }

BOOST_AUTO_TEST_CASE(invalid_points) {
    check_invalid(Sgld{.step_size = 0.5});
    check_invalid_gradient(Sgld{.step_size = 0.5, .batch = 5});
    check_invalid_gradient(Sgld{.step_size = 0.5, .batch = 5, .control_variate = {.every = 3}});
}

// At T = 0 it is SGD.
BOOST_AUTO_TEST_CASE(without_temperature) {
    const NoisyGaussian<double> potential(one_dimension(2), 0.3, 50, 0);
    const auto chain = Sgld{.step_size = 0.5}.begin(potential.clone(), ChainStart<double>{{3}, 8, 0, 0});
    for (int t = 0; t < 100; ++t) chain->step();
    BOOST_TEST(std::abs(chain->position()[0] - 0.5) < 1e-12);
}

BOOST_AUTO_TEST_CASE(errors_and_description) {
    check_stochastic_errors("Sgld", Sgld{.batch = 5});
    const NoisyGaussian<double> potential(one_dimension(2), 0.3);
    const auto error = [&](const Sgld& sampler, int steps = 0) {
        return error_of<ValueError>([&] {
            const auto chain = sampler.begin(potential.clone(), ChainStart<double>{{3}, 8, 0, 0});
            for (int t = 0; t < steps; ++t) chain->step();
        });
    };
    BOOST_TEST(error({.step_size = 0}) == "Sgld: step_size is 0; it must be positive");
    BOOST_TEST(error({.step_size = Schedule("odd", [](std::int64_t t) { return t < 3 ? 0.1 : -1; })}, 5) ==
               "Sgld: step_size is -1 at step 3; it must be finite and not negative");
    BOOST_TEST(error({.control_variate = {.every = 3}}) ==
               "Sgld: a control variate is for batches, but batch is 0, all items");
    BOOST_TEST(error({.batch = 5, .control_variate = {.every = -3}}) ==
               "Sgld: control_variate.every is -3; it must not be negative");
    BOOST_TEST((Sgld{.step_size = 0.25, .batch = 5}.describe()) ==
               "Sgld(step_size = 0.25, batch = 5, control_variate.every = 0)");
}

BOOST_AUTO_TEST_SUITE_END()
