#include "checks.hpp"

#include <pollen/nn/distributions/student_t.hpp>

using namespace pollen;
using namespace pollen::test;
using pollen::distributions::StudentT;

BOOST_AUTO_TEST_SUITE(student_t_distribution)

BOOST_AUTO_TEST_CASE(reference) { check_reference<StudentT, 3>(student_t_rows); }

BOOST_AUTO_TEST_CASE(gradients) {
    const auto f = [](auto x, auto n, auto m, auto s) { return student_t_lpdf(x, n, m, s); };
    check_gradients(f, normals({9}, 1), uniforms({9}, 3, 6, 4), normals({9}, 2), uniforms({9}, 2, 3, 3));
    check_gradients(f, normals({9}, 1), uniforms({}, 3, 6, 4), normals({}, 2), uniforms({}, 2, 3, 3));
    check_gradients(f, normals({4, 1}, 1), uniforms({4, 3}, 3, 6, 4), normals({3}, 2), uniforms({2, 1, 1}, 2, 3, 3));
    check_gradients([](auto x) { return student_t_lpdf(x, 4, 0.5, 2); }, normals({9}, 1));
    check_pathwise(
        [](auto m, auto s) {
            return StudentT(5, m, s).rsample({2, 3}, {.seed = 1});
        },
        normals({3}), uniforms({3}, 1, 2));
}

// With nu the draws move so that each keeps its place in the distribution: of Var x = nu / (nu - 2), the derivative is
// -2 / (nu - 2)^2.
BOOST_AUTO_TEST_CASE(pathwise_nu) {
    Tape<double> tape;
    const std::int64_t n = 400'000;
    const Var<double> nu = tape.variable(Tensor<double>::full({n}, 12));
    tape.backward(sum(square(StudentT(nu, 0, 1).rsample({n}, {.seed = 5}))));
    const Estimate slope = estimate(nu.grad());
    BOOST_TEST(std::abs(slope.mean + 0.02) < 4.5 * slope.error);
    BOOST_TEST(slope.error < 0.002);
}

BOOST_AUTO_TEST_CASE(moments) {
    BOOST_TEST(StudentT<double>(5, 1, 3).mean().item() == 1);
    BOOST_TEST(StudentT<double>(5, 1, 3).variance().item() == 15, boost::test_tools::tolerance(1e-14));
    BOOST_TEST(StudentT<double>(2, 1, 3).variance().item() == INFINITY);
    BOOST_TEST(std::isnan(StudentT<double>(1, 1, 3).mean().item()));
    BOOST_TEST(std::isnan(StudentT<double>(1, 1, 3).variance().item()));
    BOOST_TEST(std::isnan(StudentT<double>(1, 1, 3).log_prob_each({NAN}).item()));
}

BOOST_AUTO_TEST_CASE(errors) {
    BOOST_TEST(error_of<ValueError>([] { StudentT<double>(0, 0, 1); }) ==
               "StudentT: nu is 0; it must be positive and finite");
    BOOST_TEST(error_of<ValueError>([] { StudentT<double>(4, 0, -1); }) ==
               "StudentT: scale is -1; it must be positive");
}

BOOST_AUTO_TEST_CASE(draws, *boost::unit_test::label("slow")) {
    check_draws(StudentT<double>(2.5, -1, 2), 1);
    check_draws(StudentT<double>(0.7, 0, 1), 2);
}

BOOST_AUTO_TEST_SUITE_END()
