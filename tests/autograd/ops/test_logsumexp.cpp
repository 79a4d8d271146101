#include "reduction_checks.hpp"

using namespace pollen;
using namespace pollen::test;

BOOST_AUTO_TEST_SUITE(logsumexp)

namespace {

const auto op = [](auto x, const Axes& axes, bool keepdims) { return pollen::logsumexp(x, axes, keepdims); };
const auto all = [](auto x) { return pollen::logsumexp(x); };

long double reference(const Numbers& group) {
    long double top = -INFINITY, total = 0;
    for (const long double x : group) top = std::max(top, x);
    for (const long double x : group) total += std::exp(x - top);
    return group.empty() ? top : top + std::log(total);
}

}  // namespace

// The logarithm of no sum at all is -inf.
BOOST_AUTO_TEST_CASE(values) {
    check_reduction_values<double>(op, 1, 6, 8, reference);
    check_reduction_values<float>(op, 1, 6, 8, reference);
}

BOOST_AUTO_TEST_CASE(no_overflow) {
    BOOST_TEST(value<float>(all, Tensor<double>{1e30, 1e30}).item() == 1e30f);
    BOOST_TEST(value<double>(all, Tensor<double>{1000, 1000}).item() == 1000 + std::log(2.0));
    BOOST_TEST(value<double>(all, Tensor<double>{-1000, -1000, -1e9}).item() == -1000 + std::log(2.0));
}

BOOST_AUTO_TEST_CASE(gradients) {
    check_reduction_gradients(op);
    for (const unsigned mask : {0u, 1u, 2u, 3u}) check_reduction_of_nothing(op, mask);
    // Far from 0 as well, where exp(x) itself is infinite or 0.
    for (const double far : {-2000.0, 2000.0}) {
        Tape<double> tape;
        const Var<double> x = tape.variable(Tensor<double>{far, far, far - 5000});
        tape.backward(all(x));
        BOOST_TEST(allclose(x.grad(), Tensor<double>{0.5, 0.5, 0}, 1e-12, 0.0));
    }
}

// scipy.special.logsumexp gives -inf, inf and nan for these rows. Where all are -inf the gradient is 0.
BOOST_AUTO_TEST_CASE(infinite) {
    const double inf = INFINITY;
    const Tensor<double> x{{-inf, -inf, -inf}, {-inf, 1, -inf}, {inf, 1, -inf}, {NAN, 1, 2}, {inf, -inf, inf}};
    Tape<double> tape;
    const Var<double> v = tape.variable(x), y = pollen::logsumexp(v, 1);
    const Tensor<double> got = y.value();
    BOOST_TEST(got(0) == -inf);
    BOOST_TEST(got(1) == 1);
    BOOST_TEST(got(2) == inf);
    BOOST_TEST(std::isnan(got(3)));
    BOOST_TEST(got(4) == inf);
    tape.backward(pollen::sum(y));
    const Tensor<double> gradient = v.grad();
    for (const std::int64_t j : {0, 1, 2}) {
        BOOST_TEST(gradient(0, j) == 0);
        BOOST_TEST(gradient(1, j) == (j == 1 ? 1 : 0));
        BOOST_TEST(std::isnan(gradient(3, j)));
    }
    BOOST_TEST(gradient(2, 1) == 0);
    BOOST_TEST(value<float>(all, Tensor<double>::full(Shape{100}, -inf)).item() == -INFINITY);
}

BOOST_AUTO_TEST_CASE(errors) { check_reduction_errors("logsumexp", op); }

BOOST_AUTO_TEST_SUITE_END()
