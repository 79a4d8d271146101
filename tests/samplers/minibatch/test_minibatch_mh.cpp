#include "minibatch_checks.hpp"

#include <pollen/samplers/minibatch/minibatch_mh.hpp>

using namespace pollen;
using namespace pollen::test;

namespace {

// The law of the sampler on N(m, T) with four items in batches of two, by quadrature over the six batches: the gradient
// of a batch is x + c, its energy x^2 / 2 + c x.
double law_of(const NoisyGaussian<double>& potential, double e, double t, bool slip = false) {
    std::vector<double> shifts;
    for (std::size_t i = 0; i < 4; ++i)
        for (std::size_t j = 0; j < i; ++j) shifts.push_back(2 * (potential.shifts()[i][0] + potential.shifts()[j][0]));
    return stationary_variance(
        [&, e, t, slip](double x, double y) {
            double density = 0;
            for (const double c : shifts) {
                const double there = normal_density(y, x - e / 2 * (x + c), e * t);
                const double back = normal_density(x, y - e / 2 * (y + c), e * t);
                const double ratio = std::exp((x * x / 2 + c * x - y * y / 2 - c * y) / t) * back / there;
                if (there > 0) density += there * (slip ? 1 : std::min(1.0, ratio)) / 6;
            }
            return density;
        },
        8 * std::sqrt(t));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(minibatch_mh)

// A step that leads to no number at all is rejected for certain.
BOOST_AUTO_TEST_CASE(steps_out_of_range) {
    const auto chain =
        ApproximateMinibatchMala{.step_size = 1e308}.begin(standard_normal(1), ChainStart<double>{{1e3}, 3, 0, 0});
    const StepStatistics s = chain->step();
    BOOST_TEST(s.invalid);
    BOOST_TEST(s.acceptance == 0);
    BOOST_TEST(chain->position()[0] == 1e3);
}

// Over all items it is MALA: the law is exact at any step. |z| > 5 comes once in 1.7 million times.
BOOST_AUTO_TEST_CASE(exact_over_all_items) {
    for (const double t : {1.0, 0.1}) {
        const NoisyGaussian<double> potential(ten_dimensions(), 0.3, 50, t);
        const Moments got =
            moments(ApproximateMinibatchMala{.step_size = 0.3}, potential, inverse(ten_dimensions(), t), 40000, 3);
        BOOST_TEST(got.worst < 5);
        BOOST_TEST(std::abs(got.configurational - t) < 5 * got.configurational_error);
        const NoisyGaussian<float> in_float(ten_dimensions(), 0.3, 50, t);
        BOOST_TEST(moments(ApproximateMinibatchMala{.step_size = 0.3, .batch = 50}, in_float,
                           inverse(ten_dimensions(), t), 20000, 3)
                       .worst < 5);
    }
}

// With batches it has a law of its own, which is not the posterior, nor what always accepting gives (a maximum in place
// of the minimum).
BOOST_AUTO_TEST_CASE(law_with_batches) {
    const double e = 0.8;
    for (const double t : {1.0, 0.1}) {
        const NoisyGaussian<double> potential(one_dimension(1), 0.4 * std::sqrt(t), 4, t);
        const double law = law_of(potential, e, t), slip = law_of(potential, e, t, true);
        const double v = potential.noise(2)[0][0];
        BOOST_TEST(std::abs(slip / sgld_law({{1}}, {{v}}, e, t)[0][0] - 1) < 1e-3);
        BOOST_TEST(std::abs(law / t - 1) > 0.05);
        BOOST_TEST(std::abs(law / slip - 1) > 0.05);
        const ApproximateMinibatchMala sampler{.step_size = e, .batch = 2};
        BOOST_TEST(moments(sampler, potential, {{law}}, 60000, 4).worst < 5);
        BOOST_TEST(moments(sampler, potential, {{slip}}, 60000, 4).worst > 6);
    }
}

// The acceptance rate tends to one with the step.
BOOST_AUTO_TEST_CASE(acceptance) {
    const NoisyGaussian<double> potential(ten_dimensions(), 0.1);
    const auto rate = [&](double e) {
        const ApproximateMinibatchMala sampler{.step_size = e, .batch = 5};
        const auto chain = sampler.begin(potential.clone(), ChainStart<double>{std::vector<double>(10), 1, 0, 0});
        double sum = 0;
        for (int t = 0; t < 2000; ++t) sum += chain->step().acceptance / 2000;
        return sum;
    };
    BOOST_TEST(rate(2) < 0.8);
    BOOST_TEST(rate(0.01) > 0.99);
}

BOOST_AUTO_TEST_CASE(resume) {
    const ApproximateMinibatchMala sampler{.step_size = 0.5, .batch = 5};
    check_resume(sampler, NoisyGaussian<double>(ten_dimensions(), 0.1), 10, 25);
    check_resume(sampler, NoisyGaussian<float>(ten_dimensions(), 0.1), 10, 25);
}

BOOST_AUTO_TEST_CASE(invalid_points) {
    check_invalid(ApproximateMinibatchMala{.step_size = 0.5});
    check_invalid_gradient(ApproximateMinibatchMala{.step_size = 0.5, .batch = 5});
}

BOOST_AUTO_TEST_CASE(errors_and_description) {
    check_stochastic_errors("ApproximateMinibatchMala", ApproximateMinibatchMala{.batch = 5});
    BOOST_TEST(error_of<ValueError>([] {
                   ApproximateMinibatchMala{.step_size = 0}.begin(standard_normal(1), ChainStart<double>{{3}, 8, 0, 0});
               }) == "ApproximateMinibatchMala: step_size is 0; it must be positive");
    const NoisyGaussian<double> cold(one_dimension(1), 0.1, 50, 0);
    BOOST_TEST(error_of<ValueError>([&] {
                   ApproximateMinibatchMala{}.begin(cold.clone(), ChainStart<double>{{3}, 8, 0, 0});
               }) == "ApproximateMinibatchMala: the temperature is 0; it must be positive");
    BOOST_TEST((ApproximateMinibatchMala{.step_size = 0.25, .batch = 5}.describe()) ==
               "ApproximateMinibatchMala(step_size = 0.25, batch = 5)");
}

BOOST_AUTO_TEST_SUITE_END()
