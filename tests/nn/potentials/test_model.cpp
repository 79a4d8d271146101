#include "../../support.hpp"

#include <pollen/nn/distributions.hpp>
#include <pollen/nn/potentials/model.hpp>

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

// The gradient is worked out after the function has returned.
BOOST_AUTO_TEST_CASE(data_may_be_local_to_the_function) {
    const Tensor<double> x = normals({50, 3}, 1), y = normals({50}, 2);
    const auto density = [&](Model<double>& m, const Var<double>& beta, const Var<double>& mean) {
        m.prior(normal_lpdf(beta, 0, 1));
        m.likelihood(normal_lpdf(y, mean, 1));
    };
    ModelPotential<double> outside([&](Model<double>& m) {
        const auto beta = m.real("beta", {3});
        density(m, beta, matmul(m.tape().borrow(x), beta));
    });
    ModelPotential<double> local([&](Model<double>& m) {
        const auto beta = m.real("beta", {3});
        const Tensor<double> mine(x.shape(), x.values());
        density(m, beta, matmul(mine, beta));
    });
    ModelPotential<double> borrowed([&](Model<double>& m) {
        const auto beta = m.real("beta", {3});
        Var<double> mean;
        {
            const Tensor<double> mine(x.shape(), x.values());
            mean = matmul(m.tape().borrow(mine), beta);
        }
        const Tensor<double> other = Tensor<double>::full(x.shape(), 7);  // in the same buffer, were it free
        density(m, beta, mean);
    });
    const std::vector<double> at{0.3, -0.2, 0.9};
    std::vector<double> right(3), gradient(3);
    outside.evaluate(at, right);
    local.evaluate(at, gradient);
    BOOST_TEST((gradient == right));
    borrowed.evaluate(at, gradient);
    BOOST_TEST((gradient == right));
}

BOOST_AUTO_TEST_CASE(rows_are_those_of_the_batch) {
    const Tensor<double> x = normals({4, 2}, 1), y = normals({4}, 2);
    const Indices group{0, 1, 1, 0};
    std::vector<std::int32_t> seen;
    const auto function = [&](Model<double>& m) {
        const auto alpha = m.real("alpha", {2}), beta = m.real("beta", {2});
        m.prior(normal_lpdf(alpha, 0, 1));
        m.prior(normal_lpdf(beta, 0, 1));
        const Indices g = m.rows(group);
        seen.assign(g.begin(), g.end());
        m.likelihood(normal_lpdf(m.rows(y), index_select(alpha, 0, g) + matmul(m.rows(x), beta), 1));
    };
    ModelPotential<double> with(function, 4), without(function);
    const std::vector<double> at{0.1, -0.4, 0.3, 0.7};
    BOOST_TEST(with.evaluate(at, {}).total() == without.evaluate(at, {}).total());
    const std::vector<std::int64_t> batch{2, 0};
    const double two = with.evaluate(at, {}, batch).likelihood;
    BOOST_TEST((seen == std::vector<std::int32_t>{1, 0}));
    double exact = 0;
    for (const std::int64_t i : batch) {
        const double mean = at[static_cast<std::size_t>(group(i))] + x(i, 0) * at[2] + x(i, 1) * at[3], d = y(i) - mean;
        exact += 4.0 / 2 * (d * d / 2 + 0.5 * std::log(2 * M_PI));
    }
    BOOST_TEST(two == exact, boost::test_tools::tolerance(1e-13));
    check_gradient(with, at);
    BOOST_TEST(error_of<ShapeError>([&] { ModelPotential<double>(function, 5); }) ==
               "Model: rows of a tensor (4); the model has 5 items, and the first axis must count them");
    const std::vector<std::int64_t> beyond{4};
    BOOST_TEST(error_of<ShapeError>([&] { with.evaluate(at, {}, beyond); }) ==
               "Model: there is no item 4; the model has 4");
}

// Without batch() the likelihood is that of all items, whatever the batch is.
BOOST_AUTO_TEST_CASE(a_likelihood_has_to_ask_for_its_batch) {
    const Tensor<double> y = normals({10});
    ModelPotential<double> deaf(
        [&](Model<double>& m) {
            const auto mu = m.real("mu");
            m.prior(normal_lpdf(mu, 0, 1));
            m.likelihood(normal_lpdf(y, mu, 1));
        },
        10);
    const std::vector<double> at{0.5};
    const std::vector<std::int64_t> some{1, 2};
    BOOST_TEST(std::isfinite(deaf.evaluate(at, {}).total()));
    BOOST_TEST(error_of<ValueError>([&] { deaf.evaluate(at, {}, some); }) ==
               "ModelPotential: the function adds a likelihood but never asks for batch(); with batches it would count "
               "every item N/n times");
    ModelPotential<double> prior([](Model<double>& m) { m.prior(normal_lpdf(m.real("mu"), 0, 1)); }, 10);
    BOOST_TEST(prior.evaluate(at, {}, some).total() == prior.evaluate(at, {}).total());
}

