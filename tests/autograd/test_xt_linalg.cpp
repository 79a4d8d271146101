#include "ops/same_bits.hpp"

#include <pollen/autograd/symmetric_eigen.hpp>
#include <pollen/autograd/xt.hpp>

#include <xtensor-blas/xlinalg.hpp>

// Linear algebra of another library on pollen's tensors, through the bridge; and pollen's own held against it.
using namespace pollen;
using namespace pollen::test;

BOOST_AUTO_TEST_SUITE(xt_linalg)

BOOST_AUTO_TEST_CASE(a_product) {
    const Tensor<double> x = normals({70, 300}, 1), y = normals({300, 50}, 2);
    const Tensor<double> theirs = from_xtensor<double>(xt::linalg::dot(as_xtensor(x), as_xtensor(y)));
    Tape<double> tape;
    check_near(matmul(tape.constant(x), tape.constant(y)).value(), theirs, 1e-13);
}

BOOST_AUTO_TEST_CASE(a_cholesky_factor_and_a_solution) {
    const Tensor<double> g = normals({150, 150}, 3), b = normals({150, 4}, 4);
    const Tensor<double> a = from_xtensor<double>(xt::linalg::dot(as_xtensor(g), xt::transpose(as_xtensor(g))) +
                                                  xt::eye<double>(150) * 150.0);
    Tape<double> tape;
    const Var<double> l = cholesky(tape.constant(a));
    check_near(l.value(), from_xtensor<double>(xt::linalg::cholesky(as_xtensor(a))), 1e-12);
    const Var<double> x = triangular_solve(l, triangular_solve(l, tape.constant(b)), {.transpose = true});
    check_near(x.value(), from_xtensor<double>(xt::linalg::solve(as_xtensor(a), as_xtensor(b))), 1e-12);
}

BOOST_AUTO_TEST_CASE(eigenvalues_and_eigenvectors) {
    const Tensor<double> g = normals({40, 40}, 5);
    const Tensor<double> a = from_xtensor<double>(as_xtensor(g) + xt::transpose(as_xtensor(g)));
    const SymmetricEigen<double> ours = symmetric_eigen(a);
    const auto [values, vectors] = xt::linalg::eigh(as_xtensor(a));
    check_near(ours.values, from_xtensor<double>(values), 1e-13);
    for (std::int64_t k = 0; k < 40; ++k) {
        // An eigenvector has no sign.
        double product = 0;
        for (std::int64_t i = 0; i < 40; ++i)
            product += ours.vectors(i, k) * vectors(static_cast<std::size_t>(i), static_cast<std::size_t>(k));
        BOOST_TEST(std::abs(std::abs(product) - 1) < 1e-12);
    }
}

BOOST_AUTO_TEST_SUITE_END()
