// The law at another temperature than 1 is that of the density as it was written, in its own coordinates.
#include <pollen/nn/distributions.hpp>
#include <pollen/nn/potentials/model.hpp>
#include <pollen/samplers/diagnostics/diagnostics.hpp>
#include <pollen/samplers/full_batch/nuts.hpp>
#include <pollen/samplers/full_batch/tempering.hpp>
#include <pollen/samplers/run/run_chains.hpp>

#include <cmath>

#include "../../support.hpp"

using namespace pollen;
using namespace pollen::test;

BOOST_AUTO_TEST_SUITE(tempered_constraints)

namespace {

// tau ~ Exponential(1)^(1/T) = Exponential(1/T), with mean T; p ~ Beta(3, 2)^(1/T) = Beta(1 + 2/T, 1 + 1/T).
template <class S>
void check(const S& sampler, double temperature) {
    ModelPotential<double> potential([](Model<double>& m) {
        m.prior(exponential_lpdf(m.positive("tau"), 1));
        m.prior(beta_lpdf(m.between("p", 0, 1), 3, 2));
    });
    potential.set_temperature(temperature);
    const Draws draws =
        run_chains(potential, sampler, {.warmup = 500, .draws = 4000, .seed = 3, .show = Show::nothing});
    const auto z = [&](const char* name, double exact) {
        const Tensor<double> x = draws[name];
        double sum = 0;
        for (const double y : x) sum += y;
        return std::abs(sum / static_cast<double>(x.size()) - exact) / mcse_mean(x);
    };
    BOOST_TEST_CONTEXT(sampler.describe() << " at temperature " << temperature) {
        const double a = 1 + 2 / temperature, b = 1 + 1 / temperature;
        BOOST_TEST(z("tau", temperature) < 4);
        BOOST_TEST(z("p", a / (a + b)) < 4);
    }
}

}  // namespace

BOOST_AUTO_TEST_CASE(nuts) {
    check(Nuts{}, 0.5);
    check(Nuts{}, 2);
}

// Rung 0 has the law, whatever that of the others is.
BOOST_AUTO_TEST_CASE(tempering) {
    check(Tempering{.temperatures = {1, 2, 4}}, 0.5);
    check(Tempering{.temperatures = {1, 2}, .kernel = Tempering::Kernel::metropolis, .step_size = 1}, 1);
}

BOOST_AUTO_TEST_SUITE_END()
