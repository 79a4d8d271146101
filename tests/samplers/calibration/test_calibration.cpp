#include "../../support.hpp"
#include "calibration_models.hpp"

#include <pollen/samplers/full_batch/hmc.hpp>
#include <pollen/samplers/full_batch/mala.hpp>
#include <pollen/samplers/full_batch/metropolis.hpp>
#include <pollen/samplers/full_batch/nuts.hpp>
#include <pollen/samplers/minibatch/naive_sghmc.hpp>

#include <algorithm>
#include <cstdlib>

using namespace pollen;
using namespace pollen::test;

// Simulation-based calibration and Geweke's test of the exact samplers in full size, and of samplers that are wrong.
//
// Every p-value is held to 0.001. There are 59 of ranks and 170 of moments, so with another seed (POLLEN_TEST_SEED sets
// one) up to one of five runs gives a false alarm. It is less: all samplers see the same simulated parameters and data.
// Twins that are wrong have to be below 1e-6.
BOOST_AUTO_TEST_SUITE(calibration, *boost::unit_test::label("slow"))

namespace {

std::uint64_t seed() {
    const char* text = std::getenv("POLLEN_TEST_SEED");
    return text && *text ? std::strtoull(text, nullptr, 10) : 1;
}

double least(const Calibration& c) {
    double p = 1;
    for (const QuantityRanks& q : c.quantities) p = std::min(p, q.p_value);
    return p;
}

double least(const GewekeTest& t) {
    double p = 1;
    for (const GewekeMoment& m : t.moments) p = std::min(p, m.p_value);
    return p;
}

// 1,000 replications, ranks among 999 draws in 20 bins. The sampler adapts itself to each posterior.
template <class M, class S>
void check_ranks(const std::string& what, const S& sampler, std::int64_t warmup, std::int64_t thin) {
    const Calibration c =
        calibrate(simulation_of<M>(), sampler, {.warmup = warmup, .thin = thin, .seed = seed(), .show = Show::nothing});
    BOOST_TEST_MESSAGE(what << ": least p " << least(c) << ", least ess "
                            << std::ranges::min_element(c.quantities, {}, &QuantityRanks::ess)->ess);
    BOOST_TEST(c.replications == 1000);
    BOOST_TEST(c.quantities.size() == M::size + 1);
    BOOST_TEST(c.passed(0.001), what << '\n' << summary(c));
    for (const QuantityRanks& q : c.quantities) BOOST_TEST(q.ess > 0.7, what << ": " << q.name << ' ' << q.ess);
}

template <class M, class S>
void check_moments(const std::string& what, const S& sampler, std::int64_t transitions = 1) {
    const GewekeTest t =
        geweke_test(simulation_of<M>(), sampler,
                    {.draws = 10000, .transitions = transitions, .seed = seed(), .show = Show::nothing});
    BOOST_TEST_MESSAGE(what << ": least p " << least(t) << ", least ess "
                            << std::ranges::min_element(t.moments, {}, &GewekeMoment::ess)->ess);
    BOOST_TEST(t.passed(0.001), what << '\n' << summary(t));
    for (const GewekeMoment& m : t.moments) BOOST_TEST(m.ess > 400, what << ": " << m.name << ' ' << m.ess);
}

// M^-1 near the variances of the posteriors, and steps of that scale. Where they are too large, a chain waits for
// thousands of draws in places that are narrow, and its standard errors mean nothing: so the effective sample size of
// every mean has to be large.
template <class M>
void check_kernels(const std::vector<double>& metric, double step, std::int64_t transitions) {
    check_moments<M>("Metropolis", Metropolis{.inverse_metric = metric}, transitions);
    check_moments<M>("Hmc", Hmc{.step_size = step, .steps = {1, 6}, .inverse_metric = metric}, transitions);
    check_moments<M>("Hmc, alpha 0.9", Hmc{.step_size = step, .steps = 1, .alpha = 0.9, .inverse_metric = metric}, 8);
    check_moments<M>("Mala", Mala{.step_size = step * step, .inverse_metric = metric}, transitions);
    // Without a metric: steps of half the least scale. h is the square of a leapfrog step.
    const double h = step * step / 4 * *std::ranges::min_element(metric);
    check_moments<M>("NaiveSghmc, corrected", NaiveSghmc{.step_size = h, .length = 10, .metropolis = true},
                     transitions);
    check_moments<M>("Nuts", Nuts{.step_size = step, .inverse_metric = metric}, transitions);
}

}  // namespace

