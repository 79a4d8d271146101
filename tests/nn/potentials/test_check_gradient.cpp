#include "../../support.hpp"
#include "../variational/two_normals.hpp"

#include <pollen/nn/potentials/check_gradient.hpp>
#include <pollen/nn/potentials/function_potential.hpp>

#include <cmath>
#include <limits>

using namespace pollen;
using namespace pollen::test;

BOOST_AUTO_TEST_SUITE(check_gradient)

BOOST_AUTO_TEST_CASE(a_right_one_and_a_wrong_one) {
    FunctionPotential<double> right({"a", "b"}, two_normals);
    BOOST_TEST(pollen::check_gradient(right, std::vector<double>{30, -7}).error < 1e-8);
    FunctionPotential<double> wrong({"a", "b"}, [](std::span<const double> x, std::span<double> slope) {
        const double u = two_normals(x, slope);
        if (!slope.empty()) slope[1] *= 2;
        return u;
    });
    const GradientCheck check = pollen::check_gradient(wrong, std::vector<double>{3, 8});
    BOOST_TEST(check.error == 0.5, boost::test_tools::tolerance(1e-8));
    BOOST_TEST(check.coordinate == 1);
    BOOST_TEST(check.block == "b");
    BOOST_TEST(check.gradient == 4);
    BOOST_TEST(check.slope == 2, boost::test_tools::tolerance(1e-8));
}

BOOST_AUTO_TEST_CASE(in_float) {
    FunctionPotential<float> potential(1, [](std::span<const float> x, std::span<float> slope) {
        if (!slope.empty()) slope[0] = std::exp(x[0]);
        return static_cast<double>(std::exp(x[0]));
    });
    BOOST_TEST(pollen::check_gradient(potential, std::vector<float>{1}, 1e-2).error < 1e-3);
}

BOOST_AUTO_TEST_CASE(not_a_number) {
    FunctionPotential<double> half({"a", "b"}, [](std::span<const double> x, std::span<double> slope) {
        for (std::size_t k = 0; k < slope.size(); ++k) slope[k] = 0;
        return x[1] > 1 ? std::numeric_limits<double>::infinity() : 0;
    });
    BOOST_TEST(pollen::check_gradient(half, std::vector<double>{0, 0}).error == 0);
    const GradientCheck at_the_edge = pollen::check_gradient(half, std::vector<double>{0, 1});
    BOOST_TEST(std::isnan(at_the_edge.error));
    BOOST_TEST(at_the_edge.block == "b");
    BOOST_TEST(error_of<ValueError>([&] {
                   pollen::check_gradient(half, std::vector<double>{0, 0}, 0);
               }) == "check_gradient: step is 0; it must be positive and finite");
}

BOOST_AUTO_TEST_SUITE_END()
