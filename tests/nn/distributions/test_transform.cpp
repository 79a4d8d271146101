#include "checks.hpp"

#include <pollen/nn/distributions/transform.hpp>

using namespace pollen;
using namespace pollen::test;

namespace {

// log |det| of a square matrix, by elimination with pivots.
double log_determinant(std::vector<std::vector<double>> a) {
    double log_det = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        std::size_t best = i;
        for (std::size_t r = i; r < a.size(); ++r)
            if (std::abs(a[r][i]) > std::abs(a[best][i])) best = r;
        std::swap(a[i], a[best]);
        log_det += std::log(std::abs(a[i][i]));
        for (std::size_t r = i + 1; r < a.size(); ++r)
            for (std::size_t c = a.size(); c-- > i;) a[r][c] -= a[r][i] / a[i][i] * a[i][c];
    }
    return log_det;
}

// The Jacobian as the transform says it, against the determinant of the matrix of derivatives; the way back; and the
// gradients of both. `free` of the constrained numbers count: of a simplex all but the last.
template <class Make>
void check_transform(const Make& make, const Tensor<double>& at, std::int64_t free) {
    const auto transform = make(double{});
    Tape<double> tape;
    const Var<double> y = tape.variable(at);
    const auto [x, log_jacobian] = transform.constrain(y);
    BOOST_REQUIRE(log_jacobian.size() == 1);
    BOOST_TEST(allclose(transform.unconstrain(x.value()), at, 1e-11, 1e-11));
    std::vector<std::vector<double>> jacobian;
    for (std::int64_t i = 0; i < free; ++i) {
        Tensor<double> seed = Tensor<double>::zeros(x.shape());
        seed.mutable_data()[i] = 1;
        tape.zero_grad();
        tape.backward(x, seed);
        const Tensor<double> row = y.grad();
        jacobian.emplace_back(row.begin(), row.end());
    }
    BOOST_TEST(log_jacobian.item() == log_determinant(jacobian), boost::test_tools::tolerance(1e-11));
    check_gradients([&](auto v) { return make(RealOf<decltype(v)>{}).constrain(v).value; }, at);
    check_gradients([&](auto v) { return make(RealOf<decltype(v)>{}).constrain(v).log_jacobian; }, at);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(transform)

BOOST_AUTO_TEST_CASE(jacobians) {
    check_transform([](auto t) { return Positive<decltype(t)>(); }, normals({5}), 5);
    check_transform([](auto t) { return LowerBound<decltype(t)>(-2); }, normals({5}), 5);
    check_transform([](auto t) { return UpperBound<decltype(t)>(3); }, normals({5}), 5);
    check_transform([](auto t) { return Interval<decltype(t)>(-1, 4); }, normals({5}), 5);
    check_transform([](auto t) { return Ordered<decltype(t)>(); }, normals({5}), 5);
    check_transform([](auto t) { return Ordered<decltype(t)>(); }, normals({1}), 1);
    check_transform([](auto t) { return Simplex<decltype(t)>(); }, normals({5}), 5);
    check_transform([](auto t) { return Simplex<decltype(t)>(); }, normals({1}), 1);
}

BOOST_AUTO_TEST_CASE(values) {
    Tape<double> tape;
    const Var<double> y = tape.variable(Tensor<double>{{0, 0, 0}, {1, -2, 0.5}});
    const Tensor<double> x = Simplex<double>().constrain(y).value.value();
    BOOST_TEST(to_string(x.shape()) == "(2, 4)");
    for (std::int64_t k = 0; k < 4; ++k) BOOST_TEST(x(0, k) == 0.25, boost::test_tools::tolerance(1e-15));
    BOOST_TEST(x(1, 0) + x(1, 1) + x(1, 2) + x(1, 3) == 1, boost::test_tools::tolerance(1e-15));
    BOOST_TEST(to_string(Simplex<double>().unconstrain(x).shape()) == "(2, 3)");
    BOOST_TEST(Simplex<double>::unconstrained_size(4) == 3);
    BOOST_TEST(Simplex<double>::constrained_size(3) == 4);
    const Tensor<double> rising = Ordered<double>().constrain(y).value.value();
    BOOST_TEST(rising(0, 2) == 2);
    BOOST_TEST(rising(1, 1) == 1 + std::exp(-2.0));
    // Far out nothing becomes NaN, and the log-Jacobian stays exact.
    const Var<double> far = tape.variable(Tensor<double>{-800, 800});
    BOOST_TEST(Interval<double>(0, 1).constrain(far).log_jacobian.item() == -1600);
    BOOST_TEST(std::isfinite(Simplex<double>().constrain(far).log_jacobian.item()));
}

BOOST_AUTO_TEST_CASE(errors) {
    BOOST_TEST(error_of<ValueError>([] {
                   Positive<double>().unconstrain({1, 0});
               }) == "Positive: x is 0 at element 1; it must be positive");
    BOOST_TEST(error_of<ValueError>([] { LowerBound<double>(2).unconstrain({2}); }) ==
               "LowerBound: x is 2 at element 0; it must be above 2");
    BOOST_TEST(error_of<ValueError>([] { UpperBound<double>(2).unconstrain({NAN}); }) ==
               "UpperBound: x is nan at element 0; it must be below 2");
    BOOST_TEST(error_of<ValueError>([] { UpperBound<double> bad(INFINITY); }) ==
               "UpperBound: high is inf; it must be finite");
    BOOST_TEST(error_of<ValueError>([] { Interval<double>(2, 1); }) ==
               "Interval: from 2 to 1; the first must be below the second, and both finite");
    BOOST_TEST(error_of<ValueError>([] { Interval<double>(0, 1).unconstrain({1}); }) ==
               "Interval: x is 1 at element 0; it must be between 0 and 1");
    BOOST_TEST(error_of<ValueError>([] {
                   Ordered<double>().unconstrain({1, 3, 2});
               }) == "Ordered: x is 2 at element 2; it must be above the one before it, 3");
    BOOST_TEST(error_of<ValueError>([] {
                   Simplex<double>().unconstrain({0.5, 0.25});
               }) == "Simplex: row 0 of x sums to 0.75; it must be 1");
    BOOST_TEST(error_of<ShapeError>([] {
                   Tape<double> tape;
                   Simplex<double>().constrain(tape.variable(Tensor<double>::scalar(1)));
               }) == "Simplex: shape (); a last axis of at least 1 is needed");
}

BOOST_AUTO_TEST_SUITE_END()