BOOST_AUTO_TEST_CASE(ranks_of_mean_and_scale) {
    check_ranks<MeanAndScale>("Nuts", Nuts{}, 300, 3);
    check_ranks<MeanAndScale>("Hmc", Hmc{.time = {1, 3}}, 300, 4);
    check_ranks<MeanAndScale>("Mala", Mala{}, 300, 8);
    check_ranks<MeanAndScale>("Metropolis", Metropolis{.metric = MetricKind::dense}, 500, 15);
}

BOOST_AUTO_TEST_CASE(ranks_of_groups) {
    check_ranks<Groups>("Nuts", Nuts{}, 300, 4);
    check_ranks<Groups>("Hmc", Hmc{.time = {1, 3}}, 300, 6);
    check_ranks<Groups>("Mala", Mala{}, 500, 40);
    check_ranks<Groups>("Metropolis", Metropolis{.metric = MetricKind::dense}, 1000, 50);
}

BOOST_AUTO_TEST_CASE(ranks_of_classes) {
    check_ranks<Classes>("Nuts", Nuts{}, 300, 3);
    check_ranks<Classes>("Hmc", Hmc{.time = {1, 3}}, 300, 4);
    check_ranks<Classes>("Mala", Mala{.metric = MetricKind::dense}, 300, 6);
    check_ranks<Classes>("Metropolis", Metropolis{.metric = MetricKind::dense}, 500, 18);
}

BOOST_AUTO_TEST_CASE(moments) {
    check_kernels<MeanAndScale>({0.2, 0.15}, 0.7, 1);
    check_kernels<Groups>({0.3, 0.7, 0.6, 0.7, 0.8}, 0.35, 3);
    check_kernels<Classes>({1, 1, 1}, 0.9, 1);
}

// Of the plainest sampler, each fault alone is found, by both tests.
BOOST_AUTO_TEST_CASE(faults_are_found) {
    const auto ranks = [](const Simulation<double>& model, const PlainHmc& sampler) {
        return least(calibrate(
            model, sampler,
            {.replications = 1000, .draws = 199, .warmup = 0, .thin = 10, .seed = seed(), .show = Show::nothing}));
    };
    const auto moments = [](const Simulation<double>& model, const PlainHmc& sampler) {
        return least(
            geweke_test(model, sampler, {.draws = 5000, .transitions = 8, .seed = seed(), .show = Show::nothing}));
    };
    const auto found = [&](const char* fault, const Simulation<double>& model, const PlainHmc& sampler) {
        const double by_ranks = ranks(model, sampler), by_moments = moments(model, sampler);
        BOOST_TEST_MESSAGE(fault << ": least p " << by_ranks << " of ranks, " << by_moments << " of moments");
        BOOST_TEST(by_ranks < 1e-6, fault << ": p is " << by_ranks);
        BOOST_TEST(by_moments < 1e-6, fault << ": p is " << by_moments);
    };
    // Steps that are rejected often.
    const auto model = simulation_of<MeanAndScale>();
    PlainHmc sampler{.step_size = 1.3, .alpha = 0.95, .inverse_metric = {0.2, 0.15}};
    BOOST_TEST(ranks(model, sampler) > 0.001);
    BOOST_TEST(moments(model, sampler) > 0.001);
    found("no Jacobian", simulation_of<MeanAndScale>(false), sampler);
    sampler.fault = Fault::forgets_kinetic;
    found("forgets the kinetic energy", model, sampler);
    sampler.fault = Fault::does_not_turn;
    found("does not turn", model, sampler);
    sampler.fault = Fault::unit_momentum;
    found("momentum of another mass", model, sampler);
    // Steps that are stable everywhere, since all are accepted.
    const auto classes = simulation_of<Classes>();
    PlainHmc large{.step_size = 1.1, .alpha = 0.9, .inverse_metric = {1, 0.7, 0.7}};
    BOOST_TEST(ranks(classes, large) > 0.001);
    BOOST_TEST(moments(classes, large) > 0.001);
    large.fault = Fault::always_accepts;
    found("always accepts", classes, large);
    large.fault = Fault::half_gradient;
    found("half a gradient", classes, large);
}

BOOST_AUTO_TEST_SUITE_END()
