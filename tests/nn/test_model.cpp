#include "../support.hpp"

#include <pollen/nn/distributions.hpp>
#include <pollen/nn/model.hpp>

#include <cmath>

using namespace pollen;
using namespace pollen::test;

BOOST_AUTO_TEST_SUITE(model)

namespace {

// dU/dtheta against central differences.
void check_gradient(Potential<double>& potential, const std::vector<double>& theta) {
    std::vector<double> gradient(theta.size());
    potential.evaluate(theta, gradient);
    for (std::size_t k = 0; k < theta.size(); ++k) {
        const double h = 1e-5;
        std::vector<double> up = theta, down = theta;
        up[k] += h;
        down[k] -= h;
        const double slope = (potential.evaluate(up, {}).total() - potential.evaluate(down, {}).total()) / (2 * h);
        BOOST_TEST(gradient[k] == slope, boost::test_tools::tolerance(1e-7));
    }
}

}  // namespace

// Every constraint with the density of its law in closed form, on the scale without bounds.
BOOST_AUTO_TEST_CASE(constraints_come_with_their_jacobians) {
    ModelPotential<double> potential([](Model<double>& m) {
        m.prior(exponential_lpdf(m.positive("a"), 1.5));
        m.prior(uniform_lpdf(m.between("b", 1, 3), 1, 3));
        m.prior(normal_lpdf(m.above("c", 2), 0, 1));
        m.prior(normal_lpdf(m.below("d", -1), 0, 1));
        m.prior(normal_lpdf(m.real("e"), 1, 2));
    });
    BOOST_TEST(potential.size() == 5);
    const std::vector<double> y{0.3, -0.7, 0.2, 0.9, -1.1};
    const double half_log = 0.5 * std::log(2 * M_PI);
    const double a = std::exp(0.3), s = 1 / (1 + std::exp(0.7)), c = 2 + std::exp(0.2), d = -1 - std::exp(0.9);
    const double exact = -(std::log(1.5) - 1.5 * a + 0.3)                // Exponential, dx/dy = x
                         - std::log(s * (1 - s))                         // Uniform: the logistic law
                         - (-c * c / 2 - half_log + 0.2)                 // beyond a bound
                         - (-d * d / 2 - half_log + 0.9)                 //
                         - (-2.1 * 2.1 / 8 - half_log - std::log(2.0));  // Normal
    BOOST_TEST(potential.evaluate(y, {}).prior == exact, boost::test_tools::tolerance(1e-12));
    BOOST_TEST(potential.evaluate(y, {}).likelihood == 0);
    check_gradient(potential, y);
    std::vector<double> values(5);
    potential.values(y, values);
    const std::vector<double> expected{a, 1 + 2 * s, c, d, -1.1};
    for (std::size_t k = 0; k < 5; ++k) BOOST_TEST(values[k] == expected[k], boost::test_tools::tolerance(1e-14));
}

BOOST_AUTO_TEST_CASE(a_hierarchical_model_with_quantities) {
    const Tensor<double> y{28, 8, -3, 7, -1, 1, 18, 12}, s{15, 10, 16, 11, 9, 11, 10, 18};
    ModelPotential<double> schools([&](Model<double>& m) {
        const auto mu = m.real("mu"), tau = m.positive("tau"), z = m.real("z", {8});
        m.prior(normal_lpdf(mu, 0, 5));
        m.prior(half_cauchy_lpdf(tau, 5));
        m.prior(normal_lpdf(z, 0, 1));
        m.likelihood(normal_lpdf(y, m.quantity("theta", mu + tau * z), s));
    });
    BOOST_TEST(schools.describe() == "model of mu() tau() z(8)");
    BOOST_TEST(schools.value_count() == 18);
    BOOST_TEST(schools.quantities()[3].name == "theta");
    BOOST_TEST(schools.quantities()[3].offset == 10);
    BOOST_TEST(schools.block_of(0) == "mu");
    BOOST_TEST(schools.block_of(9) == "z");
    const std::vector<double> at{4, 0.5, 0.1, -0.2, 0.3, -0.4, 0.5, -0.6, 0.7, -0.8};
    check_gradient(schools, at);
    std::vector<double> values(18);
    schools.values(at, values);
    for (std::size_t k = 0; k < 8; ++k)
        BOOST_TEST(values[10 + k] == 4 + std::exp(0.5) * at[2 + k], boost::test_tools::tolerance(1e-14));
    // A clone computes the same, on its own tape.
    const auto other = schools.clone();
    BOOST_TEST(other->evaluate(at, {}).total() == schools.evaluate(at, {}).total());
}

