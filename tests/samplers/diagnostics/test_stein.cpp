#include "../../support.hpp"

#include <pollen/autograd/parallel.hpp>
#include <pollen/samplers/diagnostics/stein.hpp>

using namespace pollen;
using namespace pollen::test;

BOOST_AUTO_TEST_SUITE(stein)

namespace {

Tensor<double> scaled(const Tensor<double>& x, double scale, double shift = 0) {
    Tensor<double> y = x;
    for (double& v : y.mutable_values()) v = scale * v + shift;
    return y;
}

// Against a standard normal distribution, whose score is -x.
SteinDiscrepancy from_normal(const Tensor<double>& x) { return stein_discrepancy(x, scaled(x, -1)); }

}  // namespace

// By PyTorch, with the kernel's derivatives taken automatically.
BOOST_AUTO_TEST_CASE(values) {
    Tensor<double> x = Tensor<double>::zeros({5, 3}), s = x;
    for (int i = 0; i < 5; ++i) {
        for (int k = 0; k < 3; ++k) {
            x.mutable_at(i, k) = std::sin(1 + 3 * i + k);
            s.mutable_at(i, k) = std::cos(2 + 5 * i + k * k);
        }
    }
    const SteinDiscrepancy usual = stein_discrepancy(x, s), other = stein_discrepancy(x, s, {.c = 0.5, .beta = -0.3});
    BOOST_TEST(std::abs(usual.v / 1.135119149819615 - 1) < 1e-13);
    BOOST_TEST(std::abs(usual.u / 0.47904499211530566 - 1) < 1e-13);
    BOOST_TEST(std::abs(other.v / 1.8856320802387074 - 1) < 1e-13);
    BOOST_TEST(std::abs(other.u / 1.1378620240888426 - 1) < 1e-13);
    BOOST_TEST(std::abs(stein_discrepancy(cast<float>(x), cast<float>(s)).v / usual.v - 1) < 1e-6);
    // One draw: k0(x, x) = |s|^2 + d for c = 1.
    const SteinDiscrepancy one = stein_discrepancy(Tensor<double>{{7, 8}}, Tensor<double>{{3, 4}});
    BOOST_TEST(std::abs(one.v - std::sqrt(27.0)) < 1e-14);
    BOOST_TEST(std::isnan(one.u));
}

// For 400 right draws in 3 dimensions v is 0.122 with standard deviation 0.013 and u is 0 with 0.0033, for draws moved
// by 0.2 or shrunk to 0.8 v is 0.26 with 0.03 and 0.215 with 0.018 (of 500 runs each). 0.19 and 0.0165 are five
// standard deviations away for the right ones: a false alarm in less than one of 10^5 tests, the skewness of v
// included.
BOOST_AUTO_TEST_CASE(right_draws_and_wrong_ones) {
    const Tensor<double> x = normals({400, 3}, 5);
    const SteinDiscrepancy right = from_normal(x);
    BOOST_TEST(right.v < 0.19);
    BOOST_TEST(std::abs(right.u) < 0.0165);
    for (const Tensor<double>& wrong : {scaled(x, 1, 0.2), scaled(x, 0.8)}) {
        const SteinDiscrepancy found = from_normal(wrong);
        BOOST_TEST(found.v > right.v);
        BOOST_TEST(found.u > 0.0165);
    }
    // It goes to 0 with the number of draws, as their square root.
    BOOST_TEST(from_normal(normals({1600, 3}, 5)).v < 0.095);
}

BOOST_AUTO_TEST_CASE(bits_on_any_number_of_threads) {
    const Tensor<double> x = normals({333, 7});
    const SteinDiscrepancy once = from_normal(x);
    for (const int threads : {1, 2, 4, 8}) {
        with_threads(threads, [&] {
            const SteinDiscrepancy again = from_normal(x);
            BOOST_TEST((again.v == once.v && again.u == once.u));
        });
    }
}

BOOST_AUTO_TEST_CASE(errors) {
    const Tensor<double> x = normals({4, 2});
    BOOST_TEST(error_of<ShapeError>([&] {
                   stein_discrepancy(x, normals({4, 3}));
               }) == "stein_discrepancy: positions are (4, 2) and scores (4, 3); both must be (draws, dimensions)");
    BOOST_TEST(error_of<ShapeError>([&] { stein_discrepancy(normals({4}), normals({4})); }) ==
               "stein_discrepancy: positions are (4) and scores (4); both must be (draws, dimensions)");
    BOOST_TEST(error_of<ShapeError>([&] {
                   stein_discrepancy(normals({0, 2}), normals({0, 2}));
               }) == "stein_discrepancy: positions are (0, 2); at least one draw of one dimension is needed");
    BOOST_TEST(error_of<ValueError>([&] { stein_discrepancy(x, x, {.c = 0}); }) ==
               "stein_discrepancy: c is 0; it must be above 0");
    BOOST_TEST(error_of<ValueError>([&] { stein_discrepancy(x, x, {.beta = -1}); }) ==
               "stein_discrepancy: beta is -1; it must be between -1 and 0");
}

BOOST_AUTO_TEST_SUITE_END()
