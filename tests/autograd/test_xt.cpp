#include "../support.hpp"

#include <pollen/autograd/xt.hpp>

#include <xtensor/xmath.hpp>

using namespace pollen;
using namespace pollen::test;

BOOST_AUTO_TEST_SUITE(xt_bridge)

BOOST_AUTO_TEST_CASE(a_tensor_as_an_adaptor) {
    const Tensor<double> t{{1, 2, 3}, {4, 5, 6}};
    const auto a = as_xtensor(t);
    BOOST_TEST(a.dimension() == 2u);
    BOOST_TEST(a(1, 2) == 6);
    BOOST_TEST(a.data() == t.data());
    BOOST_TEST(xt::sum(a)() == 21);
}

BOOST_AUTO_TEST_CASE(reading_through_the_adaptor_never_writes) {
    Tensor<float> t{1, 2, 3};
    const Tensor<float> copy = t;
    BOOST_TEST(as_xtensor(t)(1) == 2);
    BOOST_TEST(t.data() == copy.data());
}

BOOST_AUTO_TEST_CASE(writing_through_the_adaptor) {
    Tensor<float> t{1, 2, 3};
    const Tensor<float> copy = t;
    as_mutable_xtensor(t) *= 2.0f;
    BOOST_TEST((t == Tensor<float>{2, 4, 6}));
    BOOST_TEST((copy == Tensor<float>{1, 2, 3}));
}

BOOST_AUTO_TEST_CASE(an_expression_into_a_tensor) {
    const Tensor<double> t{{1, 2}, {3, 4}};
    const auto a = as_xtensor(t);
    BOOST_TEST((from_xtensor<double>(a * a + 1.0) == Tensor<double>{{2, 5}, {10, 17}}));
    BOOST_TEST((from_xtensor<float>(xt::sum(a, {0})) == Tensor<float>{4, 6}));
    BOOST_TEST((from_xtensor<double>(xt::sum(a)) == Tensor<double>::scalar(10)));
    BOOST_TEST((from_xtensor<double>(xt::transpose(a)) == Tensor<double>{{1, 3}, {2, 4}}));
}

BOOST_AUTO_TEST_SUITE_END()
