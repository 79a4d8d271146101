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

// With one nu for all elements a sum takes the logarithms of products. It is held against that with a nu for each.
BOOST_AUTO_TEST_CASE(sums) {
    for (const double nu : {0.1, 1.0, 9.0, 4000.0, 1e8}) {
        for (const double spread : {1.0, 30.0, 300.0}) {
            const std::int64_t n = 2905;
            Tensor<double> x = normals({n}, 1), scale = normals({n}, 2);
            for (double& s : scale.mutable_values()) s = std::pow(10, std::fmod(spread * s, 307));
            for (std::int64_t i = 0; i < n; i += 7) x.mutable_data()[i] *= scale.data()[i];
            const auto evaluate = [&](const Tensor<double>& each_nu) {
                Tape<double> tape;
                const Var<double> at = tape.variable(x), v = tape.variable(each_nu), s = tape.variable(scale);
                const Var<double> sum = student_t_lpdf(at, v, 0.5, s);
                tape.backward(sum);
                double slope = 0;
                for (double g : v.grad()) slope += g;
                return std::tuple(sum.item(), slope, at.grad(), s.grad());
            };
            const auto [value, slope, dx, ds] = evaluate(Tensor<double>::scalar(nu));
            const auto [want, want_slope, want_dx, want_ds] = evaluate(Tensor<double>::full({n}, nu));
            BOOST_TEST(value == want, boost::test_tools::tolerance(1e-13));
            BOOST_TEST(slope == want_slope, boost::test_tools::tolerance(1e-11));
            BOOST_TEST(std::equal(dx.begin(), dx.end(), want_dx.begin()));
            BOOST_TEST(std::equal(ds.begin(), ds.end(), want_ds.begin()));
        }
    }
    const auto sum = [](double x, double scale) {
        Tape<double> tape;
        Tensor<double> many = Tensor<double>::full({11}, 2);
        many.mutable_data()[5] = x;
        return student_t_lpdf(tape.variable(many), 4, 0, scale).item();
    };
    BOOST_TEST(std::isnan(sum(NAN, 1)));
    BOOST_TEST(sum(INFINITY, 1) == -INFINITY);
    BOOST_TEST(sum(1, INFINITY) == -INFINITY);
    // Far out, log p is log 12 + 4 log scale - 5 log |x|; at x = 2, log(3 / 8) - 5/2 log 2.
    const double at_2 = std::log(0.375) - 2.5 * std::log(2.0);
    BOOST_TEST(sum(1e300, 1) == std::log(12.0) - 5 * std::log(1e300) + 10 * at_2, boost::test_tools::tolerance(1e-14));
    BOOST_TEST(sum(2, 1e-300) == 11 * (std::log(12.0) + 4 * std::log(1e-300) - 5 * std::log(2.0)),
               boost::test_tools::tolerance(1e-14));
    Tape<double> tape;
    const Var<double> zeros = tape.variable(Tensor<double>::zeros({11}));
    BOOST_TEST(student_t_lpdf(zeros, 4, 0, 1e-310).item() == 11 * (std::log(0.375) - std::log(1e-310)),
               boost::test_tools::tolerance(1e-14));
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
