#include "../../support.hpp"

#include <pollen/nn/layers.hpp>
#include <pollen/nn/module/walk.hpp>
#include <pollen/nn/pruning/sparse.hpp>

using namespace pollen;
using namespace pollen::test;

BOOST_AUTO_TEST_SUITE(architectures)

// A saved run belongs to a network whose details are the same.
BOOST_AUTO_TEST_CASE(architecture_has_what_the_output_depends_on) {
    const auto text = [](const auto& net) { return architecture<double>(net); };
    BOOST_TEST(text(LayerNorm<double>(4, 0.5)) == "LayerNorm(4) with epsilon 0.5");
    BOOST_TEST(text(FilterResponseNorm<double>(4, 0.25)) == "FilterResponseNorm(4) with epsilon 0.25");
    const SparseDense<double> one(Tensor<double>{{1, 0}, {0, 2}}), other(Tensor<double>{{0, 1}, {2, 0}});
    BOOST_TEST(text(one).starts_with("SparseDense(2, 2, 50.0 %) without bias with the pattern "));
    BOOST_TEST(text(one) != text(other));
    BOOST_TEST(text(one) == text(SparseDense<double>(Tensor<double>{{3, 0}, {0, 4}})));
    const Tensor<double> weight = Tensor<double>::ones({1, 1, 2, 2});
    const SparseConv2d<double> plain(weight), padded(weight, Conv2dOptions{.padding = {1, 1}});
    BOOST_TEST(text(plain).ends_with(", stride (1, 1), padding (0, 0), dilation (1, 1), groups 1"));
    BOOST_TEST(text(plain) != text(padded));
}

BOOST_AUTO_TEST_SUITE_END()
