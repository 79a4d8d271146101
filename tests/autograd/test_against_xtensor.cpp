#include "../support.hpp"

#include <pollen/autograd/xt.hpp>

#include <xtensor/xmanipulation.hpp>
#include <xtensor/xview.hpp>

// The ops that move and combine numbers, held against xtensor's own.
using namespace pollen;
using namespace pollen::test;

BOOST_AUTO_TEST_SUITE(against_xtensor)

namespace {

using Array = xt::xarray<double>;

const Tensor<double> x = normals(Shape{3, 4, 5}, 1), y = normals(Shape{4, 1}, 2);
const Array a = as_xtensor(x), b = as_xtensor(y);

// f of Vars over the inputs against an xtensor expression.
template <class F, class... Inputs>
void check(const Array& expected, double tolerance, const F& f, const Inputs&... inputs) {
    const Tensor<double> got = value<double>(f, inputs...), there = from_xtensor<double>(expected);
    BOOST_TEST(allclose(got, there, tolerance, tolerance), to_string(got) << " is not " << to_string(there));
}

}  // namespace

BOOST_AUTO_TEST_CASE(broadcasting) {
    check(
        a + b, 0, [](auto u, auto v) { return u + v; }, x, y);
    check(
        b * a, 0, [](auto u, auto v) { return v * u; }, x, y);
    check(
        xt::broadcast(b, {3, 4, 5}), 0,
        [](auto u) {
            return broadcast_to(u, Shape{3, 4, 5});
        },
        y);
}

BOOST_AUTO_TEST_CASE(sums) {
    check(
        xt::sum(a, {0}), 1e-14, [](auto u) { return sum(u, 0); }, x);
    check(
        xt::sum(a, {1}), 1e-14, [](auto u) { return sum(u, 1); }, x);
    check(
        xt::sum(a, {2}), 1e-14, [](auto u) { return sum(u, 2); }, x);
    check(
        xt::sum(a, {0, 2}), 1e-14,
        [](auto u) {
            return sum(u, {0, 2});
        },
        x);
    check(
        xt::sum(a), 1e-14, [](auto u) { return sum(u); }, x);
}

BOOST_AUTO_TEST_CASE(shapes) {
    check(
        xt::transpose(a, {2, 0, 1}), 0,
        [](auto u) {
            return permute(u, {2, 0, 1});
        },
        x);
    check(
        xt::transpose(a), 0,
        [](auto u) {
            return permute(u, {2, 1, 0});
        },
        x);
    check(
        xt::concatenate(xt::xtuple(a, a), 1), 0,
        [](auto u) {
            return concat({u, u}, 1);
        },
        x);
    check(
        xt::stack(xt::xtuple(a, a), 2), 0,
        [](auto u) {
            return stack({u, u}, 2);
        },
        x);
    check(
        xt::view(a, xt::all(), xt::range(1, 4, 2), xt::all()), 0, [](auto u) { return slice(u, 1, 1, 4, 2); }, x);
    Array padded = xt::full_like(Array::from_shape({4, 9, 6}), 7.0);  // xt::pad itself writes out of bounds
    xt::view(padded, xt::range(1, 4), xt::range(2, 6), xt::range(0, 5)) = a;
    check(
        padded, 0,
        [](auto u) {
            return pad(u, {{1, 0}, {2, 3}, {0, 1}}, 7);
        },
        x);
}

BOOST_AUTO_TEST_SUITE_END()
