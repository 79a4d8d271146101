#include "../../support.hpp"

#include <pollen/samplers/diagnostics/temperature.hpp>

using namespace pollen;
using namespace pollen::test;

BOOST_AUTO_TEST_SUITE(temperature)

BOOST_AUTO_TEST_CASE(by_hand) {
    const Tensor<double> p{1, 2}, q{3, -1}, centre{1, 1};
    BOOST_TEST(kinetic_temperature(p.values()) == 2.5);
    BOOST_TEST(kinetic_temperature(p.values(), 0.5) == 1.25);
    BOOST_TEST(kinetic_temperature(p.values(), Tensor<double>{3, 0.5}) == 2.5);
    BOOST_TEST(kinetic_temperature(p.values(), Tensor<double>{{2, 1}, {1, 3}}) == (2 + 4 + 12) / 2.0);
    BOOST_TEST(kinetic_temperature(cast<float>(p).values(), Tensor<float>{3, 0.5}) == 2.5);
    BOOST_TEST(configurational_temperature(p.values(), q.values()) == 0.5);
    BOOST_TEST(configurational_temperature(p.values(), q.values(), centre.values()) == -0.5);
    const Tensor<double> positions{{1, 2}, {3, 4}}, gradients{{3, -1}, {1, 1}};
    BOOST_TEST(configurational_temperature(positions, gradients) == 2);
    BOOST_TEST(configurational_temperature(positions, gradients, centre.values()) == (-1 + 5) / 4.0);
}

// Draws of exp(-U / T) with U = |theta - 5|^2 / (2 s^2) and T = 0.1: both temperatures are 0.1 on average. A
// chi-squared mean over 4 * 5000 numbers has a relative standard deviation of sqrt(2 / 20000) = 0.01; five of them give
// a false alarm in one of 10^6 tests. Without a centre the noise is that of 5 grad U besides, 5 sqrt(T / s^2) /
// sqrt(20000) = 0.0056 in absolute terms.
BOOST_AUTO_TEST_CASE(of_exact_draws) {
    const double temperature = 0.1, s = 2;
    Tensor<double> x = normals({5000, 4}, 9), gradients = x;
    for (std::int64_t k = 0; k < x.size(); ++k) {
        const double theta = 5 + s * std::sqrt(temperature) * x.data()[k];
        x.mutable_data()[k] = theta;
        gradients.mutable_data()[k] = (theta - 5) / (s * s);
    }
    const Tensor<double> centre = Tensor<double>::full({4}, 5);
    BOOST_TEST(std::abs(configurational_temperature(x, gradients, centre.values()) - temperature) < 0.05 * temperature);
    BOOST_TEST(std::abs(configurational_temperature(x, gradients) - temperature) < 5 * 0.0066);
}

BOOST_AUTO_TEST_CASE(errors) {
    const Tensor<double> none, two{1, 2}, three{1, 2, 3};
    BOOST_TEST(error_of<ShapeError>([&] { kinetic_temperature(none.values()); }) ==
               "kinetic_temperature: there are no dimensions");
    BOOST_TEST(error_of<ShapeError>([&] { kinetic_temperature(two.values(), three); }) ==
               "kinetic_temperature: inverse_mass is (3) for a momentum of 2; (2) or (2, 2) is expected");
    BOOST_TEST(error_of<ShapeError>([&] { configurational_temperature(none.values(), none.values()); }) ==
               "configurational_temperature: there are no dimensions");
    BOOST_TEST(error_of<ShapeError>([&] { configurational_temperature(two.values(), three.values()); }) ==
               "configurational_temperature: a position of 2, a gradient of 3 and a centre of 0; all need the same "
               "size, or the centre none");
    BOOST_TEST(error_of<ShapeError>([&] { configurational_temperature(two.values(), two.values(), three.values()); }) ==
               "configurational_temperature: a position of 2, a gradient of 2 and a centre of 3; all need the same "
               "size, or the centre none");
    BOOST_TEST(error_of<ShapeError>([&] {
                   configurational_temperature(normals({4, 2}), normals({4, 3}));
               }) ==
               "configurational_temperature: positions are (4, 2) and gradients (4, 3); both must be (draws, "
               "dimensions)");
    BOOST_TEST(error_of<ShapeError>([&] {
                   configurational_temperature(normals({0, 2}), normals({0, 2}));
               }) == "configurational_temperature: there are no draws");
}

BOOST_AUTO_TEST_SUITE_END()