BOOST_AUTO_TEST_CASE(simplex_and_ordered) {
    ModelPotential<double> potential([](Model<double>& m) {
        const auto p = m.simplex("p", {4});
        const auto x = m.ordered("x", {3});
        m.prior(log(p) * Tensor<double>{1, 2, 3, 4});
        m.prior(normal_lpdf(x, 0, 1));
    });
    BOOST_TEST(potential.size() == 6);
    BOOST_TEST(potential.value_count() == 7);
    check_gradient(potential, {0.1, -0.4, 0.8, -0.5, 0.2, -0.3});
    std::vector<double> values(7);
    potential.values(std::vector<double>{0.1, -0.4, 0.8, -0.5, 0.2, -0.3}, values);
    BOOST_TEST(values[0] + values[1] + values[2] + values[3] == 1, boost::test_tools::tolerance(1e-14));
    BOOST_TEST(values[4] < values[5]);
    BOOST_TEST(values[5] < values[6]);
}

// The mean over all batches of U~ and its gradient is U and its gradient.
BOOST_AUTO_TEST_CASE(batches_are_scaled_to_all_items) {
    const std::vector<double> data{0.5, -1, 2, 3};
    ModelPotential<double> potential(
        [&](Model<double>& m) {
            const auto mu = m.real("mu");
            m.prior(normal_lpdf(mu, 0, 2));
            for (const std::int64_t i : m.batch()) m.likelihood(normal_lpdf(data[static_cast<std::size_t>(i)], mu, 1));
        },
        4);
    const std::vector<double> at{0.7};
    std::vector<double> whole(1), part(1);
    const Energy all = potential.evaluate(at, whole);
    Energy mean;
    double slope = 0;
    for (std::int64_t i = 0; i < 4; ++i)
        for (std::int64_t j = 0; j < i; ++j) {
            const std::vector<std::int64_t> batch{j, i};
            const Energy energy = potential.evaluate(at, part, batch);
            mean.prior += energy.prior / 6;
            mean.likelihood += energy.likelihood / 6;
            slope += part[0] / 6;
        }
    BOOST_TEST(mean.prior == all.prior, boost::test_tools::tolerance(1e-13));
    BOOST_TEST(mean.likelihood == all.likelihood, boost::test_tools::tolerance(1e-13));
    BOOST_TEST(slope == whole[0], boost::test_tools::tolerance(1e-13));
}

BOOST_AUTO_TEST_CASE(a_variable_that_plays_no_part_has_gradient_zero) {
    ModelPotential<float> potential([](Model<float>& m) {
        m.real("unused", {2});
        m.prior(normal_lpdf(m.real("used"), 0, 1));
    });
    std::vector<float> gradient(3, 7.f);
    potential.evaluate(std::vector<float>{1, 2, 3}, gradient);
    BOOST_TEST((gradient == std::vector<float>{0, 0, 3}));
}

BOOST_AUTO_TEST_CASE(errors) {
    using P = ModelPotential<double>;
    const auto made = [](const auto& f) { return error_of<ValueError>([&] { P potential{f}; }); };
    BOOST_TEST(made([](Model<double>&) {}) == "ModelPotential: the model has no parameters");
    BOOST_TEST(made([](Model<double>& m) { m.real("x"); }) ==
               "ModelPotential: the model adds nothing to the log density");
    BOOST_TEST(made([](Model<double>& m) {
                   m.real("x");
                   m.positive("x");
               }) == "Model: there are two parameters called x");
    int calls = 0;
    P changing([&](Model<double>& m) { m.prior(normal_lpdf(m.real(++calls == 1 ? "x" : "y"), 0, 1)); });
    BOOST_TEST(error_of<ValueError>([&] { changing.evaluate(std::vector<double>{1}, {}); }) ==
               "Model: the function asks for parameter y () where its first call asked for x ()");
    P fewer([&, n = 0](Model<double>& m) mutable {
        m.prior(normal_lpdf(m.real("x"), 0, 1));
        if (n++ == 0) m.prior(normal_lpdf(m.real("y"), 0, 1));
    });
    BOOST_TEST(error_of<ValueError>([&] {
                   fewer.evaluate(std::vector<double>{1, 2}, {});
               }) == "ModelPotential: the function asked for 1 parameters where its first call asked for 2");
    P good([](Model<double>& m) { m.prior(normal_lpdf(m.real("x", {2}), 0, 1)); });
    BOOST_TEST(error_of<ShapeError>([&] { good.evaluate(std::vector<double>{1}, {}); }) ==
               "ModelPotential: theta has 1 numbers; the model has 2");
    std::vector<double> room(3);
    BOOST_TEST(error_of<ShapeError>([&] {
                   good.evaluate(std::vector<double>{1, 2}, room);
               }) == "ModelPotential: room for 3 numbers of the gradient; 2 are needed");
    BOOST_TEST(error_of<ValueError>([&] { good.set_temperature(-1); }) ==
               "Potential: temperature is -1; it must be a number from 0 up");
    BOOST_TEST(error_of<ValueError>([] { P potential(nullptr); }) == "ModelPotential: the function is empty");
}

BOOST_AUTO_TEST_SUITE_END()
