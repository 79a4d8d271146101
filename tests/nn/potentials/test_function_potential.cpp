#include "../../support.hpp"
#include "../variational/two_normals.hpp"

#include <pollen/nn/potentials/function_potential.hpp>
#include <pollen/samplers/full_batch/nuts.hpp>
#include <pollen/samplers/minibatch/sgld.hpp>
#include <pollen/samplers/run/run_chains.hpp>

#include <cmath>

using namespace pollen;
using namespace pollen::test;

BOOST_AUTO_TEST_SUITE(function_potential)

BOOST_AUTO_TEST_CASE(a_function_is_a_potential) {
    FunctionPotential<double> potential(2, two_normals);
    BOOST_TEST(potential.describe() == "function of x(2)");
    BOOST_TEST(potential.items() == 0);
    std::vector<double> gradient(2), values(2);
    const std::vector<double> at{3, 4};
    BOOST_TEST(potential.evaluate(at, gradient).total() == 6.5);
    BOOST_TEST((gradient == std::vector<double>{3, 1}));
    potential.values(at, values);
    BOOST_TEST((values == at));
    potential.set_temperature(2);
    BOOST_TEST(potential.clone()->temperature() == 2);
}

BOOST_AUTO_TEST_CASE(draws_have_the_names_and_the_law) {
    const FunctionPotential<double> potential({"a", "b"}, two_normals);
    BOOST_TEST(potential.block_of(1) == "b");
    const Draws draws = run_chains(potential, Nuts{}, {.draws = 4000, .seed = 1, .show = Show::nothing});
    const auto square_of = [&](const char* name) {
        Tensor<double> x = draws[name];
        double sum = 0;
        for (const double y : x) sum += y * y;
        return sum / static_cast<double>(x.size());
    };
    BOOST_TEST(square_of("a") == 1, boost::test_tools::tolerance(0.05));
    BOOST_TEST(square_of("b") == 4, boost::test_tools::tolerance(0.05));
}

BOOST_AUTO_TEST_CASE(out_of_a_domain_there_is_no_density) {
    FunctionPotential<double> potential(1, [](std::span<const double> x, std::span<double> slope) {
        if (x[0] <= 0) throw DomainError("x is not positive");
        if (!slope.empty()) slope[0] = 1 - 1 / x[0];
        return x[0] - std::log(x[0]);
    });
    std::vector<double> gradient{7};
    BOOST_TEST(std::isinf(potential.evaluate(std::vector<double>{-1}, gradient).total()));
    BOOST_TEST(std::isnan(gradient[0]));
    BOOST_TEST(potential.refusal() == "x is not positive");
    const Draws draws = run_chains(potential, Nuts{}, {.draws = 4000, .seed = 1, .show = Show::nothing});
    double mean = 0;
    const Tensor<double> x = draws["x[1]"];
    for (const double y : x) mean += y / static_cast<double>(x.size());
    BOOST_TEST(std::abs(mean - 2) < 0.15);  // Gamma(2, 1); its standard error is 0.02
}

// An item is a number y_i ~ N(x, 1) under a flat prior.
BOOST_AUTO_TEST_CASE(with_items_there_are_batches) {
    const std::vector<double> y{1, 2, 3, 6};
    FunctionPotential<double> potential(
        1, 4, [&](std::span<const double> x, std::span<double> slope, std::span<const std::int64_t> batch) {
            const std::vector<std::int64_t> all{0, 1, 2, 3};
            if (batch.empty()) batch = all;
            const double scale = 4 / static_cast<double>(batch.size());
            double u = 0, g = 0;
            for (const std::int64_t i : batch) {
                const double d = x[0] - y[static_cast<std::size_t>(i)];
                u += scale * d * d / 2;
                g += scale * d;
            }
            if (!slope.empty()) slope[0] = g;
            return u;
        });
    const std::vector<double> at{2};
    std::vector<double> gradient(1);
    BOOST_TEST(potential.evaluate(at, gradient).total() == 9);
    BOOST_TEST(gradient[0] == -4);
    const std::vector<std::int64_t> batch{0, 3};
    BOOST_TEST(potential.evaluate(at, gradient, batch).total() == 17);
    BOOST_TEST(gradient[0] == -6);
    const auto chain = Sgld{.step_size = 0.01, .batch = 2}.begin(potential.clone(), ChainStart<double>{{0}, 0, 0, 0});
    chain->step();
    BOOST_TEST(chain->position()[0] != 0);
}

BOOST_AUTO_TEST_CASE(errors) {
    using P = FunctionPotential<double>;
    BOOST_TEST(error_of<ValueError>([] { P(0, two_normals); }) == "FunctionPotential: size is 0; at least 1 is needed");
    BOOST_TEST(error_of<ValueError>([] { P(2, P::Function()); }) == "FunctionPotential: the function is empty");
    BOOST_TEST(error_of<ValueError>([] { P(2, -1, P::BatchFunction()); }) ==
               "FunctionPotential: items is -1; it must not be negative");
    BOOST_TEST(error_of<ValueError>([] {
                   P({"a", "a"}, two_normals);
               }) == "FunctionPotential: two numbers are called a");
    BOOST_TEST(error_of<ValueError>([] {
                   P({"a", "b,c"}, two_normals);
               }) ==
               "FunctionPotential: the quantity \"b,c\" cannot be a column: a name has no blanks, commas or quotes, "
               "does not begin with # and does not end in __");
    P potential(2, two_normals);
    const std::vector<double> at{1, 2};
    const std::vector<std::int64_t> batch{0};
    BOOST_TEST(error_of<ShapeError>([&] { potential.evaluate(std::vector<double>{1}, {}); }) ==
               "FunctionPotential: theta has 1 numbers; the potential has 2");
    std::vector<double> room(3);
    BOOST_TEST(error_of<ShapeError>([&] { potential.evaluate(at, room); }) ==
               "FunctionPotential: the gradient has 3 numbers; the potential has 2");
    BOOST_TEST(error_of<ValueError>([&] { potential.evaluate(at, {}, batch); }) ==
               "FunctionPotential: there are no items to make batches of");
    BOOST_TEST(error_of<ValueError>([&] { potential.evaluate(at, {}, {}); }) ==
               "FunctionPotential: the batch is empty");
    BOOST_TEST(error_of<ShapeError>([&] { potential.values(at, room); }) ==
               "FunctionPotential: room for 3 values; a draw has 2");
}

BOOST_AUTO_TEST_SUITE_END()
