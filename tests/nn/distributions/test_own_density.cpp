#include "checks.hpp"

#include <pollen/nn/distributions/normal.hpp>
#include <pollen/nn/distributions/own_density.hpp>

using namespace pollen;
using namespace pollen::test;
using namespace pollen::distributions;

// The normal distribution once more, in plain numbers: it must agree with the library's.
namespace {

struct PlainNormalLaw {
    static constexpr const char* name = "plain_normal_lpdf";
    static constexpr std::array parameters{distributions::Parameter{"mean", Bound::number},
                                           distributions::Parameter{"sd", Bound::finite_positive}};

    template <class T>
    static T log_prob(T x, T mean, T sd, T* d) {
        const T z = (x - mean) / sd;
        d[0] = -z / sd;
        d[1] = z / sd;
        d[2] = (z * z - 1) / sd;
        return T(-0.5) * z * z - std::log(sd) - T(0.91893853320467274178);
    }
};

template <class T>
using PlainNormal = OwnDensity<T, PlainNormalLaw>;

// x with one parameter, and draws.
struct PlainExponentialLaw {
    static constexpr const char* name = "plain_exponential_lpdf";
    static constexpr std::array parameters{distributions::Parameter{"rate", Bound::positive}};

    template <class T>
    static T log_prob(T x, T rate, T* d) {
        d[0] = -rate;
        d[1] = 1 / rate - x;
        return std::log(rate) - rate * x;
    }
    static double draw(double u, double rate) { return -std::log(u) / rate; }
};

auto plain_normal_lpdf(const auto& x, const auto& mean, const auto& sd) { return lpdf<PlainNormal>(x, mean, sd); }

}  // namespace

BOOST_AUTO_TEST_SUITE(own_density)

BOOST_AUTO_TEST_CASE(agrees_with_the_librarys_own) {
    const Tensor<double> x = normals({5000}), mean = normals({5000}, 2), sd = uniforms({5000}, 0.5, 2);
    Tape<double> tape;
    const Var<double> vx = tape.variable(x), vm = tape.variable(mean), vs = tape.variable(sd);
    const Var<double> own = plain_normal_lpdf(vx, vm, vs), other = normal_lpdf(vx, vm, vs);
    BOOST_TEST(own.item() == other.item(), boost::test_tools::tolerance(1e-13));
    BOOST_TEST(allclose(PlainNormal<double>(mean, sd).log_prob_each(x), Normal<double>(mean, sd).log_prob_each(x),
                        1e-13, 1e-14));
    BOOST_TEST(allclose(PlainNormal<double>(vm, vs).log_prob_terms(vx).value(),
                        Normal<double>(mean, sd).log_prob_each(x), 1e-13, 1e-14));
    BOOST_TEST(plain_normal_lpdf(tape.variable(Tensor<double>::zeros({0})), 0, 1).item() == 0);
}

BOOST_AUTO_TEST_CASE(gradients) {
    const auto f = [](auto x, auto mean, auto sd) { return plain_normal_lpdf(x, mean, sd); };
    check_gradients(f, normals({4}), normals({4}, 2), uniforms({4}, 0.5, 2));
    check_gradients(f, normals({4}), normals({3, 1}, 2), uniforms({}, 0.5, 2));
    check_gradients(f, normals({}), normals({2, 3}, 2), uniforms({3}, 0.5, 2));
    check_gradients([](auto x) { return plain_normal_lpdf(x, x, 2); }, normals({4}));
    check_gradients([](auto x, auto sd) { return PlainNormal<RealOf<decltype(x)>>(0, sd).log_prob_terms(x); },
                    normals({4}), uniforms({2, 1}, 0.5, 2));
}

BOOST_AUTO_TEST_CASE(draws) {
    const OwnDensity<double, PlainExponentialLaw> law(Tensor<double>{1, 4}), copy = law;
    const Tensor<double> x = law.sample({50'000, 2}, {.seed = 1});
    double sums[2] = {0, 0};
    for (std::int64_t i = 0; i < x.size(); ++i) sums[i % 2] += x.data()[i] / 50'000;
    BOOST_TEST(std::abs(sums[0] - 1) < 0.03);
    BOOST_TEST(std::abs(sums[1] - 0.25) < 0.0075);
    BOOST_TEST((copy.parameter(0).value() == Tensor<double>{1, 4}));
}

BOOST_AUTO_TEST_CASE(errors) {
    Tape<double> tape;
    const Var<double> x = tape.variable(Tensor<double>{1, 2});
    BOOST_TEST(error_of<DomainError>([&] { plain_normal_lpdf(x, 0, -1); }) ==
               "plain_normal_lpdf: sd is -1; it must be positive and finite");
    BOOST_TEST(error_of<DomainError>([&] { plain_normal_lpdf(x, NAN, 1); }) ==
               "plain_normal_lpdf: mean is nan; it must be a number");
    BOOST_TEST(error_of<DomainError>([&] {
                   OwnDensity<double, PlainExponentialLaw>(Tensor<double>{1, 0});
               }) == "plain_exponential_lpdf: rate is 0 at element 1; it must be positive");
    BOOST_TEST(error_of<TapeError>([] { plain_normal_lpdf(Tensor<double>{1}, 0, 1); }) ==
               "plain_normal_lpdf: no argument is a Var, so there is no tape; log_prob_each works on tensors alone");
    BOOST_TEST(error_of<ShapeError>([&] {
                   plain_normal_lpdf(x, Tensor<double>{1, 2, 3}, 1);
               }) == error_of<ShapeError>([&] { broadcast("plain_normal_lpdf", Shape{2}, Shape{3}); }));
    BOOST_TEST(error_of<ShapeError>([] {
                   OwnDensity<double, PlainExponentialLaw>(Tensor<double>{1, 4}).sample({3}, {});
               }) == "plain_exponential_lpdf: a parameter of shape (2) does not broadcast to the shape asked for, (3)");
}

BOOST_AUTO_TEST_SUITE_END()