// A draw needs no pass over the items, unless a quantity may depend on them.
BOOST_AUTO_TEST_CASE(the_items_of_a_draw) {
    const Tensor<double> y = normals({100});
    std::size_t items = 0;
    const auto model = [&](bool early) {
        return ModelPotential<double>(
            [&, early](Model<double>& m) {
                const auto mu = m.real("mu");
                m.prior(normal_lpdf(mu, 0, 1));
                if (early) m.quantity("twice", mu * 2);
                items = m.batch().size();
                const auto far = m.rows(y) - mu;
                if (!early) m.quantity("far", far);
                m.likelihood(normal_lpdf(far, 0, 1));
            },
            100);
    };
    const std::vector<double> at{0.5};
    auto quick = model(true), whole = model(false);
    std::vector<double> two(2), all(101);
    quick.values(at, two);
    BOOST_TEST(items == 1u);
    BOOST_TEST((two == std::vector<double>{0.5, 1}));
    whole.values(at, all);
    BOOST_TEST(items == 100u);
    BOOST_TEST(all[100] == y(99) - 0.5);
}

BOOST_AUTO_TEST_CASE(zero_may_be_out_of_the_domain) {
    ModelPotential<double> potential([](Model<double>& m) {
        const auto x = m.real("x", {2});
        m.prior(normal_lpdf(x, 0, 1));
        m.likelihood(normal_lpdf(1, 0, square(sum(x))));
    });
    BOOST_TEST(potential.size() == 2);
    BOOST_TEST(potential.value_count() == 2);
    check_gradient(potential, {1, 0.5});
    BOOST_TEST(std::isinf(potential.evaluate(std::vector<double>{1, -1}, {}).total()));
    BOOST_TEST(potential.clone()->size() == 2);
    BOOST_TEST(error_of<ValueError>(
                   [] { ModelPotential<double>([](Model<double>& m) { m.prior(normal_lpdf(m.real("x"), 0, 0)); }); }) ==
               "ModelPotential: the density is 0 at theta = 0 and at 20 points between -2 and 2 on the scale "
               "without bounds, at the last one because of Normal: sd is 0; it must be positive");
}

// tau ~ Exponential(1) at temperature T is Exponential(1 / T): U / T = tau / T - log tau.
BOOST_AUTO_TEST_CASE(jacobians_are_not_tempered) {
    ModelPotential<double> potential([](Model<double>& m) { m.prior(exponential_lpdf(m.positive("tau"), 1)); });
    potential.set_temperature(0.5);
    const std::vector<double> at{0.7};
    BOOST_TEST(potential.evaluate(at, {}).prior == std::exp(0.7) - 0.5 * 0.7, boost::test_tools::tolerance(1e-14));
    check_gradient(potential, at);
    BOOST_TEST(potential.clone()->evaluate(at, {}).prior == potential.evaluate(at, {}).prior);
}

BOOST_AUTO_TEST_CASE(names) {
    const auto made = [](const auto& f) {
        return error_of<ValueError>([&] {
            ModelPotential<double>([&](Model<double>& m) {
                const auto x = m.real("x", {2});
                m.prior(normal_lpdf(x, 0, 1));
                f(m, x);
            });
        });
    };
    BOOST_TEST(made([](auto& m, auto x) { m.quantity("x", x * 2); }) ==
               "Model: two quantities would have the columns x");
    BOOST_TEST(made([](auto& m, auto x) {
                   m.quantity("a.b", x);
                   m.quantity("a_b", x);
               }) == "Model: two quantities would have the columns a_b");
    BOOST_TEST(made([](auto& m, auto) { m.real("x[1]"); }) ==
               "Model: there are quantities called x and x[1]; one would be an element of the other");
    BOOST_TEST(made([](auto& m, auto x) {
                   m.quantity("y[1]", x);
                   m.quantity("y", x);
               }) == "Model: there are quantities called y[1] and y; one would be an element of the other");
    for (const std::string bad : {"", "a,b", "a b", "lp__", "#a", "a\"b"})
        BOOST_TEST(made([&](auto& m, auto) { m.real(bad); }) ==
                   "Model: the quantity \"" + bad +
                       "\" cannot be a column: a name has no blanks, commas or quotes, does not begin with # and "
                       "does not end in __");
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
    P shrinking([n = std::size_t{3}](Model<double>& m) mutable {
        const auto x = m.real("x");
        m.prior(normal_lpdf(x, 0, 1));
        m.quantity("many", x * Tensor<double>::ones({static_cast<std::int64_t>(n--)}));
    });
    std::vector<double> four(4);
    BOOST_TEST(error_of<ValueError>([&] { shrinking.values(std::vector<double>{1}, four); }) ==
               "Model: the function gives quantity many (2) where its first call gave many (3)");
    P forgetting([n = 0](Model<double>& m) mutable {
        const auto x = m.real("x");
        m.prior(normal_lpdf(x, 0, 1));
        if (n++ == 0) m.quantity("twice", x * 2);
    });
    BOOST_TEST(error_of<ValueError>([&] { forgetting.values(std::vector<double>{1}, std::span(four).first(2)); }) ==
               "ModelPotential: the function gave 1 quantities where its first call gave 2");
    BOOST_TEST(made([](Model<double>& m) { m.between("b", 2, 1); }) ==
               "Model: b is between 2 and 1; the first must be below the second, and both finite");
    BOOST_TEST(made([](Model<double>& m) { m.above("c", INFINITY); }) ==
               "Model: c is above inf; a bound must be finite");
    BOOST_TEST(made([](Model<double>& m) { m.below("d", NAN); }) == "Model: d is below nan; a bound must be finite");
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
