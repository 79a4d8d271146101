#include "checks.hpp"

#include <pollen/nn/distributions/detail/incomplete.hpp>
#include <pollen/nn/distributions/gamma.hpp>

using namespace pollen;
using namespace pollen::test;
using pollen::distributions::Gamma;

BOOST_AUTO_TEST_SUITE(gamma_distribution)

BOOST_AUTO_TEST_CASE(reference) { check_reference<Gamma, 2>(gamma_rows); }

BOOST_AUTO_TEST_CASE(gradients) {
    const auto f = [](auto x, auto a, auto b) { return gamma_lpdf(x, a, b); };
    check_gradients(f, uniforms({9}, 1, 3, 1), uniforms({9}, 2, 3, 2), uniforms({9}, 1, 2, 3));
    check_gradients(f, uniforms({9}, 1, 3, 1), uniforms({}, 12, 13, 2), uniforms({}, 1, 2, 3));
    check_gradients(f, uniforms({4, 1}, 1, 3, 1), uniforms({3}, 2, 3, 2), uniforms({2, 1, 1}, 1, 2, 3));
    check_gradients([](auto a, auto b, auto c, auto d) { return kl(Gamma(a, b), Gamma(c, d)); }, uniforms({3}, 2, 3, 1),
                    uniforms({3}, 1, 2, 2), uniforms({3}, 2, 3, 3), uniforms({3}, 1, 2, 4));
}

BOOST_AUTO_TEST_CASE(edges) {
    check_outside([](const auto& x, const auto& a, const auto& b) { return Gamma(a, b).log_prob(x); },
                  {-1e-9, -2, 0, INFINITY}, 2.0, 3.0);
    check_outside([](const auto& x, const auto& a, const auto& b) { return Gamma(a, b).log_prob(x); },
                  {-1e-9, -2, 0, INFINITY}, 200.0, 3.0);
    BOOST_TEST(Gamma<double>(1, 4).log_prob_each({0}).item() == std::log(4.0));
    BOOST_TEST(Gamma<double>(0.5, 4).log_prob_each({0}).item() == INFINITY);
    BOOST_TEST(std::isnan(Gamma<double>(0.5, 4).log_prob_each({NAN}).item()));
    BOOST_TEST(std::isnan(Gamma<double>(0.5, 4).cdf({NAN}).item()));
    Tape<double> tape;
    const Var<double> x = tape.variable(Tensor<double>{0.0});
    tape.backward(gamma_lpdf(x, 1, 4));
    BOOST_TEST(x.grad().item() == -4);
}

BOOST_AUTO_TEST_CASE(moments) {
    BOOST_TEST(Gamma<double>(3, 2).mean().item() == 1.5);
    BOOST_TEST(Gamma<double>(3, 2).variance().item() == 0.75);
}

BOOST_AUTO_TEST_CASE(errors) {
    BOOST_TEST(error_of<ValueError>([] { Gamma<double>(0, 1); }) ==
               "Gamma: shape is 0; it must be positive and finite");
    BOOST_TEST(error_of<ValueError>([] {
                   Gamma<double>(1, Tensor<double>{1, NAN});
               }) == "Gamma: rate is nan at element 1; it must be positive and finite");
}

// E x = shape / rate, E log x = digamma(shape) - log rate
BOOST_AUTO_TEST_CASE(pathwise) {
    for (double a : {0.05, 0.6, 1.0, 3.0, 40.0, 2000.0}) {
        check_pathwise_mean([](auto p) { return Gamma(p, 2); }, a, 0.5, 3);
        check_pathwise_mean([&](auto p) { return Gamma(a, p); }, 2, -a / 4, 4);
    }
    Tape<double> tape;
    const Var<double> a = tape.variable(Tensor<double>::full({100'000}, 1.5));
    tape.backward(sum(log(Gamma(a, 2).rsample({100'000}, {.seed = 6}))));
    const Estimate slope = estimate(a.grad());
    BOOST_TEST(std::abs(slope.mean - 0.93480220054467930941) < 4.5 * slope.error);  // trigamma(1.5)
    check_pathwise([](auto b) { return Gamma(3, b).rsample({2, 3}, {.seed = 1}); }, uniforms({3}, 1, 2));
}

// Along a draw's path P(shape, x) stays what it is: the slope against differences of the distribution function,
// dx/dshape = -(dF/dshape) / p(x).
BOOST_AUTO_TEST_CASE(implicit_slope) {
    for (double a : {0.02, 0.4, 1.0, 2.5, 12.0, 300.0}) {
        Tape<double> tape;
        const Var<double> shape = tape.variable(Tensor<double>::full({50}, a));
        const Var<double> x = Gamma(shape, 1).rsample({50}, {.seed = 7});
        tape.backward(sum(x));
        const double h = 1e-4 * a;
        const auto cdf = [&](double at) { return Gamma<double>(at, 1).cdf(x.value()); };
        const auto up = cdf(a + h), down = cdf(a - h), up2 = cdf(a + 2 * h), down2 = cdf(a - 2 * h);
        const Tensor<double> log_p = Gamma<double>(a, 1).log_prob_each(x.value());
        for (std::int64_t i = 0; i < 50; ++i) {
            if (x.value().data()[i] < 1e-300) continue;
            const double slope = (8 * (up.data()[i] - down.data()[i]) - (up2.data()[i] - down2.data()[i])) / (12 * h);
            const double want = -slope / std::exp(log_p.data()[i]);
            BOOST_TEST(
                std::abs(shape.grad().data()[i] - want) < 1e-7 * (std::abs(want) + 1),
                "shape " << a << ", x " << x.value().data()[i] << ": " << shape.grad().data()[i] << ", not " << want);
        }
    }
}

BOOST_AUTO_TEST_CASE(draws, *boost::unit_test::label("slow")) {
    for (double a : {0.3, 1.0, 7.5}) check_draws(Gamma<double>(a, 2), 1);
    check_kl(Gamma<double>(3, 2), Gamma<double>(2, 0.7), 2);
}

// dlog x/dshape along P(shape, x) = constant, by mpmath with 50 digits
BOOST_AUTO_TEST_CASE(implicit_slope_reference) {
    struct Row {
        double shape, x, slope;
    };
    const std::vector<Row> rows{
        {0.01, 0.0005, 704.39933569597118}, {0.01, 0.2, 150.61848603908465},    {0.3, 0.015, 13.620972217356491},
        {0.3, 0.3, 5.0866660573992359},     {0.3, 6.0, 0.82049255742414849},    {1, 1, 1.1735630272247269},
        {1, 4, 0.54246391898061983},        {3, 3, 0.35234232189609483},        {3, 8, 0.20716884808238133},
        {30, 14, 0.04789384386972669},      {30, 30, 0.03351912390275701},      {30, 46, 0.02686335169791092},
        {1000, 905, 0.0010509154532503996}, {1000, 1000, 0.001000166683323806}, {1000, 1095, 0.00095546827813747543},
    };
    for (const auto& [shape, x, slope] : rows)
        BOOST_TEST(kernels::log_gamma_slope(shape, std::log(x)) == slope, boost::test_tools::tolerance(1e-10));
}

BOOST_AUTO_TEST_SUITE_END()
