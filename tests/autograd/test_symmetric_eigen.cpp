#include "../support.hpp"

#include <pollen/autograd/symmetric_eigen.hpp>

#include <limits>
#include <numbers>

using namespace pollen;
using namespace pollen::test;

// Against closed forms; test_xt_linalg.cpp has a comparison with LAPACK.
BOOST_AUTO_TEST_SUITE(symmetric_eigen_)

namespace {

// The largest number of |A V - V diag(values)| and of |V' V - I|.
template <class T>
double residual(const Tensor<T>& a, const SymmetricEigen<T>& e) {
    const std::int64_t n = a.shape()[0];
    double worst = 0;
    for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t j = 0; j < n; ++j) {
            double left = 0, product = 0;
            for (std::int64_t k = 0; k < n; ++k) {
                left += static_cast<double>(a(i, k)) * static_cast<double>(e.vectors(k, j));
                product += static_cast<double>(e.vectors(k, i)) * static_cast<double>(e.vectors(k, j));
            }
            const double right = static_cast<double>(e.vectors(i, j)) * static_cast<double>(e.values(j));
            worst = std::max({worst, std::abs(left - right), std::abs(product - (i == j ? 1 : 0))});
        }
    return worst;
}

// 2 on the diagonal and -1 beside it: the eigenvalues are 2 - 2 cos(pi k / (n + 1)), k = 1, ..., n.
// The tolerance is what symmetric_eigen.hpp says: n units of the last place of the largest.
template <class T>
void check_chain(std::int64_t n) {
    const double tolerance = static_cast<double>(n) * 4 * static_cast<double>(std::numeric_limits<T>::epsilon());
    Tensor<T> a = Tensor<T>::zeros({n, n});
    for (std::int64_t i = 0; i < n; ++i) {
        a.mutable_at(i, i) = 2;
        if (i > 0) a.mutable_at(i, i - 1) = a.mutable_at(i - 1, i) = -1;
    }
    const SymmetricEigen<T> e = symmetric_eigen(a);
    for (std::int64_t k = 0; k < n; ++k)
        BOOST_TEST(std::abs(static_cast<double>(e.values(k)) -
                            (2 - 2 * std::cos(std::numbers::pi * static_cast<double>(k + 1) /
                                              static_cast<double>(n + 1)))) < tolerance);
    BOOST_TEST(residual(a, e) < tolerance);
}

}  // namespace

BOOST_AUTO_TEST_CASE(known_eigenvalues) {
    check_chain<double>(1);
    check_chain<double>(2);
    check_chain<double>(31);
    check_chain<double>(80);
    check_chain<float>(31);
}

BOOST_AUTO_TEST_CASE(by_hand) {
    const SymmetricEigen<double> e =
        symmetric_eigen(Tensor<double>{{2, 99}, {1, 2}});  // the upper triangle is not read
    check_close(e.values, {1, 3}, 2);
    const double r = std::sqrt(0.5);
    check_close(e.vectors, {{r, r}, {-r, r}}, 4);
}

BOOST_AUTO_TEST_CASE(equal_eigenvalues_and_scales_far_apart) {
    const SymmetricEigen<double> same = symmetric_eigen(Tensor<double>::eye(5));
    BOOST_TEST((same.values == Tensor<double>{1, 1, 1, 1, 1}));
    BOOST_TEST((same.vectors == Tensor<double>::eye(5)));
    // The small eigenvalue of a graded matrix is right in all its digits: 1e-20 - 1e-24 / (1 - ...).
    const Tensor<double> graded{{1, 1e-12}, {1e-12, 1e-20}};
    const SymmetricEigen<double> e = symmetric_eigen(graded);
    BOOST_TEST(std::abs(e.values(0) / (1e-20 - 1e-24) - 1) < 1e-12);
    const SymmetricEigen<double> tiny = symmetric_eigen(Tensor<double>{{0, 1e-200}, {1e-200, 1}});
    BOOST_TEST(tiny.values(1) == 1);
    BOOST_TEST(std::abs(tiny.values(0)) < 1e-300);
    const SymmetricEigen<double> zero = symmetric_eigen(Tensor<double>::zeros({3, 3}));
    BOOST_TEST((zero.values == Tensor<double>{0, 0, 0}));
    BOOST_TEST(symmetric_eigen(Tensor<double>::zeros({0, 0})).values.size() == 0);
}

// A power of two changes nothing but the exponents, up to the largest and down to the smallest numbers.
BOOST_AUTO_TEST_CASE(large_and_small_matrices) {
    const SymmetricEigen<double> one = symmetric_eigen(Tensor<double>{{1, 1}, {1, -1}});
    for (const double scale : {0x1p1023, 0x1p-1022}) {
        const SymmetricEigen<double> e = symmetric_eigen(Tensor<double>{{scale, scale}, {scale, -scale}});
        BOOST_TEST((e.vectors == one.vectors));
        BOOST_TEST(e.values(0) == one.values(0) * scale);
        BOOST_TEST(e.values(1) == one.values(1) * scale);
    }
}

BOOST_AUTO_TEST_CASE(errors) {
    BOOST_TEST(error_of<ShapeError>([] {
                   symmetric_eigen(Tensor<double>::zeros({2, 3}));
               }) == "symmetric_eigen: a has shape (2, 3); a square matrix is needed");
    const double inf = std::numeric_limits<double>::infinity();
    BOOST_TEST(error_of<ValueError>([&] {
                   symmetric_eigen(Tensor<double>{{1, 0}, {inf, 1}});
               }) == "symmetric_eigen: a[1, 0] is inf; it must be finite");
}

BOOST_AUTO_TEST_SUITE_END()
